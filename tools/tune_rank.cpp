// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_rank.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>

#include "env/env.hpp"
#include "select/selector.hpp"
#include "tools/bench/collectives.hpp"
#include "tools/bench/contest.hpp"

namespace tutti_tune {
namespace {

using tutti::Code;
using tutti::Result;
using tutti::Status;
using tutti::bench::Blocks;

constexpr size_t kContestants = 6;
constexpr double kHopeless = 4;  // times what the cost model predicts for the best
constexpr size_t kRounds = 5;
constexpr size_t kFewRounds = 3;  // for calls that take long
constexpr double kMostCalls = 1000;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status status_of(tutti_status status) {
  return status == TUTTI_OK ? Status() : Status(static_cast<Code>(status), tutti_last_error());
}

// A communicator on which every call uses the algorithm at one place of the cost model's list.
struct Contestant {
  size_t place = 0;
  tutti_comm_t comm = nullptr;
  std::vector<std::string> hopeful;  // of the last kind of call, the fastest first

  static const char* choose(void* context, const tutti_tuner_query* query) {
    auto& self = *static_cast<Contestant*>(context);
    self.hopeful.clear();
    for (size_t i = 0; i < query->candidates; ++i) {
      if (i > 0 && query->seconds[i] > kHopeless * query->seconds[0]) break;
      self.hopeful.emplace_back(query->algorithms[i]);
    }
    if (self.hopeful.empty()) return nullptr;
    return self.hopeful[std::min(self.place, self.hopeful.size() - 1)].c_str();
  }
};

struct Times {
  std::vector<std::string> names;
  std::vector<std::vector<double>> seconds;  // of each name, in each round; over all ranks
};

class Tuner {
 public:
  explicit Tuner(const Job& job) : job_(job) {}
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;
  ~Tuner() {
    for (const Contestant& contestant : contestants_) tutti_comm_destroy(contestant.comm);
    tutti_comm_destroy(control_);
  }

  Status open();
  Result<std::vector<tutti::TunedChoice>> run();

 private:
  struct Case {
    const tutti::bench::Collective* collective;
    uint64_t bytes;
  };
  [[nodiscard]] std::vector<Case> cases() const;
  [[nodiscard]] tutti::bench::Call call_of(const Case& current);
  Status run_calls(const Case& current, size_t contestant, size_t calls, double& seconds);
  Status slowest(std::vector<double>& seconds);
  // The time is spent evenly on this case and the `later` ones.
  Result<Times> compete(const Case& current, size_t later);
  Result<std::vector<tutti::TunedChoice>> choices_of(const std::vector<Winner>& winners) const;

  const Job& job_;
  const double begin_s_ = now_s();
  tutti_comm_t control_ = nullptr;
  std::deque<Contestant> contestants_;  // their addresses stay
  std::vector<size_t> counts_;
  std::vector<char> send_;
  std::vector<char> recv_;
};

std::vector<Tuner::Case> Tuner::cases() const {
  std::vector<Case> all;
  for (const std::string& name : job_.collectives) {
    const auto* collective = tutti::bench::find_collective(name);
    if (collective->send == Blocks::kNone && collective->recv == Blocks::kNone) {
      all.push_back({collective, 0});
      continue;
    }
    const bool blocks = collective->send == Blocks::kAll || collective->recv == Blocks::kAll;
    for (const uint64_t bytes : job_.sizes) {
      // Blocks for many ranks must not fill the memory.
      if (blocks && bytes * static_cast<uint64_t>(job_.ranks) > 2 * job_.sizes.back()) continue;
      all.push_back({collective, bytes});
    }
  }
  return all;
}

Status Tuner::open() {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.strict = 0;
  TUTTI_RETURN_IF_ERROR(
      status_of(tutti_comm_create(&job_.id, job_.rank, job_.ranks, &config, &control_)));
  for (size_t place = 0; place < kContestants; ++place) {
    Contestant& contestant = contestants_.emplace_back();
    contestant.place = place;
    const tutti_tuner tuner{sizeof(tutti_tuner), Contestant::choose, &contestant};
    config.tuner = &tuner;
    TUTTI_RETURN_IF_ERROR(
        status_of(tutti_comm_split(control_, 0, job_.rank, &config, &contestant.comm)));
  }
  uint64_t send = 0;
  uint64_t recv = 0;
  const std::vector<Case> all = cases();
  for (const Case& current : all) {
    const auto blocks = [&](Blocks b) {
      return b == Blocks::kNone ? 0 : b == Blocks::kOne ? 1 : static_cast<uint64_t>(job_.ranks);
    };
    send = std::max(send, current.bytes * blocks(current.collective->send));
    recv = std::max(recv, current.bytes * blocks(current.collective->recv));
  }
  send_.resize(send);
  recv_.resize(recv);
  return {};
}

tutti::bench::Call Tuner::call_of(const Case& current) {
  return {.send = send_.data(),
          .recv = recv_.data(),
          .count = current.bytes / sizeof(float),
          .counts = counts_.data(),
          .type = TUTTI_FLOAT32,
          .op = TUTTI_SUM,
          .root = 0,
          .rank = job_.rank,
          .ranks = job_.ranks,
          .comm = nullptr};
}

// Gives the time of one of them.
Status Tuner::run_calls(const Case& current, size_t contestant, size_t calls, double& seconds) {
  counts_.assign(static_cast<size_t>(job_.ranks), current.bytes / sizeof(float));
  tutti::bench::Call call = call_of(current);
  call.comm = contestants_[contestant].comm;
  TUTTI_RETURN_IF_ERROR(status_of(tutti_barrier(control_)));
  const double begin = now_s();
  for (size_t i = 0; i < calls; ++i) {
    TUTTI_RETURN_IF_ERROR(status_of(current.collective->blocking(call)));
  }
  seconds = (now_s() - begin) / static_cast<double>(calls);
  return {};
}

// Each becomes that of the rank where it is the greatest.
Status Tuner::slowest(std::vector<double>& seconds) {
  return status_of(tutti_allreduce(seconds.data(), seconds.data(), seconds.size(), TUTTI_FLOAT64,
                                   TUTTI_MAX, control_));
}

Result<Times> Tuner::compete(const Case& current, size_t later) {
  double ignored = 0;
  contestants_.front().hopeful.clear();
  TUTTI_RETURN_IF_ERROR(run_calls(current, 0, 1, ignored));
  Times times{.names = contestants_.front().hopeful, .seconds = {}};
  times.names.resize(std::min(times.names.size(), kContestants));
  const size_t count = times.names.size();
  if (count == 0) {
    return Status::format(Code::kInternal, "no tuner was asked for the algorithm of {}",
                          current.collective->name);
  }
  std::vector<double> one_call(count);
  for (size_t i = 0; i < count; ++i) {
    TUTTI_RETURN_IF_ERROR(run_calls(current, i, 1, ignored));  // makes the plan, warms up
    TUTTI_RETURN_IF_ERROR(run_calls(current, i, 1, one_call[i]));
  }
  one_call.push_back(now_s() - begin_s_);  // so that all ranks agree on what is left
  TUTTI_RETURN_IF_ERROR(slowest(one_call));
  const double left_s = std::max(0.0, job_.seconds - one_call.back());
  one_call.pop_back();
  const double sample_s =
      left_s / static_cast<double>(later + 1) / static_cast<double>(count * kRounds);
  const double slowest_call = *std::ranges::max_element(one_call);
  const size_t rounds = slowest_call > sample_s ? kFewRounds : kRounds;
  std::vector<double> samples(count * rounds);
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < count; ++i) {
      const double calls = std::clamp(sample_s / std::max(one_call[i], 1e-9), 1.0, kMostCalls);
      TUTTI_RETURN_IF_ERROR(
          run_calls(current, i, static_cast<size_t>(calls), samples[i * rounds + round]));
    }
  }
  TUTTI_RETURN_IF_ERROR(slowest(samples));
  for (size_t i = 0; i < count; ++i) {
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(i * rounds);
    times.seconds.emplace_back(begin, begin + static_cast<ptrdiff_t>(rounds));
  }
  return times;
}

