// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The slow parts of the log: looks at more than one entry, and departures.
#include "exec/call_log.hpp"

namespace tutti {

CallLog::CallLog(int rank, std::span<const LaneMemory::Rank> ranks, bool oversubscribed)
    : rank_(rank),
      line_mask_((oversubscribed ? kCallLines : kFewCallLines) - 1),
      ranks_(ranks),
      entered_(ranks.size(), 0),
      ticks_(ranks.size(), 0) {}

// Looks for more calls than it must, lest each of the next has to.
bool CallLog::look_further(bool only_reads) {
  const bool further = all_entered(later(begins_after_, call_ - 1 - most_ahead() / 2));
  if (!further) return fault_ == Fault::kNone && all_entered(begins_after_);
  // No peer looks at the lines of the calls that this one may be followed by without a further
  // look. A rank that never waits hides the latency of none of its stores, so it takes some lines
  // early. Not beside slots: it would make peers slower that wait for their lines.
  constexpr uint32_t kTakenAhead = 3;
  if (only_reads) {
    for (uint32_t i = 1; i <= kTakenAhead; ++i) prefetch_to_write(&line_of(rank_, call_ + i));
  }
  return true;
}

bool CallLog::all_entered(uint32_t call) {
  for (int peer = 0; peer < static_cast<int>(ranks_.size()); ++peer) {
    if (peer == rank_ || knows_entry(peer, call)) continue;
    if (look_at(peer, call) != Look::kIsThere) return false;
  }
  entered_by_all_ = call;
  return true;
}

CallLog::Look CallLog::keep(Fault fault, int peer, uint32_t call) {
  fault_ = fault;
  faulty_peer_ = peer;
  faulty_call_ = call;
  return Look::kFault;
}

// The peer was not in the call. If it has left, the last call that it made may have been another.
CallLog::Look CallLog::look_whether_left(int peer, uint32_t call) {
  if (!has_left(peer)) return Look::kNotYet;
  // The entries that it made before it left are visible now.
  if (reached(line_of(peer, call).entry.load(std::memory_order_relaxed).call, call)) {
    return Look::kNotYet;
  }
  (void)look_at_last_calls(peer);
  return fault_ == Fault::kDiffers ? Look::kFault : keep(Fault::kLeft, peer, call);
}

CallLog::Look CallLog::look_at_last_calls(int peer) {
  const bool left = has_left(peer);  // if so, all that it did before is to be seen now
  for (uint32_t call = call_; call != entered_by_all_; --call) {
    const CallEntry entry = line_of(peer, call).entry.load(std::memory_order_acquire);
    if (entry.call != call) continue;
    if (entry.chain == chains_[call % kCallLines]) break;
    return keep(Fault::kDiffers, peer, call);
  }
  if (!left && entered_by_all_ == call_) return Look::kIsThere;
  const uint32_t last = last_call_of(peer);
  if (left && last != call_) return keep(Fault::kLeft, peer, last);
  return reached(last, call_) ? Look::kIsThere : Look::kNotYet;
}

uint32_t CallLog::last_call_of(int peer) const {
  uint32_t last = 0;
  for (uint32_t i = 0; i <= line_mask_; ++i) {
    const CallEntry entry = line_of(peer, i).entry.load(std::memory_order_acquire);
    if (entry.call != 0) last = later(entry.call, last);
  }
  return last;
}

}  // namespace tutti
