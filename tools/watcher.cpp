// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/watcher.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "core/json_text.hpp"
#include "core/wait.hpp"
#include "exec/call.hpp"
#include "tools/rates.hpp"
#include "tools/stack.hpp"
#include "tools/verdict_text.hpp"

namespace tutti::tools {
namespace {

using namespace tutti::inspect;
using Json = nlohmann::ordered_json;

// What a rank that is slow uses is seen in so many seconds.
constexpr double kSampledSeconds = 0.5;
// A job that changes its state all the time fills no disk.
constexpr int kMostReports = 64;
constexpr size_t kMostCalls = 16;
constexpr size_t kMostStacks = 8;
constexpr size_t kMostNameBytes = 64;

std::string time_text(const char* form) {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  char text[64] = "?";
  if (localtime_r(&now, &day) != nullptr) (void)std::strftime(text, sizeof text, form, &day);
  return text;
}

// A part of a file's name: letters, digits and a few signs.
std::string file_part(std::string text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  std::ranges::replace_if(
      text, [&](char c) { return !fits(c); }, '_');
  if (text.starts_with('.')) text.front() = '_';
  return text.substr(0, kMostNameBytes);
}

std::string_view state_text(Outcome outcome) {
  return outcome == Outcome::kHangs ? "hung" : "slow";
}

std::string host_of(const Finding& finding, const Job& job) {
  if (!finding.host.empty() || job.communicators.empty()) return finding.host;
  return job.communicators.front().snapshot.host;
}

// The last calls of each rank, the latest first.
std::string calls_of(const Job& job, const Communicator& communicator) {
  std::string text =
      fmt::format("\nlast calls of \"{}\", the latest first\n", communicator.snapshot.name);
  for (const RankSnapshot& rank : communicator.snapshot.ranks) {
    text += fmt::format("  rank {} ({} on {})\n", rank.rank, rank.pid,
                        communicator.snapshot.host_of(rank));
    size_t count = 0;
    for (auto call = rank.past.rbegin(); call != rank.past.rend() && count < kMostCalls; ++call) {
      const double age_s = job.age_s(communicator, *call);
      text += fmt::format("    {}{}\n", tutti::describe(call->record),
                          age_s < 0 ? "" : fmt::format(", {:.3f} s ago", age_s));
      ++count;
    }
    if (count == 0) text += "    none\n";
  }
  return text;
}

// Where the ranks that are blamed are in Python, if it can be asked.
std::string stacks_of(const Job& job, const std::vector<Finding>& findings) {
  std::string text;
  size_t count = 0;
  for (const Finding& finding : findings) {
    const Process* const process = finding.host.empty() ? job.process(finding.pid) : nullptr;
    if (process == nullptr || !is_python(*process) || process->state.stopped()) continue;
    if (++count > kMostStacks) break;
    const std::string stack = python_stack(process->pid);
    if (!stack.empty()) text += fmt::format("\nstack of pid {}\n{}", process->pid, stack);
  }
  return text;
}

// One write for a line, so that those of several watchers do not mix.
void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  (void)std::fflush(stdout);
}

// What may stand in a label of a metric: "rank" of several is a list.
std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("{}", fmt::join(ranks, ","));
}

// The status of the gravest of several jobs is told: a hang also where another job may not be seen.
bool less_grave(int one, int other) {
  constexpr int kGravity[] = {0, 1, 3, 2};
  return kGravity[one] < kGravity[other];
}

bool is_there(const std::pair<int, uint64_t>& process) {
  const tutti::ProcessState state = tutti::process_state(process.first);
  return state.letter != 0 && !state.dead() && state.started == process.second;
}

}  // namespace

Watcher::Watcher(WatchSettings settings)
    : settings_(std::move(settings)),
      asked_(settings_.wanted.pid, tutti::process_state(settings_.wanted.pid).started) {}

// ---- jobs --------------------------------------------------------------------------------------

// What is known of a job. The processes of a job come and go; as long as one is known, it is the
// same job.
Watcher::Watched& Watcher::watched(const Job& job) {
  std::set<ProcessKey> processes;
  for (const Process& process : job.processes) {
    if (process.host.empty()) processes.emplace(process.pid, process.state.started);
  }
  auto known = std::ranges::find_if(jobs_, [&](const Watched& one) {
    return std::ranges::any_of(
        processes, [&](const ProcessKey& process) { return one.processes.contains(process); });
  });
  if (known == jobs_.end()) {
    jobs_.push_back(
        {.name = name_of(job), .processes = {}, .episodes = Episodes(settings_.slow_share)});
    known = jobs_.end() - 1;
  }
  known->processes = std::move(processes);
  known->seen = true;
  return *known;
}

