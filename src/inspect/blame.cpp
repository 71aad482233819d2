// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/blame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti::inspect {

std::vector<Waiting> all_waits(const Job& job) {
  std::vector<Waiting> all;
  for (const Communicator& communicator : job.communicators) {
    if (!communicator.status.ok()) continue;
    for (const RankSnapshot& rank : communicator.snapshot.ranks) {
      for (const Wait& wait : rank.waits) all.push_back({&communicator, &rank, &wait});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Waiting& one) { return one.wait->since_ms; });
  return all;
}

Party party_of(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  const Process* const process = job.process_of(communicator, rank.place);
  if (process == nullptr) return {};
  const auto number = static_cast<int>(process - job.processes.data());
  const bool by_threads = std::ranges::any_of(job.communicators, [&](const Communicator& one) {
    return std::ranges::count(one.processes, number) > 1;
  });
  if (!by_threads) return {.process = process};
  return {.process = process, .number = rank.number()};
}

std::optional<Waiting> wait_of(const Job& job, const Party& party) {
  for (const Waiting& one : all_waits(job)) {
    if (one.wait->started == 0 && party_of(job, *one.communicator, *one.rank) == party) return one;
  }
  return std::nullopt;
}

const CallRecord* record_of(const RankSnapshot& rank, uint64_t sequence) {
  if (const PastCall* const call = rank.call(sequence)) return &call->record;
  const auto waits = std::ranges::find_if(rank.waits, [&](const Wait& wait) {
    return wait.kind == WaitKind::kCall && wait.record.sequence == sequence;
  });
  return waits == rank.waits.end() ? nullptr : &waits->record;
}

std::vector<int> odd_ones(const CommunicatorSnapshot& snapshot, uint64_t sequence) {
  std::vector<std::pair<const CallRecord*, std::vector<int>>> kinds;
  for (const RankSnapshot& rank : snapshot.ranks) {
    const CallRecord* const made = record_of(rank, sequence);
    if (made == nullptr) continue;
    const auto same =
        std::ranges::find_if(kinds, [&](const auto& kind) { return !differ(*kind.first, *made); });
    if (same != kinds.end()) {
      same->second.push_back(rank.number());
    } else {
      kinds.push_back({made, {rank.number()}});
    }
  }
  if (kinds.size() < 2) return {};
  const auto most =
      std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.size(); });
  std::vector<int> odd;
  for (const auto& [record, ranks] : kinds) {
    // Nobody is odd where there are as many of each.
    if (record == most->first && ranks.size() > 1) continue;
    odd.insert(odd.end(), ranks.begin(), ranks.end());
  }
  return odd;
}

namespace {

// Whether the rank has made the call or one behind it. A rank that is far ahead of others waits in
// a call before it enters it.
bool has_come_to(const RankSnapshot& rank, uint64_t sequence) {
  return rank.last_sequence() >= sequence || std::ranges::any_of(rank.waits, [&](const Wait& wait) {
           return wait.kind == WaitKind::kCall && wait.record.sequence >= sequence;
         });
}

// The known ranks that have not made the call, or are in another one.
std::vector<Late> late_for_call(const Waiting& waiting) {
  std::vector<Late> late;
  const CallRecord& record = waiting.wait->record;
  for (const RankSnapshot& peer : waiting.communicator->snapshot.ranks) {
    if (&peer == waiting.rank || !peer.answers) continue;
    const CallRecord* const made = record_of(peer, record.sequence);
    if (!has_come_to(peer, record.sequence)) {
      late.push_back({peer.left ? Late::Why::kLeft : Late::Why::kNotEntered, &peer, peer.rank});
    } else if (made != nullptr && differ(*made, record)) {
      late.push_back({Late::Why::kOther, &peer, peer.rank});
    }
  }
  return late;
}

// The ranks that have not come, of those that the communicator is to have, as far as they are
// named.
std::vector<Late> late_for_making(const Waiting& waiting) {
  const auto& snapshot = waiting.communicator->snapshot;
  const bool all = waiting.wait->record.count >= static_cast<uint64_t>(snapshot.all_ranks);
  std::vector<Late> late;
  for (const RankSnapshot& peer : snapshot.ranks) {
    if (&peer == waiting.rank || !peer.answers) continue;
    const bool named = all || std::ranges::find(waiting.wait->awaited, peer.rank) !=
                                  std::end(waiting.wait->awaited);
    const bool here = std::ranges::any_of(
        peer.waits, [](const Wait& wait) { return wait.kind == WaitKind::kMake; });
    if (!named || here) continue;
    late.push_back({peer.left ? Late::Why::kLeft : Late::Why::kNotEntered, &peer, peer.rank});
  }
  return late;
}

// Whether one of both gets on, as in a call that takes long.
bool gets_on(const Waiting& waiting, int number) {
  const RankSnapshot* const peer = waiting.communicator->snapshot.find(number);
  return waiting.rank->moved || (peer != nullptr && peer->moved);
}

// A rank that waits in a later call has done its part of this one.
bool is_past(const Waiting& waiting, int number) {
  const RankSnapshot* const peer = waiting.communicator->snapshot.find(number);
  return peer != nullptr && std::ranges::any_of(peer->waits, [&](const Wait& wait) {
           return wait.kind == WaitKind::kCall && wait.started == 0 &&
                  wait.record.sequence > waiting.wait->record.sequence;
         });
}

Late of_number(const Waiting& waiting, int number, Late::Why if_here) {
  const RankSnapshot* const peer = waiting.communicator->snapshot.find(number);
  if (peer == nullptr) return {Late::Why::kElsewhere, nullptr, number};
  if (peer->left) return {Late::Why::kLeft, peer, number};
  return {peer->answers ? if_here : Late::Why::kElsewhere, peer, number};
}

// Whether one of them does its part, as far as is seen, and waits for nobody.
bool unexplained(const std::vector<Late>& late) {
  return std::ranges::any_of(late, [](const Late& one) {
    return one.why == Late::Why::kInside && one.rank->waits.empty();
  });
}

// If ranks that do their part are late, those that do not answer may be what keeps them.
void add_those_that_do_not_answer(const Waiting& waiting, std::vector<Late>& late) {
  if (!unexplained(late)) return;
  for (const RankSnapshot& peer : waiting.communicator->snapshot.ranks) {
    if (!peer.answers && !peer.left) late.push_back({Late::Why::kElsewhere, &peer, peer.rank});
  }
}

// Whether the rank does not look any more for whom it waits, as in a signal handler. Its note is
// then of an earlier moment. A rank that cannot run has not gone elsewhere.
bool looks_no_more(const Job& job, const Waiting& waiting) {
  constexpr int64_t kLateMs = 150;  // limit on how late the next look may be
  const Wait& wait = *waiting.wait;
  const Process* const process = job.process_of(*waiting.communicator, waiting.rank->place);
  if (process == nullptr || wait.started != 0 || wait.looked_after_ms == 0) return false;
  if (process->state.dead() || process->state.stopped() || lacks_core(*process)) return false;
  return job.now_ms - wait.since_ms - wait.looked_after_ms > kLookEveryMs + kLateMs;
}

}  // namespace

