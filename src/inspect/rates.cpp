// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/rates.hpp"

#include <algorithm>
#include <map>

#include "core/types.hpp"
#include "inspect/trace.hpp"

namespace tutti::inspect {
namespace {

double bytes_of(const CallRecord& record) {
  if (record.type >= kDataTypes) return 0;
  return static_cast<double>(record.count) *
         static_cast<double>(type_size(static_cast<DataType>(record.type)));
}

// Who entered a call last, and when; null if that is not known of all.
const RankSnapshot* last_to_enter(const CommunicatorSnapshot& snapshot, uint64_t sequence,
                                  uint64_t& begun) {
  const RankSnapshot* last = nullptr;
  begun = 0;
  for (const RankSnapshot& rank : snapshot.ranks) {
    const PastCall* const call = rank.call(sequence);
    if (call == nullptr || call->begun == 0) return nullptr;
    if (call->begun < begun) continue;
    begun = call->begun;
    last = &rank;
  }
  return last;
}

// The calls since the first look of which stamps are known.
class RecentCalls {
 public:
  RecentCalls(const CommunicatorSnapshot& snapshot, const RankSnapshot& rank, double seconds,
              const Job& job)
      : view_(snapshot), rank_(rank), clock_(snapshot.made, job.now), now_ns_(job.now.real_ns) {
    const auto since_ns = now_ns_ - static_cast<int64_t>(seconds * 1e9);
    for (size_t i = 0; i < rank.past.size(); ++i) {
      if (rank.past[i].begun == 0) continue;
      const CallSpan span = span_of(snapshot, rank, i, clock_, now_ns_);
      if (span.end_ns >= since_ns) add(i, span, since_ns);
    }
  }

  void give(RankRates& rates) const {
    if (calls_ == 0 || now_ns_ <= first_ns_) return;
    const auto whole = static_cast<double>(now_ns_ - first_ns_);
    rates.in_calls = std::clamp(in_calls_ns_ / whole, 0.0, 1.0);
    rates.waiting = std::clamp(waiting_ns_ / whole, 0.0, 1.0);
    rates.last_in = static_cast<double>(last_in_) / calls_;
    rates.bytes_per_s = rates.calls_per_s * bytes_ / calls_;
    const auto most =
        std::ranges::max_element(waited_for_, {}, [](const auto& w) { return w.second; });
    if (most != waited_for_.end() && most->second > 0) rates.awaits = most->first;
  }

 private:
  void add(size_t index, const CallSpan& span, int64_t since_ns) {
    const PastCall& call = rank_.past[index];
    const int64_t begin_ns = std::max(span.begin_ns, since_ns);
    if (calls_++ == 0) first_ns_ = begin_ns;
    bytes_ += bytes_of(call.record);
    in_calls_ns_ += static_cast<double>(std::max<int64_t>(span.end_ns - begin_ns, 0));
    uint64_t begun = 0;
    const RankSnapshot* const last = last_to_enter(view_, call.record.sequence, begun);
    if (last == &rank_) ++last_in_;
    if (last == &rank_ || (last == nullptr && span.end != CallSpan::End::kOpen)) return;
    // A call that is open is waited for until now.
    const int64_t until_ns = last == nullptr ? now_ns_ : clock_.real_ns(begun);
    const auto waited = static_cast<double>(std::max<int64_t>(until_ns - begin_ns, 0));
    waiting_ns_ += waited;
    if (last != nullptr) {
      waited_for_[last->rank] += waited;
    } else {
      blame_late(call.record.sequence, waited);
    }
  }
  void blame_late(uint64_t sequence, double waited) {
    for (const RankSnapshot& peer : view_.ranks) {
      if (peer.last_sequence() < sequence) waited_for_[peer.rank] += waited;
    }
  }

  const CommunicatorSnapshot& view_;
  const RankSnapshot& rank_;
  const StampClock clock_;
  const int64_t now_ns_;
  int64_t first_ns_ = 0;
  double in_calls_ns_ = 0;
  double waiting_ns_ = 0;
  double bytes_ = 0;
  int calls_ = 0;
  int last_in_ = 0;
  std::map<int, double> waited_for_;  // ns, by rank
};

}  // namespace

std::vector<RankRates> rates_of(const CommunicatorSnapshot& before, const CommunicatorSnapshot& now,
                                double seconds, const Job& job) {
  std::vector<RankRates> all;
  for (const RankSnapshot& rank : now.ranks) {
    RankRates rates{.rank = rank.rank, .calls = rank.last_sequence()};
    const RankSnapshot* const earlier = before.find(rank.rank);
    if (earlier != nullptr && seconds > 0 && rates.calls >= earlier->last_sequence()) {
      rates.calls_per_s = static_cast<double>(rates.calls - earlier->last_sequence()) / seconds;
    }
    RecentCalls(now, rank, seconds, job).give(rates);
    for (const Wait& wait : rank.waits)
      rates.waits_now_s = std::max(rates.waits_now_s, job.age_s(wait));
    all.push_back(rates);
  }
  return all;
}

const RankRates* slowest_of(const std::vector<RankRates>& rates) {
  std::map<int, double> blamed;
  for (const RankRates& one : rates) {
    if (one.awaits >= 0) blamed[one.awaits] += one.waiting;
  }
  const auto most = std::ranges::max_element(blamed, {}, [](const auto& b) { return b.second; });
  if (most == blamed.end()) return nullptr;
  const auto found = std::ranges::find(rates, most->first, &RankRates::rank);
  return found == rates.end() ? nullptr : &*found;
}

}  // namespace tutti::inspect