bool Watcher::Watched::lives() const { return std::ranges::any_of(processes, is_there); }

bool Watcher::lives() const {
  return is_there(asked_) || std::ranges::any_of(jobs_, &Watched::lives);
}

// Who asks for a job by one of its processes means the job, also when that one has ended.
std::vector<Observation> Watcher::observe_all() const {
  Wanted wanted = with_all_calls(settings_.wanted);
  if (wanted.pid != 0 && !jobs_.empty()) {
    const auto one = std::ranges::find_if(jobs_.front().processes, is_there);
    if (one != jobs_.front().processes.end()) wanted.pid = one->first;
  }
  std::vector<Observation> all = observe(find_jobs(wanted), kBriefSeconds, 0);
  const Episodes measure(settings_.slow_share);
  for (Observation& observed : all) {
    const Verdict verdict = slow_verdict_of(observed, settings_.hung_after_s);
    const bool may_be_slow = verdict.outcome == Outcome::kSlow &&
                             std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
                               return measure.is_slow(finding) || finding.cause == Cause::kCalls;
                             });
    // What a rank uses, and what its lines carry, costs more to find out than that it is late.
    if (may_be_slow) observed = observe({observed.job}, kSampledSeconds, kSampledSeconds).front();
  }
  return all;
}

int Watcher::look() {
  for (Watched& job : jobs_) job.seen = false;
  const std::vector<Observation> all = observe_all();
  int status = kWell;
  std::vector<CommunicatorRates> rates;
  for (const Observation& observed : all) {
    const Watched& job = judge(observed);
    status = std::max(status, job.status, less_grave);
    if (!settings_.prometheus.empty()) {
      std::ranges::move(rates_in(observed, job.name), std::back_inserter(rates));
    }
  }
  end_those_that_are_not_seen();
  if (!settings_.prometheus.empty()) write_metrics(rates);
  const bool asked = settings_.wanted.pid != 0 || !settings_.wanted.name.empty();
  return all.empty() && asked ? kNothingToSee : status;
}

const Watcher::Watched& Watcher::judge(const Observation& observed) {
  Watched& job = watched(observed.job);
  const bool to_be_seen = std::ranges::any_of(
      observed.job.communicators, [](const Communicator& one) { return one.status.ok(); });
  const Verdict verdict = slow_verdict_of(observed, settings_.hung_after_s);
  job.findings.clear();
  const bool hung = verdict.outcome == Outcome::kHangs;
  for (const Finding& finding : verdict.findings) {
    if (hung ? finding.outcome == Outcome::kHangs : job.episodes.is_slow(finding)) {
      job.findings.push_back(finding);
    }
  }
  job.status = hung ? kHung : job.findings.empty() ? kWell : kSlow;
  if (!to_be_seen) job.status = kNothingToSee;
  if (settings_.once) {
    say_how_it_is(job, verdict);
    return job;
  }
  for (const Episodes::News& news : job.episodes.take(verdict, tutti::host_ms())) {
    say(job, news, &observed.job, verdict);
  }
  return job;
}

void Watcher::end_those_that_are_not_seen() {
  for (Watched& job : jobs_) {
    if (job.seen) continue;
    for (const Episodes::News& news : job.episodes.end(tutti::host_ms())) {
      say(job, news, nullptr,
          {.text = job.lives() ? "the job has no communicator" : "the job is gone"});
    }
    job.findings.clear();
    job.status = kWell;
  }
  // A job that lives may have destroyed a communicator before it makes the next.
  std::erase_if(jobs_, [](const Watched& job) { return !job.seen && !job.lives(); });
}

// ---- what is said ------------------------------------------------------------------------------

