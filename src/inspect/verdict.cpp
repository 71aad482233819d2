// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"
#include "inspect/at_rest.hpp"
#include "inspect/blame.hpp"
#include "inspect/broken.hpp"
#include "inspect/circle.hpp"
#include "inspect/quiet.hpp"

namespace tutti::inspect {
namespace {

// How much a cause matters beside others.
int weight(const Finding& finding) {
  if (finding.cause == Cause::kComputes) return 0;
  if (finding.cause < Cause::kSilent) return 1;
  return static_cast<int>(finding.cause);
}

bool takes_any(const Wait& wait) { return wait.kind == WaitKind::kRecv && wait.record.root < 0; }

constexpr std::string_view kMatch =
    "a receive takes messages of its source and tag alone: compare those of the two messages above";

class Judge {
 public:
  Judge(const Job& job, double hung_after_s) : job_(job), hung_after_s_(hung_after_s) {}

  std::vector<Finding> find() {
    for (const Waiting& waiting : all_waits(job_)) {
      path_ = {waiting};
      follow(waiting);
    }
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
      return weight(a) != weight(b) ? weight(a) > weight(b) : a.waited_s > b.waited_s;
    });
    return std::move(findings_);
  }

 private:
  void follow(const Waiting& waiting);
  void follow(const Waiting& waiting, const Late& late);
  void add(const Waiting& waiting, Blame blame);
  void keep_those_that_may_come(size_t before);
  void blame_newcomers(const Waiting& waiting);
  void blame_one_that_does_not_get_on(const Waiting& waiting);
  [[nodiscard]] std::string text_of(const Waiting& waiting, const Late& late,
                                    std::string_view state) const;
  void blame_one_that_is_here(const Waiting& waiting, const Late& late);
  void blame_odd_ones(const Waiting& waiting, const Late& late);

  const Job& job_;
  const double hung_after_s_;
  std::vector<Waiting> path_;
  std::set<Party> followed_;
  std::set<std::pair<const Communicator*, int>> blamed_;
  std::vector<Finding> findings_;
};

void Judge::add(const Waiting& waiting, Blame blame) {
  if (std::ranges::find(findings_, blame.text, &Finding::text) != findings_.end()) return;
  const double waited_s = job_.age_s(*waiting.wait);
  const bool for_ever = blame.cause >= Cause::kCircle || waited_s >= hung_after_s_;
  findings_.push_back({.cause = blame.cause,
                       .outcome = for_ever ? Outcome::kHangs : Outcome::kWaits,
                       .text = std::move(blame.text),
                       .advice = std::move(blame.advice),
                       .waited_s = waited_s,
                       .ranks = std::move(blame.ranks),
                       .pid = blame.process == nullptr ? 0 : blame.process->pid,
                       .host = blame.process == nullptr ? "" : blame.process->host,
                       .call = describe(*waiting.wait)});
}

void Judge::follow(const Waiting& waiting) {
  const std::vector<Late> late = whom_it_awaits(job_, waiting);
  const size_t before = findings_.size();
  for (const Late& one : late) follow(waiting, one);
  if (takes_any(*waiting.wait)) keep_those_that_may_come(before);
  if (!late.empty() || waiting.communicator->moved) return;
  if (waiting.wait->kind == WaitKind::kMake) return blame_newcomers(waiting);
  blame_one_that_does_not_get_on(waiting);
}

// Who takes a message of any rank waits for ever only if none of them can get on.
void Judge::keep_those_that_may_come(size_t before) {
  const auto first = findings_.begin() + static_cast<ptrdiff_t>(before);
  const auto is_circle = [](const Finding& one) { return one.cause == Cause::kCircle; };
  if (std::all_of(first, findings_.end(), is_circle)) return;
  findings_.erase(std::remove_if(first, findings_.end(), is_circle), findings_.end());
}

void Judge::blame_newcomers(const Waiting& waiting) {
  const CommunicatorSnapshot& snapshot = waiting.communicator->snapshot;
  std::string text = fmt::format("all ranks of \"{}\" that are seen are in {}", snapshot.name,
                                 describe(*waiting.wait));
  std::string advice;
  const uint64_t wanted = waiting.wait->record.count;
  const auto all = static_cast<uint64_t>(snapshot.all_ranks);
  if (wanted > all) {
    text += fmt::format(" and wait for its newcomers, of which there are {}", wanted - all);
    advice = "see the newcomers' output; the log of rank 0's host names those that are missing";
  }
  add(waiting, {Cause::kNewcomers, {}, text, advice, nullptr});
}

