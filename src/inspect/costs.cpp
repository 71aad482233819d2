// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/median.hpp"
#include "inspect/trace.hpp"

namespace tutti::inspect {
namespace {

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

// When the rank left the call before; 0: not known.
int64_t left_before_ns(const RankSnapshot& rank, uint64_t sequence, const StampClock& clock) {
  const PastCall* const before = rank.call(sequence - 1);
  return before == nullptr || before->ended == 0 ? 0 : clock.real_ns(before->ended);
}

void add_call(const Entered& entered, int64_t left_before_ns, Costs& costs) {
  const size_t place = entered.last();
  const int64_t last_ns = entered.ns[place];
  std::vector<int64_t> others = entered.ns;
  others.erase(others.begin() + static_cast<ptrdiff_t>(place));
  Lateness& late = costs.ranks[place];
  if (late.calls++ == 0) late.since_ns = last_ns;
  const int64_t usual_ns = upper_median(std::move(others));
  late.late_ns += last_ns - usual_ns;
  late.inside_ns += std::clamp<int64_t>(left_before_ns - usual_ns, 0, last_ns - usual_ns);
}

bool is_of(const Demand& demand, const CallRecord& record) {
  return demand.call.collective == record.collective && demand.call.type == record.type &&
         demand.call.count == record.count;
}

// How long a rank is in a call.
double nanoseconds_in_call(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank,
                           uint64_t sequence, const StampClock& clock, int64_t now_ns) {
  const auto call = static_cast<size_t>(rank.call(sequence) - rank.past.data());
  const CallSpan span = span_of(snapshot, rank, call, clock, now_ns);
  return static_cast<double>(span.end_ns - span.begin_ns);
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

// The demand that rank 0 has noted; null: none, or rank 0 is on another host.
const Demand* demand_of(const CommunicatorSnapshot& snapshot) {
  const RankSnapshot* const first = snapshot.find(0);
  return first == nullptr || !first->demand ? nullptr : &*first->demand;
}

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
      add_call(entered, left_before_ns(snapshot.ranks[last], sequence, clock), costs);
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

}  // namespace tutti::inspect