void Watcher::say(Watched& of, const Episodes::News& news, const Job* job, const Verdict& verdict) {
  const std::string file =
      news.begins && job != nullptr ? report(of, news, *job, verdict) : std::string();
  const std::string_view state = state_text(news.outcome);
  const std::string_view cause = to_string(news.finding.cause);
  // Who is a little late is no news behind a hang.
  const std::string now = verdict.outcome == Outcome::kSlow ? "the ranks make calls" : verdict.text;
  if (settings_.json) {
    Json line = {{"time", time_text("%FT%T%z")},
                 {"job", of.name},
                 {"state", news.begins ? Json(state) : Json("over")},
                 {"was", news.begins ? Json(nullptr) : Json(state)},
                 {"seconds", news.lasted_s}};
    if (news.begins) {
      line["cause"] = cause;
      line["ranks"] = news.finding.ranks;
      line["host"] = host_of(news.finding, *job);
      line["call"] = news.finding.call;
    }
    line["text"] = news.begins ? news.finding.text : now;
    line["report"] = file.empty() ? Json(nullptr) : Json(file);
    return print_line(tutti::json_text(line, -1));
  }
  const std::string begin = fmt::format("{} {}", time_text("%F %T"), of.name);
  if (news.begins) {
    return print_line(fmt::format("{} {} ({}): {}{}", begin, state, cause, news.finding.text,
                                  file.empty() ? "" : fmt::format(" (report: {})", file)));
  }
  print_line(fmt::format("{} over: it {} for {:.0f} s; {}", begin,
                         news.outcome == Outcome::kHangs ? "hung" : "was slow", news.lasted_s,
                         now));
}

void Watcher::say_how_it_is(const Watched& of, const Verdict& verdict) const {
  constexpr std::string_view kStates[] = {"well", "slow", "hung", "not seen"};
  const std::string_view state = kStates[of.status];
  const Finding first = of.findings.empty() ? Finding() : of.findings.front();
  const std::string text = of.findings.empty() ? verdict.text : first.text;
  if (settings_.json) {
    return print_line(tutti::json_text(
        Json{{"time", time_text("%FT%T%z")},
             {"job", of.name},
             {"state", state},
             {"cause", of.findings.empty() ? Json(nullptr) : Json(to_string(first.cause))},
             {"ranks", first.ranks},
             {"text", text}},
        -1));
  }
  const std::string cause = of.findings.empty() ? "" : fmt::format(" ({})", to_string(first.cause));
  print_line(fmt::format("{} {} {}{}: {}", time_text("%F %T"), of.name, state, cause, text));
}

// Returns the path of the file; empty if there is none. Several watchers may write to one folder.
std::string Watcher::report(Watched& of, const Episodes::News& news, const Job& job,
                            const Verdict& verdict) {
  if (settings_.reports.empty() || of.reports >= kMostReports) return "";
  const std::string path =
      fmt::format("{}/{}-{}-{}-{}-{}-{}.txt", settings_.reports, file_part(of.name),
                  time_text("%Y%m%dT%H%M%S"), getpid(), ++of.reports, state_text(news.outcome),
                  file_part(std::string(to_string(news.finding.cause))));
  std::string text =
      fmt::format("{} {}\n\n{}", time_text("%F %T %z"), of.name, to_text(job, verdict, ""));
  for (const Communicator& communicator : job.communicators) {
    if (communicator.status.ok()) text += calls_of(job, communicator);
  }
  text += stacks_of(job, verdict.findings);
  const tutti::Status written = tutti::replace_file(path, text, tutti::kPublicFile);
  if (written.ok()) return path;
  fmt::print(stderr, "tutti watch: {}\n", written.message());
  return "";
}

void Watcher::write_metrics(const std::vector<CommunicatorRates>& rates) const {
  JobStates states;
  for (const Watched& job : jobs_) {
    // Jobs may have one name, and Prometheus refuses a file in which a series is twice.
    JobState& state = states[job.name];
    state.hung |= settings_.once ? job.status == kHung : job.episodes.hangs();
    state.slow |= settings_.once ? job.status == kSlow : job.episodes.slow();
    for (const Finding& finding : job.findings) {
      state.blamed.insert({.cause = std::string(to_string(finding.cause)),
                           .rank = ranks_text(finding.ranks),
                           .host = finding.host});
    }
  }
  const tutti::Status written = tutti::replace_file(
      settings_.prometheus, to_metrics(rates) + to_metrics(states), tutti::kPublicFile);
  if (!written.ok()) fmt::print(stderr, "tutti watch: {}\n", written.message());
}

}  // namespace tutti::tools