std::vector<Late> whom_it_awaits(const Job& job, const Waiting& waiting) {
  const Wait& wait = *waiting.wait;
  if (wait.kind == WaitKind::kFunction) return {};
  if (wait.kind == WaitKind::kMake) return late_for_making(waiting);
  const bool is_stale = looks_no_more(job, waiting);
  if (wait.kind == WaitKind::kCall) {
    std::vector<Late> late = late_for_call(waiting);
    if (is_stale) return late;
    for (const int number : wait.awaited) {
      if (!late.empty() || number < 0) break;
      if (number == waiting.rank->rank || is_past(waiting, number)) continue;
      if (gets_on(waiting, number)) continue;
      late.push_back(of_number(waiting, number, Late::Why::kInside));
    }
    add_those_that_do_not_answer(waiting, late);
    return late;
  }
  if (is_stale) return {};
  if (wait.record.root >= 0) {
    return {of_number(waiting, wait.record.root, Late::Why::kMessage)};
  }
  std::vector<Late> late;
  for (const RankSnapshot& peer : waiting.communicator->snapshot.ranks) {
    if (&peer != waiting.rank) late.push_back(of_number(waiting, peer.rank, Late::Why::kMessage));
  }
  return late;
}

std::string unexpected_by(const Wait& wait) {
  const bool has = wait.kind == WaitKind::kRecv && wait.has_told != 0;
  return has ? describe_unexpected(wait.last) : "";
}

std::string last_of(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  const PastCall* const last = rank.last();
  if (last == nullptr) return "it has made no call";
  const double age_s = job.age_s(communicator, *last);
  return fmt::format("its last call was {}{}", describe(last->record),
                     age_s < 0 ? "" : fmt::format(", {:.1f} s ago", age_s));
}

std::string text_of_far(const Job& job, const Waiting& waiting, const Late& late) {
  const Wait& wait = *waiting.wait;
  std::string who = fmt::format("rank {}", late.number);
  std::string told;
  if (late.rank != nullptr) who = job.name_of(*waiting.communicator, *late.rank);
  if (wait.host[0] != '\0' && wait.awaited[0] == late.number) {
    if (late.rank == nullptr) who += fmt::format(" (pid {} on {})", wait.pid, wait.host);
    if (wait.kind == WaitKind::kCall && wait.has_told != 0) {
      told = "; the last call that it has told of was " +
             (wait.last.sequence == 0 ? std::string("none") : describe(wait.last));
    }
  }
  const std::string how =
      late.rank == nullptr
          ? "on another host"
          : fmt::format(
                "does not answer, and has not been heard of for {:.1f} s: it may be "
                "stopped or cut off; it",
                late.rank->silent_s);
  return fmt::format("{} {} is awaited by {} in {} of \"{}\"{}", who, how,
                     job.name_of(*waiting.communicator, *waiting.rank), describe(wait),
                     waiting.communicator->snapshot.name, told + unexpected_by(wait));
}

std::string advice_for_far(const Waiting& waiting, const Late& late) {
  const Wait& wait = *waiting.wait;
  if (late.rank != nullptr) {
    return fmt::format("on {}: tutti why {}", late.rank->host, late.rank->pid);
  }
  if (wait.host[0] == '\0') return "run tutti why on the other hosts";
  return fmt::format("on {}: tutti why {}", wait.host, wait.pid);
}

bool is_replaced(const RankSnapshot& rank) {
  const ProcessState state = rank.host.empty() ? process_state(rank.pid) : ProcessState();
  // In another namespace of processes the number may be somebody else's.
  return state.letter != 0 && !state.dead() && state.started == rank.started;
}

std::string what_became_of(const RankSnapshot& rank) {
  if (is_replaced(rank)) {
    return fmt::format("runs another program now ({})", program_of(rank.pid));
  }
  return "is dead, or not to be seen from here";
}

}  // namespace tutti::inspect
