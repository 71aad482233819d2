// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/blame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/call.hpp"
#include "exec/lateness.hpp"

namespace tutti::inspect {

std::vector<Waiting> all_waits(const Job& job) {
  std::vector<Waiting> all;
  for (const Communicator& communicator : job.communicators) {
    if (!communicator.status.ok()) continue;
    for (const RankView& rank : communicator.view.ranks) {
      for (const Wait& wait : rank.waits) all.push_back({&communicator, &rank, &wait});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Waiting& one) { return one.wait->since_ms; });
  return all;
}

std::optional<Waiting> wait_of(const Job& job, int pid) {
  for (const Waiting& one : all_waits(job)) {
    const Process* const process = job.process_of(*one.communicator, one.rank->place);
    if (process != nullptr && process->pid == pid && one.wait->started == 0) return one;
  }
  return std::nullopt;
}

namespace {

// Of the ranks of this host: those that have not made the call, or another one.
std::vector<Late> late_for_call(const Waiting& waiting) {
  std::vector<Late> late;
  const CallRecord& record = waiting.wait->record;
  for (const RankView& peer : waiting.communicator->view.ranks) {
    if (&peer == waiting.rank) continue;
    if (peer.last_sequence() < record.sequence) {
      late.push_back({peer.left ? Late::Why::kLeft : Late::Why::kNotEntered, &peer, peer.rank});
    } else if (const PastCall* call = peer.call(record.sequence);
               call != nullptr && differ(call->record, record)) {
      late.push_back({Late::Why::kOther, &peer, peer.rank});
    }
  }
  return late;
}

Late of_number(const Waiting& waiting, int number, Late::Why if_here) {
  const RankView* const peer = waiting.communicator->view.find(number);
  if (peer == nullptr) return {Late::Why::kElsewhere, nullptr, number};
  return {peer->left ? Late::Why::kLeft : if_here, peer, number};
}

}  // namespace

std::vector<Late> whom_it_awaits(const Waiting& waiting) {
  const Wait& wait = *waiting.wait;
  if (wait.kind == WaitKind::kCall) {
    std::vector<Late> late = late_for_call(waiting);
    for (const int number : wait.awaited) {
      if (!late.empty() || number < 0) break;
      if (number != waiting.rank->rank) {
        late.push_back(of_number(waiting, number, Late::Why::kInside));
      }
    }
    return late;
  }
  if (wait.record.root >= 0) {
    return {of_number(waiting, wait.record.root, Late::Why::kMessage)};
  }
  std::vector<Late> late;
  for (const RankView& peer : waiting.communicator->view.ranks) {
    if (&peer != waiting.rank) late.push_back({Late::Why::kMessage, &peer, peer.rank});
  }
  return late;
}

std::string last_of(const Job& job, const Communicator& communicator, const RankView& rank) {
  const PastCall* const last = rank.last();
  if (last == nullptr) return "it has made no call";
  const double age_s = job.age_s(communicator, *last);
  return fmt::format("its last call was {}{}", describe(last->record),
                     age_s < 0 ? "" : fmt::format(", {:.1f} s ago", age_s));
}

std::string text_of_far(const Job& job, const Waiting& waiting, int number) {
  const Wait& wait = *waiting.wait;
  std::string who = fmt::format("rank {}", number);
  std::string told;
  if (wait.host[0] != '\0' && wait.awaited[0] == number) {
    who += fmt::format(" (pid {} on {})", wait.pid, wait.host);
    told = wait.has_told == 0
               ? "; it has not told of its calls, so it may be stopped or cut off"
               : "; its last call was " +
                     (wait.last.sequence == 0 ? std::string("none") : describe(wait.last));
  }
  return fmt::format("{} on another host is awaited by {} in {} of \"{}\"{}", who,
                     job.name_of(*waiting.communicator, *waiting.rank), describe(wait),
                     waiting.communicator->view.name, told);
}

std::string advice_for_far(const Wait& wait) {
  if (wait.host[0] == '\0') return "run tutti why on the other hosts";
  return fmt::format("run on {}: tutti why {}", wait.host, wait.pid);
}

bool is_python(const Process& process) { return process.program.starts_with("python"); }

}  // namespace tutti::inspect
