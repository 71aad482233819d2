// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lane that programs run (exec/lane.hpp), of components that tell a witness what it waits for
// and what it touches. A rule may be left out, to see that the witness finds what follows.
#pragma once

#include "exec/lane.hpp"
#include "proof/watched_engine.hpp"
#include "proof/witness.hpp"
#include "support/ending_endpoint.hpp"

namespace tutti {

enum class Omission : uint8_t {
  kNothing,
  kFlowControl,  // calls begin at once
  kOneCall,      // or when all peers have entered the call before the one that counts
  kSlotReuse,    // nobody waits for those that may still read a slot
  kSwap,         // ping-pong slots stay with their ranks
  kTicks,        // nothing is known from ticks after the entry
};

class WatchedLog : public CallLog {
 public:
  WatchedLog(int rank, std::span<const LaneMemory::Rank> ranks, bool oversubscribed,
             Witness& witness, Omission omission)
      : CallLog(rank, ranks, oversubscribed), rank_(rank), witness_(witness), omission_(omission) {}

  void start(uint32_t signature) {
    CallLog::start(signature);
    witness_.starts(rank_, call());
    needed_ = begins_after();
  }
  void delay_until_entered(uint32_t call) {
    if (omission_ == Omission::kSlotReuse) return;
    CallLog::delay_until_entered(call);
    needed_ = begins_after();
  }
  // What the log waits for beyond what this call needs, if it has to wait at all, is for later
  // calls.
  bool may_begin(bool only_reads) {
    if (omission_ == Omission::kFlowControl) return true;
    if (!CallLog::may_begin(only_reads)) return false;
    const uint32_t known = omission_ == Omission::kOneCall ? needed_ - 1 : needed_;
    for (int peer = 0; reached(known, 1) && peer < witness_.ranks(); ++peer) {
      witness_.learns(rank_, peer, known, 1);
    }
    return true;
  }
  void enter(const CallRecord& record) {
    witness_.releases(rank_, 1);
    CallLog::enter(record);
  }
  void publish(uint32_t tick) {
    witness_.releases(rank_, tick);
    CallLog::publish(tick);
  }
  bool knows_entry(int peer, uint32_t call) {
    const bool knows = CallLog::knows_entry(peer, call);
    if (knows) witness_.learns(rank_, peer, call, 1);
    return knows;
  }
  Look look_at(int peer, uint32_t call) {
    const Look look = CallLog::look_at(peer, call);
    if (look == Look::kIsThere) witness_.learns(rank_, peer, call, 1);
    return look;
  }
  bool knows_tick(int peer, uint32_t tick) {
    return learn_tick(peer, tick, CallLog::knows_tick(peer, tick));
  }
  bool saw_tick(int peer, uint32_t tick, uint32_t now) {
    return learn_tick(peer, tick, CallLog::saw_tick(peer, tick, now));
  }
  void finish(uint32_t ticks) {
    witness_.ends(rank_);
    CallLog::finish(ticks);
  }

 private:
  bool learn_tick(int peer, uint32_t tick, bool there) {
    if (there && omission_ != Omission::kTicks) witness_.learns(rank_, peer, call(), tick);
    return there;
  }

  const int rank_;
  Witness& witness_;
  const Omission omission_;
  uint32_t needed_ = 0;  // the call that all must have entered before the next may begin
};

class WatchedSlots : public SlotAllocator {
 public:
  WatchedSlots(LaneMemory* memory, bool oversubscribed, Omission omission)
      : SlotAllocator(memory, oversubscribed), omission_(omission) {}
  bool swap() { return omission_ != Omission::kSwap && SlotAllocator::swap(); }

 private:
  const Omission omission_;
};

// Ranks read buffers of one another by it, which have no content.
class WatchedLaneMemory final : public LaneMemory {
 public:
  WatchedLaneMemory(Witness& witness, int rank, LaneMemorySizes sizes)
      : witness_(witness), rank_(rank), sizes_(sizes) {}
  [[nodiscard]] std::span<const Rank> ranks() const override { return witness_.shared(); }
  [[nodiscard]] LaneMemorySizes sizes() const override { return sizes_; }
  Status pull(int peer, void* dst, uint64_t address, uint64_t bytes) override {
    witness_.pulls(rank_, peer, address, bytes);
    witness_.writes(rank_, dst, bytes);
    return {};
  }
  Result<bool> ask_for(int, void*, uint64_t, uint64_t) override {
    return Status(Code::kInternal, "nothing was refused");
  }
  bool serve_fallback_copy() override { return false; }

 private:
  Witness& witness_;
  const int rank_;
  const LaneMemorySizes sizes_;
};

// Of calls that send none.
class NoMessages final : public EndingEndpoint {
  void end(Transfer& transfer) override {
    EndingEndpoint::end(transfer);
    transfer.status = Status(Code::kInternal, "the call sends messages");
  }
};

struct WatchedComponents {
  using Log = WatchedLog;
  using Slots = WatchedSlots;
  using Engine = WatchedEngine;
  Witness& witness;
  int rank;
  Omission omission;

  [[nodiscard]] Log log(int own, std::span<const LaneMemory::Rank> ranks,
                        bool oversubscribed) const {
    return {own, ranks, oversubscribed, witness, omission};
  }
  [[nodiscard]] Slots slots(LaneMemory* memory, bool oversubscribed) const {
    return {memory, oversubscribed, omission};
  }
  [[nodiscard]] Engine engine() const { return {witness, rank}; }
};

using WatchedLane = BasicLane<WatchedComponents>;
extern template class BasicLane<WatchedComponents>;

}  // namespace tutti