// All have entered the call, and no awaited rank is to be seen. So this rank runs a function of the
// user, or does not look for others any more, as in a signal handler.
void Judge::blame_one_that_does_not_get_on(const Waiting& waiting) {
  const Communicator& communicator = *waiting.communicator;
  const Process* const process = job_.process_of(communicator, waiting.rank->place);
  const bool busy = process != nullptr && process->busy;
  const bool in_function = waiting.wait->kind == WaitKind::kFunction;
  const bool in_call = waiting.wait->kind == WaitKind::kCall;
  std::string text = fmt::format("{} {} {} of \"{}\"{}", job_.name_of(communicator, *waiting.rank),
                                 in_function ? "has not returned from" : "does not get on in",
                                 describe(*waiting.wait), communicator.snapshot.name,
                                 in_call ? ", which all ranks that are seen have entered" : "");
  const Cause cause = in_function ? Cause::kFunction : Cause::kInside;
  const std::vector<int> ranks = {waiting.rank->number()};
  if (process == nullptr) return add(waiting, {cause, ranks, text, "", nullptr});
  text += busy ? "; its processor time moves" : "; it " + state_and_wait(*process);
  add(waiting, {cause, ranks, text, "see where it is: " + command_to_see(*process), process});
}

std::string Judge::text_of(const Waiting& waiting, const Late& late, std::string_view state) const {
  const Communicator& communicator = *waiting.communicator;
  const std::string what =
      fmt::format("{} of \"{}\"", describe(*waiting.wait), communicator.snapshot.name);
  const std::string name = job_.name_of(communicator, *late.rank);
  const std::string waits = job_.name_of(communicator, *waiting.rank);
  std::string text;
  switch (late.why) {
    case Late::Why::kNotEntered: text = fmt::format("{} has not entered {}", name, what); break;
    case Late::Why::kInside:
      text = fmt::format("{} has entered {} but is late for its part of it", name, what);
      break;
    case Late::Why::kLeft:
      text = fmt::format("{} has destroyed its communicator without {}", name, what);
      break;
    case Late::Why::kMessage:
      text = waiting.wait->kind == WaitKind::kSend
                 ? fmt::format("{} has not received {} of {}", name, what, waits)
                 : fmt::format("{} has sent nothing that {} of {} takes{}", name, what, waits,
                               unexpected_by(*waiting.wait));
      break;
    case Late::Why::kOther: text = fmt::format("{} is in another call than {}", name, what); break;
    case Late::Why::kElsewhere: break;  // nothing is seen of it
  }
  text += "; " + last_of(job_, communicator, *late.rank);
  return state.empty() ? text : fmt::format("{}; it {}", text, state);
}

void Judge::follow(const Waiting& waiting, const Late& late) {
  if (!blamed_.emplace(waiting.communicator, late.number).second && path_.size() == 1) return;
  if (late.why == Late::Why::kElsewhere) {
    const int number = late.rank == nullptr ? late.number : late.rank->number();
    add(waiting, {Cause::kSilent,
                  {number},
                  text_of_far(job_, waiting, late),
                  advice_for_far(waiting, late),
                  nullptr});
  } else {
    blame_one_that_is_here(waiting, late);
  }
}

void Judge::blame_one_that_is_here(const Waiting& waiting, const Late& late) {
  const Process* const process = job_.process_of(*waiting.communicator, late.rank->place);
  std::vector<int> ranks = {late.rank->number()};
  const auto blame = [&](Cause cause, std::string_view state, std::string advice) {
    add(waiting, {cause, ranks, text_of(waiting, late, state), std::move(advice), process});
  };
  if (late.why == Late::Why::kLeft) return blame(Cause::kDestroyed, "", std::string(kOrder));
  if (process == nullptr || process->state.dead()) {
    return blame(is_replaced(*late.rank) ? Cause::kReplaced : Cause::kDead,
                 what_became_of(*late.rank), "end the job");
  }
  const std::string state = to_string(process->state);
  if (process->state.letter == 'T') {
    return blame(Cause::kStopped, state, advice_for_stopped(*process));
  }
  if (process->state.frozen) {
    return blame(Cause::kFrozen, state,
                 "let its control group go on (docker unpause, systemctl thaw): " +
                     command_for_file(*process, "cgroup"));
  }
  if (process->state.letter == 't') {
    return blame(Cause::kDebugged, state, "let the debugger go on" + tracer_of(*process));
  }
  if (late.why == Late::Why::kOther) return blame_odd_ones(waiting, late);
  const Party party = party_of(job_, *waiting.communicator, *late.rank);
  const auto begin = std::ranges::find_if(path_, [&](const Waiting& before) {
    return before.wait->started == 0 && party_of(job_, *before.communicator, *before.rank) == party;
  });
  if (begin != path_.end()) return add(*begin, blame_for_circle(job_, {begin, path_.end()}));
  if (const std::optional<Waiting> next = wait_of(job_, party)) {
    if (!followed_.insert(party).second) return;
    path_.push_back(*next);
    follow(*next);
    path_.pop_back();
    return;
  }
  const bool busy = computes(job_, *process);
  Process lasting = *process;
  lasting.state = lasting_state(*process);
  const bool other_message = !unexpected_by(*waiting.wait).empty();
  blame(other_message         ? Cause::kMessage
        : busy                ? Cause::kComputes
        : lacks_core(lasting) ? Cause::kShared
                              : cause_of_quiet(lasting.state),
        busy ? computes_or_calls(job_, *process)
             : state_and_wait(lasting) + holder_of_lock(job_, lasting),
        other_message ? std::string(kMatch) : advice_for_quiet(lasting));
}

