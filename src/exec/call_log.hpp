// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The log of calls of one lane, over lines in shared memory that each rank writes for its peers. It
// has a rank's entry into each call and its tick. One thread at a time; never waits.
//
// Matching. An entry carries the chain of the signatures of all calls up to it. A rank compares it
// with its own chain when it first sees the entry. So one look tells whether all calls up to there
// were the same.
//
// Flow control. Calls use their lines in turn, and each the slots where SlotAllocator puts it. A
// call may begin when all peers have finished the last call that used the same line or the same
// part of this rank's slot. A peer has finished call n when it has entered call n + 1: it enters in
// order. So a call waits until all have entered a certain earlier call, usually one of long ago. A
// rank may be up to most_ahead() calls ahead of a peer.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/prefetch.hpp"
#include "core/stamp.hpp"
#include "exec/call.hpp"
#include "transports/transport.hpp"

namespace tutti {

// How many of its call lines a lane uses. Few stay in the first-level cache. More lines let a rank
// run further ahead if ranks share cores.
inline constexpr uint32_t kFewCallLines = 16;
static_assert(kCallLines % kFewCallLines == 0 && std::has_single_bit(kCallLines));

// Whether one count, of calls or ticks, is at another or past it. Counts wrap around.
inline bool reached(uint32_t count, uint32_t wanted) {
  return static_cast<int32_t>(count - wanted) >= 0;
}

inline uint32_t later(uint32_t a, uint32_t b) { return reached(a, b) ? a : b; }

class CallLog {
 public:
  // Why a peer's entry will never be right.
  enum class Fault : uint8_t {
    kNone,
    kDiffers,  // the calls up to it are not those of this rank
    kLeft,     // the peer makes no more calls
  };
  enum class Look : uint8_t { kNotYet, kIsThere, kFault };

  // `ranks` are the shared lines by rank, in place while the log lives. None: ranks share no
  // memory, calls are counted only, and of the rest nothing may be used.
  CallLog(int rank, std::span<const LaneMemory::Rank> ranks, bool oversubscribed);

  [[nodiscard]] bool is_shared() const { return !ranks_.empty(); }
  // Counts the next call. It may do nothing yet: see may_begin().
  void start(uint32_t signature) {
    ++call_;
    if (!is_shared()) return;
    chains_[call_ % kCallLines] = chained(chains_[(call_ - 1) % kCallLines], signature);
    begins_after_ = call_ - most_ahead();
  }
  // The call begins when all peers have entered `call`, at the earliest.
  void delay_until_entered(uint32_t call) { begins_after_ = later(begins_after_, call); }
  // Whether all peers have entered so far that the call may begin; if not, see fault().
  // `only_reads`: it writes nothing of its slot.
  bool may_begin(bool only_reads) {
    if (reached(entered_by_all_, begins_after_) || look_further(only_reads)) return true;
    // A wait is for more than this call needs, lest each of the next calls has to wait as well.
    delay_until_entered(call_ - 1 - most_ahead() / 2);
    return false;
  }

  // Makes known that this rank is in the call; what it has written before is seen with that.
  void enter(const CallRecord& record) {
    RecordLine& about = about_call(rank_, call_);
    about.record = record;
    // The payload and the record precede it.
    line_of(rank_, call_).entry.store({call_, chain()}, std::memory_order_release);
    // The stamp comes last: while the rank waits for its peers, it costs no time.
    about.begun.store(stamp_now(), std::memory_order_relaxed);
  }
  // Notes that the call that ran last, which had to wait for long, has ended.
  void note_end() { about_call(rank_, call_).end(); }
  void publish(uint32_t tick) {
    own().progress->tick.store(tick_base_ + tick, std::memory_order_release);
  }
  // Ends the call, in which each rank published `ticks`.
  void finish(uint32_t ticks) { tick_base_ += ticks; }

  // Whether the peer is known to have entered the call, from an earlier look.
  [[nodiscard]] bool knows_entry(int peer, uint32_t call) const {
    return reached(entered_[index(peer)], call);
  }
  // Looks at the peer's entry, which is not yet known. A fault is kept: see fault().
  Look look_at(int peer, uint32_t call) {
    const CallEntry entry = line_of(peer, call).entry.load(std::memory_order_acquire);
    if (!reached(entry.call, call)) {
      waited_in_ = call;
      return look_whether_left(peer, call);
    }
    // The chain of a later call cannot be compared before this rank is in that call.
    if (entry.call == call && entry.chain != chains_[call % kCallLines]) {
      return keep(Fault::kDiffers, peer, call);
    }
    entered_[index(peer)] = call;
    return Look::kIsThere;
  }
  // Notes that all peers were seen to have entered the current call.
  void note_all_entered() { entered_by_all_ = call_; }
  // Whether some look in the current call came too early.
  [[nodiscard]] bool has_waited() const { return waited_in_ == call_; }

