// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/observation.hpp"

#include <algorithm>

#include "core/wait.hpp"

namespace tutti::tools {
namespace {

using namespace tutti::inspect;

constexpr double kMsPerSecond = 1000;
// Between two samples of what the processes wait for.
constexpr double kSampleMs = 7;
// Between two looks at the calls, of which each rank keeps its last alone; and the most such looks,
// for each takes memory.
constexpr double kBetweenMs = 56;
constexpr double kMostBetween = 16;

// The clock is the host's: that of a process leaves out most of a long sleep (core/wait.hpp).
double now_ms() { return static_cast<double>(tutti::host_ms()); }

bool is_on_one_host(const Job& job) {
  return std::ranges::none_of(job.communicators, [](const Communicator& one) {
    return one.status.ok() && one.snapshot.across_hosts();
  });
}

// What is seen of a job after its first look.
class Sampler {
 public:
  Sampler(const Job& job, double seconds)
      : job_(&job),
        // Other hosts are asked twice, and no oftener.
        step_ms_(is_on_one_host(job) ? std::max(kBetweenMs, seconds * kMsPerSecond / kMostBetween)
                                     : 0),
        next_ms_(now_ms() + step_ms_),
        watch_(job) {}

  void sample() {
    watch_.sample();
    if (step_ms_ == 0 || now_ms() < next_ms_) return;
    next_ms_ += step_ms_;
    between_.push_back(*job_);
    refresh(between_.back());
  }
  void give(Observation& observed) const {
    observed.usages = watch_.end();
    for (auto look = between_.rbegin(); look != between_.rend(); ++look) {
      remember(*look, observed.remembered);
    }
    remember(*job_, observed.remembered);
  }

 private:
  const Job* job_;
  double step_ms_;  // 0: there are no looks between
  double next_ms_;
  Watch watch_;
  std::vector<Job> between_;
};

}  // namespace

void sleep_for(double seconds, const std::function<bool()>& over) {
  constexpr double kMostMs = 500;  // until it asks again
  tutti::Bell bell{};
  const double end_ms = now_ms() + seconds * kMsPerSecond;
  for (double left_ms = end_ms - now_ms(); left_ms > 0; left_ms = end_ms - now_ms()) {
    const double nap_us = 1000 * std::min(left_ms, kMostMs);
    tutti::nap(bell, static_cast<int64_t>(nap_us), [] { return false; });
    if (over && over()) return;
  }
}

std::vector<Observation> observe(const std::vector<Job>& jobs, double seconds, double sampled_s) {
  const double begun_ms = now_ms();
  const double end_ms = begun_ms + seconds * kMsPerSecond;
  sleep_for(seconds - sampled_s);
  std::vector<Sampler> samplers;
  if (sampled_s > 0) {
    for (const Job& job : jobs) samplers.emplace_back(job, sampled_s);
  }
  while (!samplers.empty() && now_ms() < end_ms) {
    for (Sampler& sampler : samplers) sampler.sample();
    sleep_for(std::min(end_ms - now_ms(), kSampleMs) / kMsPerSecond);
  }
  std::vector<Observation> all;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Observation observed{.before = jobs[i], .job = jobs[i], .remembered = {}, .usages = {}};
    refresh(observed.job);
    observed.seconds = (now_ms() - begun_ms) / kMsPerSecond;
    observed.remembered = observed.job;
    if (!samplers.empty()) samplers[i].give(observed);
    // Processes of other hosts may have come since.
    observed.usages.resize(observed.job.processes.size());
    all.push_back(std::move(observed));
  }
  return all;
}

Verdict slow_verdict_of(const Observation& observed, double hung_after_s) {
  Verdict verdict = judge(observed.job, hung_after_s);
  if (verdict.outcome >= Outcome::kWaits) return verdict;
  return judge_slow(observed.remembered, observed.usages, observed.seconds);
}

}  // namespace tutti::tools
