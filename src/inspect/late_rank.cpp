// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/late_rank.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/median.hpp"
#include "inspect/advice.hpp"
#include "inspect/quiet.hpp"

namespace tutti::inspect {
namespace {

// Below these shares of the time nothing is said.
constexpr double kLeastStoppedShare = 0.1;
constexpr double kLeastThrottledShare = 0.1;
constexpr double kLeastComputingShare = 0.3;
constexpr double kLeastDeviceShare = 0.1;
// Waits for memory per second that take a rank a hundredth of its time and more.
constexpr double kFaultsPerSecond = 100;
// A rank that is late for lack of a core is without one so much more often than the others.
constexpr double kMoreDelayed = 0.15;

// The share without a core, of the time in which it could run.
double delay_of(const Usage& usage) {
  const double ready = usage.runs + usage.delayed;
  return ready > 0 ? usage.delayed / ready : 0;
}

// What is usual among the other processes of the job on this host, with which a late rank is
// compared: where every process is without a core as often as it is, it is late for another cause.
struct Usual {
  double delay = 0;  // the median of their delays: delay_of()
  int cores = 0;     // the most cores that any of them may run on
};
// `but` is the process that is compared, and left out.
Usual usual_of(const std::vector<Usage>& usages, const Usage& but) {
  Usual usual;
  std::vector<double> delays;
  for (const Usage& usage : usages) {
    if (!usage.known || &usage == &but) continue;
    delays.push_back(delay_of(usage));
    usual.cores = std::max(usual.cores, usage.cores);
  }
  if (!delays.empty()) usual.delay = upper_median(std::move(delays));
  return usual;
}

bool has_worse_cores(const Usage& usage, const Usual& usual) {
  const double delay = delay_of(usage);
  return delay > usual.delay + kMoreDelayed ||
         (usage.cores < usual.cores && delay > kLeastDelayedShare);
}

// The cause of a rank on this host, by what the system tells of it.
Cause cause_of(const Usage& usage, const Usual& usual) {
  if (usage.stopped >= kLeastStoppedShare) {
    return usage.traced > usage.stopped / 2 ? Cause::kDebugged : Cause::kStopped;
  }
  if (usage.throttled >= kLeastThrottledShare) return Cause::kThrottled;
  if (usage.faults >= kFaultsPerSecond) return Cause::kMemory;
  if (usage.device >= kLeastDeviceShare) return usage.faults >= 1 ? Cause::kMemory : Cause::kDevice;
  const double ready = usage.runs + usage.delayed;
  if (1 - ready > ready) {
    const auto first = usage.blocked.begin() + 1;
    const auto most = std::max_element(first, usage.blocked.end());
    ProcessState state{.letter = 'S'};
    if (*most > 0) state.blocked = static_cast<BlockedOn>(most - usage.blocked.begin());
    return cause_of_quiet(state);
  }
  return has_worse_cores(usage, usual) ? Cause::kShared : Cause::kComputes;
}

// The cause of a rank on another host, from the two looks alone.
Cause cause_of(const Job& job, const Process& process, double seconds) {
  const double spent_s =
      static_cast<double>(process.spent) / static_cast<double>(sysconf(_SC_CLK_TCK));
  if (spent_s > kLeastComputingShare * seconds) return Cause::kComputes;
  if (process.state.blocked == BlockedOn::kUnknown && !process.busy) {
    if (lacks_core(process)) return Cause::kShared;
    return cause_of_quiet({.letter = process.state.letter, .blocked = process.once});
  }
  return computes(job, process) ? Cause::kComputes : cause_of_quiet(process.state);
}

// "14:02:11", as the clock on the wall says.
std::string clock_time(int64_t real_ns) {
  const auto seconds = static_cast<std::time_t>(real_ns / 1'000'000'000);
  std::tm day{};
  if (localtime_r(&seconds, &day) == nullptr) return "?";
  return fmt::format("{:02}:{:02}:{:02}", day.tm_hour, day.tm_min, day.tm_sec);
}

std::string why(Cause cause, const Usage* usage) {
  switch (cause) {
    case Cause::kStopped:
      return fmt::format("it is stopped and goes on again, {} of the time",
                         percent(usage->stopped));
    case Cause::kDebugged:
      return fmt::format("it is held again and again by whoever traces it, {} of the time",
                         percent(usage->traced));
    case Cause::kThrottled:
      return fmt::format("the quota of its control group keeps it from running, {} of the time",
                         percent(usage->throttled));
    case Cause::kShared: {
      if (!usage->known) return "it could run, and has no core";
      std::string text = fmt::format("it has no core for {} of the time", percent(usage->delayed));
      if (usage->beside != 0) {
        text += fmt::format("; core {} is shared with pid {} ({})", usage->core, usage->beside,
                            usage->program);
      }
      return text;
    }
    case Cause::kComputes: return "it computes before its calls";
    case Cause::kMemory:
      if (usage->faults < 1) return "it " + std::string(to_string(BlockedOn::kMemory));
      return fmt::format(
          "it waits for memory that is read from disk, {:.0f} times a second: the limit of its "
          "control group, or the memory of its host, is too small",
          usage->faults);
    case Cause::kDevice: return "it waits for a device or a file system";
    default: break;
  }
  for (int i = 1; i <= static_cast<int>(kLastBlockedOn); ++i) {
    const auto blocked = static_cast<BlockedOn>(i);
    if (cause_of_quiet({.blocked = blocked}) == cause)
      return "it " + std::string(to_string(blocked));
  }
  return "it is elsewhere before its calls";
}

std::string advice_for(Cause cause, const Process& process) {
  switch (cause) {
    case Cause::kStopped: return "see who sends it signals";
    case Cause::kDebugged: return "end what traces it" + tracer_of(process);
    case Cause::kThrottled:
    case Cause::kMemory:
      return "give its control group more: " + command_for_file(process, "cgroup");
    case Cause::kShared:
      return "pin the ranks to cores of their own: " + command_for(process, "taskset -cp");
    default: return "see what it does: " + command_to_see(process);
  }
}

}  // namespace

Finding of_late_rank(const Job& job, const Communicator& communicator, const Costs& costs,
                     const Lateness& late, const std::vector<Usage>& usages, double seconds) {
  const RankSnapshot& rank = communicator.snapshot.ranks[static_cast<size_t>(late.place)];
  const Process* const process = job.process_of(communicator, rank.place);
  Finding finding{.cause = Cause::kQuiet, .outcome = Outcome::kSlow, .text = "", .advice = ""};
  if (process != nullptr) {
    const Usage& usage = usages[static_cast<size_t>(process - job.processes.data())];
    finding.cause =
        usage.known ? cause_of(usage, usual_of(usages, usage)) : cause_of(job, *process, seconds);
    finding.because = why(finding.cause, &usage);
    finding.advice = advice_for(finding.cause, *process);
    finding.pid = process->pid;
    finding.host = process->host;
  }
  finding.ranks = {rank.number()};
  finding.waited_s = static_cast<double>(late.late_ns) / 1e9;
  finding.share = late.share;
  finding.text = fmt::format(
      "{} enters {} of the last {} calls of \"{}\" last, by {:.1f} ms, since {}: {} of the "
      "time{}",
      job.name_of(communicator, rank), late.calls, costs.calls, communicator.snapshot.name,
      static_cast<double>(late.late_ns) / 1e6 / late.calls, clock_time(late.since_ns),
      percent(late.share), finding.because.empty() ? "" : "; " + finding.because);
  return finding;
}

}  // namespace tutti::inspect