// One line on the terminal that is written again and again.
void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

void print_row(std::string_view collective, uint64_t bytes, const Times& times, size_t winner) {
  const double best = median_of(times.seconds[winner]);
  const double untuned = median_of(times.seconds.front());
  fmt::print("{:<15} {:>9}  {:<20} {:>10.2f}  {:<20} {:>10.2f}  {:>6}\n", collective, bytes,
             times.names[winner], best * 1e6, times.names.front(), untuned * 1e6,
             winner == 0 ? "" : fmt::format("{:.2f} x", untuned / best));
  std::fflush(stdout);
}

Result<std::vector<tutti::TunedChoice>> Tuner::choices_of(
    const std::vector<Winner>& winners) const {
  auto environment = tutti::read_environment(tutti::process_environment());
  if (!environment.ok()) return environment.status();
  environment->strict = false;
  const auto selector =
      tutti::Selector::create(*environment, tutti::machine_for(job_.ranks, job_.cores));
  if (!selector.ok()) return selector.status();
  const Field field{winners.front().algorithm->collective, job_.ranks,
                    std::min(job_.ranks, job_.cores)};
  return ranges_of(field, winners, [&](uint64_t bytes) {
    tutti::Problem problem;
    problem.collective = field.collective;
    problem.ranks = job_.ranks;
    problem.element_bytes = sizeof(float);
    problem.count = problem.stride = bytes / sizeof(float);
    problem.limits = tutti::limits_of(*environment);
    return selector->choose(problem);
  });
}

Result<std::vector<tutti::TunedChoice>> Tuner::run() {
  if (job_.rank == 0) {
    fmt::print("{} ranks on {} core{}\n{:<15} {:>9}  {:<20} {:>10}  {:<20} {:>10}  {:>6}\n",
               job_.ranks, job_.cores, job_.cores == 1 ? "" : "s", "collective", "bytes", "fastest",
               "us", "cost model", "us", "gain");
  }
  std::vector<tutti::TunedChoice> choices;
  std::vector<Winner> winners;
  const std::vector<Case> all = cases();
  for (size_t i = 0; i < all.size(); ++i) {
    const Case& current = all[i];
    const std::string name(current.collective->name);
    if (job_.rank == 0) {
      show_progress(fmt::format("{} of {}: {}, {} bytes", i + 1, all.size(), name, current.bytes));
    }
    auto times = compete(current, all.size() - i - 1);
    if (job_.rank == 0) show_progress("");
    if (!times.ok()) return times.status().with_context(name);
    const size_t winner = winner_of(times->seconds);
    if (job_.rank == 0) print_row(name, current.bytes, *times, winner);
    for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
      if (collective_name(algorithm->collective) != name) continue;
      if (algorithm->name == times->names[winner]) winners.push_back({current.bytes, algorithm});
    }
    if (i + 1 < all.size() && all[i + 1].collective == current.collective) continue;
    auto ranges = choices_of(winners);
    if (!ranges.ok()) return ranges.status();
    choices.insert(choices.end(), ranges->begin(), ranges->end());
    winners.clear();
  }
  return choices;
}

}  // namespace

Result<std::vector<tutti::TunedChoice>> measure(const Job& job) {
  Tuner tuner(job);
  TUTTI_RETURN_IF_ERROR(tuner.open());
  return tuner.run();
}

}  // namespace tutti_tune