// The text is of the first of those in the lesser call, beside whoever is in the other one.
void Judge::blame_odd_ones(const Waiting& waiting, const Late& late) {
  const Communicator& communicator = *waiting.communicator;
  const uint64_t sequence = waiting.wait->record.sequence;
  std::vector<int> odd = odd_ones(communicator.snapshot, sequence);
  const auto is_odd = [&](const RankSnapshot& rank) {
    return std::ranges::find(odd, rank.number()) != odd.end();
  };
  const bool turned = !is_odd(*late.rank) && is_odd(*waiting.rank);
  const RankSnapshot& one = turned ? *waiting.rank : *late.rank;
  const RankSnapshot& other = turned ? *late.rank : *waiting.rank;
  if (turned && !blamed_.emplace(&communicator, one.rank).second) return;
  add(waiting, {Cause::kMismatch, std::move(odd),
                fmt::format("{} is in {} instead of {} of \"{}\"", job_.name_of(communicator, one),
                            describe(*record_of(one, sequence)),
                            describe(*record_of(other, sequence)), communicator.snapshot.name),
                std::string(kOrder), job_.process_of(communicator, one.place)});
}

// Whether a process of its ranks gets on.
bool go_on(const Job& job, const Communicator& communicator) {
  return std::ranges::any_of(communicator.snapshot.ranks, [&](const RankSnapshot& rank) {
    const Process* const process = job.process_of(communicator, rank.place);
    return process != nullptr && moves(job, *process);
  });
}

bool any_moved(const Job& job) {
  return std::ranges::any_of(job.communicators, &Communicator::moved);
}

}  // namespace

std::string_view to_string(Cause cause) {
  constexpr std::string_view kNames[] = {
      "computes", "sleeps",   "lock",   "file",     "socket",    "child",     "signal",
      "device",   "quiet",    "inside", "function", "newcomers", "throttled", "shared",
      "cores",    "uneven",   "memory", "calls",    "line",      "algorithm", "jam",
      "message",  "silent",   "circle", "message",  "destroyed", "debugged",  "frozen",
      "stopped",  "mismatch", "failed", "dead",     "replaced"};
  static_assert(std::size(kNames) == static_cast<size_t>(Cause::kReplaced) + 1);
  return kNames[static_cast<size_t>(cause)];
}

std::string_view to_string(Outcome outcome) {
  constexpr std::string_view kNames[] = {"idle", "goes on", "slow", "waits", "hung"};
  return kNames[static_cast<size_t>(outcome)];
}

Verdict judge(const Job& job, double hung_after_s) {
  Verdict verdict;
  verdict.findings = Judge(job, hung_after_s).find();
  const bool moved = any_moved(job);
  if (const Communicator* broken = broken_one(job); broken != nullptr && !go_on(job, *broken)) {
    verdict.outcome = Outcome::kHangs;
    verdict.text =
        fmt::format("\"{}\" is broken: {}", broken->snapshot.name, broken->snapshot.cause);
    verdict.findings.insert(verdict.findings.begin(), of_broken(job, *broken, verdict.text));
    return verdict;
  }
  constexpr double kBriefSeconds = 1;
  const bool brief = std::ranges::all_of(verdict.findings, [](const Finding& finding) {
    return finding.outcome == Outcome::kWaits && finding.waited_s < kBriefSeconds;
  });
  if (moved && brief) {
    verdict.outcome = Outcome::kGoesOn;
    verdict.text = "the ranks make calls";
    return verdict;
  }
  if (verdict.findings.empty()) return of_idle(job);
  verdict.outcome = verdict.findings.front().outcome;
  verdict.text = verdict.findings.front().text;
  verdict.advice = verdict.findings.front().advice;
  return verdict;
}

}  // namespace tutti::inspect
