// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/slow.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/fields.hpp"
#include "core/types.hpp"
#include "exec/call.hpp"
#include "inspect/blame.hpp"
#include "inspect/trace.hpp"

namespace tutti::inspect {
namespace {

// Below these shares of the time nothing is said.
constexpr double kCosts = 0.05;
constexpr double kStopped = 0.1;
constexpr double kThrottled = 0.1;
constexpr double kInCalls = 0.5;
constexpr double kDemandCosts = 0.25;
// Nor if the algorithm is expected to take less than so many times as long: the model errs, too.
constexpr double kDemandSlows = 1.5;
constexpr double kDelayed = 0.3;
constexpr double kComputes = 0.3;
constexpr double kDevice = 0.1;
// So many times a second to wait for memory takes a rank a hundredth of its time and more.
constexpr double kFaultsPerS = 100;
// A line that has data on its way for so much of the time is what the calls wait for.
constexpr double kLineBusy = 0.5;
// A line that loses so many of its segments delays short calls, too.
constexpr double kLossy = 0.005;
// A rank that is late for lack of a core is without one so much more often than the others.
constexpr double kMoreDelayed = 0.15;
// A rank that is so much less late than the latest is told of, too. Where each comes last for so
// much of its even share of the calls, nobody is to blame.
constexpr double kAlsoLate = 0.5;
// But ranks that come last by so little of their even share of the time are not late.
constexpr double kHardlyLate = 0.25;

// One call that all ranks of the snapshot have entered.
struct Entered {
  std::vector<int64_t> ns;  // since 1970, by place in the snapshot; empty: not known of all