  // Whether the peer is known to have published `tick` of the current call: from an earlier look,
  // or from its ticks as now seen.
  [[nodiscard]] bool knows_tick(int peer, uint32_t tick) const {
    return reached(ticks_[index(peer)], tick_base_ + tick);
  }
  bool saw_tick(int peer, uint32_t tick, uint32_t now) {
    ticks_[index(peer)] = now;
    return knows_tick(peer, tick);
  }
  [[nodiscard]] uint32_t seen_tick(int peer) const { return ticks_[index(peer)]; }
  [[nodiscard]] const std::atomic<uint32_t>& tick_of(int peer) const {
    return ranks_[index(peer)].progress->tick;
  }

  // Takes the line that this rank will write when it enters the next call, from the peers that have
  // read it. Done while this call waits, it costs nothing.
  void take_next_line() const { prefetch_to_write(&line_of(rank_, call_ + 1)); }
  void fetch_next_line_of(int peer) const { __builtin_prefetch(&line_of(peer, call_ + 1)); }

  // Whether the peer has made the calls that this rank has, which makes no more. A fault of a peer
  // that has left is its last call: this rank has made more, or fewer.
  Look look_at_last_calls(int peer);

  // The number of the call that runs or ran last, and of the last that all have entered for sure.
  [[nodiscard]] uint32_t call() const { return call_; }
  [[nodiscard]] uint32_t entered_by_all() const { return entered_by_all_; }
  [[nodiscard]] uint32_t begins_after() const { return begins_after_; }
  [[nodiscard]] uint32_t last_seen_entry(int peer) const { return entered_[index(peer)]; }
  // How many calls a rank can be ahead of a peer.
  [[nodiscard]] uint32_t most_ahead() const { return line_mask_; }
  [[nodiscard]] CallLine& line_of(int rank, uint32_t call) const {
    return ranks_[index(rank)].calls[call & line_mask_];
  }
  [[nodiscard]] CallRecord& record_at(int rank, uint32_t call) const {
    return about_call(rank, call).record;
  }
  // The record of a call of a rank, with when it was.
  [[nodiscard]] RecordLine& about_call(int rank, uint32_t call) const {
    return ranks_[index(rank)].records[call % kCallLines];
  }
  // The last call that the peer has entered, by its lines; 0 if none.
  [[nodiscard]] uint32_t last_call_of(int peer) const;

  // The first fault that was found, at whom, in which call.
  [[nodiscard]] Fault fault() const { return fault_; }
  [[nodiscard]] int faulty_peer() const { return faulty_peer_; }
  [[nodiscard]] uint32_t faulty_call() const { return faulty_call_; }

 private:
  static size_t index(int rank) { return static_cast<size_t>(rank); }
  [[nodiscard]] const LaneMemory::Rank& own() const { return ranks_[index(rank_)]; }
  [[nodiscard]] uint32_t chain() const { return chains_[call_ % kCallLines]; }
  [[nodiscard]] bool has_left(int peer) const {
    return ranks_[index(peer)].departure->left.load(std::memory_order_acquire) != 0;
  }
  [[gnu::noinline]] bool look_further(bool only_reads);
  bool all_entered(uint32_t call);
  Look look_whether_left(int peer, uint32_t call);
  Look keep(Fault fault, int peer, uint32_t call);

  const int rank_;
  const uint32_t line_mask_;  // bits of a call's number that choose its line
  const std::span<const LaneMemory::Rank> ranks_;
  uint32_t call_ = 0;
  uint32_t entered_by_all_ = 0;
  uint32_t begins_after_ = 0;
  uint32_t tick_base_ = 0;         // ticks of all calls before this one
  uint32_t waited_in_ = 0;         // the last call in which a peer was not there yet
  std::vector<uint32_t> entered_;  // last call that each peer is known to have entered
  std::vector<uint32_t> ticks_;    // the highest tick seen, by peer
  Fault fault_ = Fault::kNone;
  int faulty_peer_ = -1;
  uint32_t faulty_call_ = 0;
  uint32_t chains_[kCallLines] = {};  // chains of this rank's signatures, by call
};

}  // namespace tutti