  [[nodiscard]] size_t last() const {
    return static_cast<size_t>(std::ranges::max_element(ns) - ns.begin());
  }
};

Entered entries_of(const CommunicatorSnapshot& snapshot, uint64_t sequence,
                   const StampClock& clock) {
  Entered entered;
  for (const RankSnapshot& rank : snapshot.ranks) {
    const PastCall* const call = rank.call(sequence);
    if (call == nullptr || call->begun == 0) return {};
    entered.ns.push_back(clock.real_ns(call->begun));
  }
  return entered;
}

template <typename T>
T middle_of(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void add_call(const Entered& entered, Costs& costs) {
  const size_t place = entered.last();
  const int64_t last_ns = entered.ns[place];
  std::vector<int64_t> others = entered.ns;
  others.erase(others.begin() + static_cast<ptrdiff_t>(place));
  Lateness& late = costs.ranks[place];
  if (late.calls++ == 0) late.since_ns = last_ns;
  late.late_ns += last_ns - middle_of(std::move(others));
}

// The demand that rank 0 has noted; null: none, or rank 0 is on another host.
const Demand* demand_of(const CommunicatorSnapshot& snapshot) {
  const RankSnapshot* const first = snapshot.find(0);
  return first == nullptr || !first->demand ? nullptr : &*first->demand;
}

bool is_of(const Demand& demand, const CallRecord& record) {
  return demand.call.collective == record.collective && demand.call.type == record.type &&
         demand.call.count == record.count;
}

// How long a rank is in a call.
double nanoseconds_in_call(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank,
                           uint64_t sequence, const StampClock& clock, int64_t now_ns) {
  const auto call = static_cast<size_t>(rank.call(sequence) - rank.past.data());
  const Extent extent = extent_of(snapshot, rank, call, clock, now_ns);
  return static_cast<double>(extent.end_ns - extent.begin_ns);
}

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
  if (!delays.empty()) usual.delay = middle_of(std::move(delays));
  return usual;
}

bool has_worse_cores(const Usage& usage, const Usual& usual) {
  const double delay = delay_of(usage);
  return delay > usual.delay + kMoreDelayed || (usage.cores < usual.cores && delay > kDelayed);
}

// The cause of a rank on this host, by what the system tells of it.
Cause cause_of(const Usage& usage, const Usual& usual) {
  if (usage.stopped >= kStopped) {
    return usage.traced > usage.stopped / 2 ? Cause::kDebugged : Cause::kStopped;
  }
  if (usage.throttled >= kThrottled) return Cause::kThrottled;
  if (usage.faults >= kFaultsPerS) return Cause::kMemory;
  if (usage.device >= kDevice) return usage.faults >= 1 ? Cause::kMemory : Cause::kDevice;
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
  if (spent_s > kComputes * seconds) return Cause::kComputes;
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

Finding of_late(const Job& job, const Communicator& communicator, const Costs& costs,
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

}  // namespace

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

Costs costs_of(const CommunicatorSnapshot& snapshot, const Job& job) {
  Costs costs;
  for (size_t i = 0; i < snapshot.ranks.size(); ++i) {
    costs.ranks.push_back({.place = static_cast<int>(i)});
  }
  const StampClock clock(snapshot.made, job.now);
  if (snapshot.ranks.size() < 2 || snapshot.lacks_ranks() || !clock.known()) return costs;
  // From call to call where both are known: what lies between others is not.
  const Demand* const demand = demand_of(snapshot);
  double in_calls_ns = 0;
  double demanded_ns = 0;
  int64_t whole_ns = 0;
  int64_t before_ns = 0;
  uint64_t before = 0;
  for (const PastCall& call : snapshot.ranks.front().past) {
    const uint64_t sequence = call.record.sequence;
    const Entered entered = entries_of(snapshot, sequence, clock);
    if (entered.ns.empty()) continue;
    const size_t last = entered.last();
    const int64_t last_ns = entered.ns[last];
    const double ns =
        nanoseconds_in_call(snapshot, snapshot.ranks[last], sequence, clock, job.now.real_ns);
    in_calls_ns += ns;
    if (demand != nullptr && is_of(*demand, call.record)) demanded_ns += ns;
    if (before != 0 && sequence == before + 1 && last_ns > before_ns) {
      ++costs.calls;
      whole_ns += last_ns - before_ns;
      add_call(entered, costs);
    }
    before = sequence;
    before_ns = last_ns;
  }
  if (whole_ns <= 0) return costs;
  const auto whole = static_cast<double>(whole_ns);
  for (Lateness& late : costs.ranks) late.share = static_cast<double>(late.late_ns) / whole;
  costs.in_calls = std::clamp(in_calls_ns / whole, 0.0, 1.0);
  costs.demanded = std::clamp(demanded_ns / whole, 0.0, 1.0);
  return costs;
}

namespace {

// Whether one rank is much later than all others.
bool stands_out(const Lateness& most, const Costs& costs) {
  return std::ranges::none_of(costs.ranks, [&](const Lateness& other) {
    return other.place != most.place && other.share > kAlsoLate * most.share;
  });
}

// Adds the finding that all ranks have no core for much of the time, so that each is late in turn.
// Returns whether that is so.
bool add_shortage(const Job& job, const Communicator& communicator, const Costs& costs,
                  const std::vector<Usage>& usages, std::vector<Finding>& findings) {
  double least = 1;
  int known = 0;
  for (const Usage& usage : usages) {
    if (!usage.known) continue;
    least = std::min(least, usage.delayed);
    ++known;
  }
  if (known < 2 || least < kDelayed) return false;
  Finding finding{.cause = Cause::kCores, .outcome = Outcome::kSlow, .text = "", .advice = ""};
  finding.text = fmt::format(
      "the ranks of \"{}\" have no core for {} of the time and more, each is late in turn",
      communicator.snapshot.name, percent(least));
  finding.advice =
      fmt::format("give each rank a core of its own: taskset -cp {}", job.processes.front().pid);
  finding.share = least;
  for (const Lateness& late : costs.ranks) {
    finding.waited_s += static_cast<double>(late.late_ns) / 1e9;
  }
  findings.push_back(std::move(finding));
  return true;
}

// Adds the finding that no rank is to blame, for each comes last about as often.
// Returns whether that is so.
bool add_uneven(const Communicator& communicator, const Costs& costs, const Lateness& most,
                std::vector<Finding>& findings) {
  const int ranks = static_cast<int>(costs.ranks.size());
  double all = 0;
  for (const Lateness& late : costs.ranks) all += late.share;
  // Against its even share of the calls, and of the time that they wait.
  const auto seldom = [&](const Lateness& late) {
    return late.calls * ranks < kAlsoLate * costs.calls || late.share * ranks < kHardlyLate * all;
  };
  if (stands_out(most, costs) || std::ranges::any_of(costs.ranks, seldom)) return false;
  const auto least = std::ranges::min_element(costs.ranks, {}, &Lateness::share);
  Finding finding{.cause = Cause::kUneven,
                  .outcome = Outcome::kSlow,
                  .text = fmt::format(
                      "each rank of \"{}\" enters calls last in turn, for {} to {} of the time: "
                      "their work is uneven",
                      communicator.snapshot.name, percent(least->share), percent(most.share)),
                  .advice = "give the ranks as much work in each step"};
  finding.share = all;
  for (const Lateness& late : costs.ranks) {
    finding.waited_s += static_cast<double>(late.late_ns) / 1e9;
  }
  findings.push_back(std::move(finding));
  return true;
}

// The process here whose line to another one is busy the most; null: none is busy for long.
const Usage* with_busy_line(const std::vector<Usage>& usages) {
  const auto most = std::ranges::max_element(usages, {}, &Usage::line_busy);
  return most == usages.end() || most->line_busy < kLineBusy ? nullptr : &*most;
}

// The process here whose busiest line loses the largest share of its segments; null: none loses
// much.
const Usage* with_lossy_line(const std::vector<Usage>& usages) {
  const auto most =
      std::ranges::max_element(usages, {}, [](const Usage& usage) { return usage.line.loss(); });
  return most == usages.end() || most->line.loss() < kLossy ? nullptr : &*most;
}

// A line has two ends, so no rank is to blame.
Finding of_line(const Communicator& communicator, const Costs& costs, const Usage& usage, int pid,
                double seconds) {
  const Line& line = usage.line;
  const auto segments = static_cast<double>(std::max<uint64_t>(line.segments, 1));
  return {.cause = Cause::kLine,
          .outcome = Outcome::kSlow,
          .text = fmt::format(
              "the ranks spend {} of the time within calls of \"{}\", and the line of pid {} to {} "
              "is busy for {} of it: {:.1f} MB/s, {:.1f} % of its segments are sent again, round "
              "trips take {:.1f} ms",
              percent(costs.in_calls), communicator.snapshot.name, pid, line.peer,
              percent(usage.line_busy), static_cast<double>(line.bytes) / seconds / 1e6,
              static_cast<double>(line.sent_again) / segments * 100, line.round_trip_us / 1e3),
          .advice = fmt::format("see what else uses the line, and what it loses: ss -tin dst {}",
                                line.peer),
          .pid = pid,
          .share = costs.in_calls};
}

// "allreduce of 8 float32".
std::string kind_of(const CallRecord& call) {
  if (call.collective >= kCollectives || call.type >= kDataTypes) return "unreadable calls";
  return fmt::format("{} of {} {}", collective_name(static_cast<Collective>(call.collective)),
                     call.count, type_name(static_cast<DataType>(call.type)));
}

// Whether an algorithm that a variable demands costs more than any rank, as far as is expected.
bool add_demand(const Communicator& communicator, const Costs& costs, const Lateness& most,
                std::vector<Finding>& findings) {
  const Demand* const demand = demand_of(communicator.snapshot);
  if (demand == nullptr || demand->seconds < kDemandSlows * demand->best_seconds) return false;
  const double share = costs.demanded * (1 - demand->best_seconds / demand->seconds);
  if (share < kDemandCosts || share < most.share) return false;
  const std::string variable = text_of(demand->variable);
  findings.push_back(
      {.cause = Cause::kAlgorithm,
       .outcome = Outcome::kSlow,
       .text = fmt::format(
           "the ranks spend {} of the time within {} of \"{}\", and {} demands {} for it, which is "
           "expected to take {:.1f} times as long as {}",
           percent(costs.demanded), kind_of(demand->call), communicator.snapshot.name, variable,
           text_of(demand->algorithm), demand->seconds / demand->best_seconds,
           text_of(demand->best)),
       .advice = fmt::format("unset {}, or compare both: tutti bench, tutti explain", variable),
       .share = share});
  return true;
}

// Whether short calls wait for long ones most of the time. Not if these are long for a late rank.
bool add_jam(const Communicator& communicator, const Costs& costs, const Lateness& most,
             double seconds, std::vector<Finding>& findings) {
  const auto rank = std::ranges::max_element(
      communicator.snapshot.ranks, {}, [](const RankSnapshot& one) { return one.jam_since.in_ms; });
  const Jam& jam = rank->jam_since;
  const double share = static_cast<double>(jam.in_ms) / 1000 / seconds;
  if (jam.calls == 0 || share < kInCalls || costs.in_calls < kInCalls) return false;
  if (most.share >= costs.in_calls / 2) return false;
  const PastCall* const ahead = rank->call(jam.last.sequence - 1);
  findings.push_back(
      {.cause = Cause::kJam,
       .outcome = Outcome::kSlow,
       .text = fmt::format(
           "{} calls of \"{}\" were started behind much longer ones, and waited {:.0f} ms each for "
           "these; the last was {}{}",
           jam.calls, communicator.snapshot.name,
           static_cast<double>(jam.ms) / static_cast<double>(jam.calls), describe(jam.last),
           ahead == nullptr ? "" : ", behind " + describe(ahead->record)),
       .advice = "start short calls before long ones, or make them on a communicator of their own",
       .share = share});
  return true;
}

// Where no rank is later than the others: the calls themselves, if they take the time.
void add_calls(const Communicator& communicator, const Costs& costs,
               std::vector<Finding>& findings) {
  if (costs.in_calls < kInCalls) return;
  findings.push_back(
      {.cause = Cause::kCalls,
       .outcome = Outcome::kSlow,
       .text = fmt::format("the ranks spend {} of the time within calls of \"{}\", and none is "
                           "later than the others",
                           percent(costs.in_calls), communicator.snapshot.name),
       .advice = "see which algorithm they use: tutti explain, tutti tune",
       .share = costs.in_calls});
}

}  // namespace

void remember(const Job& earlier, Job& job) {
  for (size_t i = 0; i < job.communicators.size() && i < earlier.communicators.size(); ++i) {
    for (RankSnapshot& rank : job.communicators[i].snapshot.ranks) {
      const RankSnapshot* const then = earlier.communicators[i].snapshot.find(rank.rank);
      if (then == nullptr) continue;
      const uint64_t first = rank.past.empty() ? UINT64_MAX : rank.past.front().record.sequence;
      const auto known = std::ranges::find_if(
          then->past, [&](const PastCall& call) { return call.record.sequence >= first; });
      rank.past.insert(rank.past.begin(), then->past.begin(), known);
    }
  }
}

std::vector<Finding> slow_findings(const Job& job, const Communicator& communicator,
                                   const std::vector<Usage>& usages, double seconds) {
  std::vector<Finding> findings;
  if (!communicator.status.ok() || !communicator.moved) return findings;
  const Costs costs = costs_of(communicator.snapshot, job);
  const auto most = std::ranges::max_element(costs.ranks, {}, &Lateness::share);
  if (most == costs.ranks.end()) return findings;
  // Calls within one host wait for no line, whatever its processes send elsewhere.
  const Usage* const line = with_busy_line(usages);
  // A rank that waits for a line all the time is also late now and then.
  if (line != nullptr && communicator.snapshot.across_hosts() && costs.in_calls >= kInCalls &&
      most->share < costs.in_calls / 2) {
    const int pid = job.processes[static_cast<size_t>(line - usages.data())].pid;
    findings.push_back(of_line(communicator, costs, *line, pid, seconds));
    return findings;
  }
  if (add_jam(communicator, costs, *most, seconds, findings)) return findings;
  if (add_demand(communicator, costs, *most, findings)) return findings;
  const bool late = most->share >= kCosts;
  if (!late || !stands_out(*most, costs)) {
    // Whoever waits for what was lost is late in the next call.
    const Usage* const lossy = with_lossy_line(usages);
    if (lossy != nullptr && communicator.snapshot.across_hosts() &&
        (late || costs.in_calls >= kInCalls)) {
      const int pid = job.processes[static_cast<size_t>(lossy - usages.data())].pid;
      findings.push_back(of_line(communicator, costs, *lossy, pid, seconds));
      return findings;
    }
    if (add_shortage(job, communicator, costs, usages, findings)) return findings;
  }
  if (!late) {
    add_calls(communicator, costs, findings);
    return findings;
  }
  if (add_uneven(communicator, costs, *most, findings)) return findings;
  for (const Lateness& late : costs.ranks) {
    if (late.share >= kCosts && late.share >= kAlsoLate * most->share) {
      findings.push_back(of_late(job, communicator, costs, late, usages, seconds));
    }
  }
  return findings;
}

Verdict judge_slow(const Job& job, const std::vector<Usage>& usages, double seconds) {
  Verdict verdict{.outcome = Outcome::kGoesOn, .text = "no rank is later than the others"};
  for (const Communicator& communicator : job.communicators) {
    for (Finding& finding : slow_findings(job, communicator, usages, seconds)) {
      verdict.findings.push_back(std::move(finding));
    }
  }
  std::ranges::stable_sort(verdict.findings, std::ranges::greater(), &Finding::waited_s);
  if (!verdict.findings.empty()) {
    verdict.outcome = verdict.findings.front().outcome;
    verdict.text = verdict.findings.front().text;
    verdict.advice = verdict.findings.front().advice;
  }
  return verdict;
}

}  // namespace tutti::inspect
