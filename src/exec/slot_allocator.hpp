// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The place of each call in the slots of a lane. Every rank has two copies of its slot; calls
// alternate between them and move along them. All ranks come to the same places, from the calls'
// arguments alone. One thread at a time.
//
// Calls move along because a core writes lines that lie in its own second-level cache faster than
// lines that a peer has just read (docs/notes/12-lines-of-small-calls.md). Tiny calls move through
// 2 KiB only, which the first-level cache holds.
#pragma once

#include <array>
#include <cstdint>

#include "core/status.hpp"
#include "exec/call_log.hpp"
#include "transports/transport.hpp"

namespace tutti {

class SlotAllocator {
 public:
  // How calls of one size class move along.
  struct SizeClass {
    size_t index;   // index of the class
    uint64_t room;  // bytes of each copy
  };

  // `memory` may be null: then nothing may be asked for.
  SlotAllocator(LaneMemory* memory, bool oversubscribed);

  [[nodiscard]] SizeClass size_class_of(uint64_t extent) const;
  // Whether memory is needed that is not mapped or, for what this rank writes, not reserved yet.
  [[nodiscard]] bool must_grow(const SizeClass& size_class, bool writes) const {
    return size_class.room > used_ || (writes && size_class.room > reserved_);
  }
  Status grow(const SizeClass& size_class, bool writes, uint32_t call);

  // The offset of the call's slot in copy `call & 1`. Calls that use slots ask for it in their
  // order.
  uint64_t place(uint32_t call, uint64_t extent, const SizeClass& size_class);
  // The call that all peers must have entered before this rank writes its slot, after place().
  [[nodiscard]] uint32_t begins_after(const CallLog& log, uint64_t extent,
                                      const SizeClass& size_class, uint64_t at);
  // The place of the next call like this one.
  [[nodiscard]] uint64_t next_place(uint64_t extent, const SizeClass& size_class) const {
    const uint64_t next = next_[size_class.index];
    return next + extent <= size_class.room ? next : 0;
  }

  // Begins a call with ping-pong slots (sched/schedule.hpp), which the two ranks swap from call to
  // call: each writes next what it has read last, which its caches have. Returns whether they use
  // each other's in it.
  bool swap() { return swapped_ = !swapped_; }
  [[nodiscard]] bool must_grow_ping_pong(uint64_t extent) const {
    return extent > ping_pong_reserved_;
  }
  Status grow_ping_pong(uint64_t extent);

  // Whether calls use slots whose memory has just been made, so that times say nothing.
  [[nodiscard]] bool is_new(uint32_t call) const { return call - new_from_ < 2; }

 private:
  static constexpr size_t kClasses = 4;
  // The part of this rank's slot that a call writes.
  struct Use {
    uint32_t call;
    uint64_t begin;
    uint64_t end;
  };

  [[nodiscard]] uint32_t last_use(const CallLog& log, uint64_t begin, uint64_t end) const;

  LaneMemory* const memory_;
  const bool oversubscribed_;
  const uint64_t slot_bytes_;                // bytes of each copy
  std::array<uint64_t, kClasses> next_{};    // where the next call's part begins, by class
  std::array<uint32_t, kClasses> placed_{};  // calls of that class so far, at most kManyCalls
  uint64_t used_ = 0;                        // bytes of each copy that calls have used so far
  uint64_t reserved_ = 0;     // bytes of each of this rank's copies that are reserved
  uint32_t new_from_ = 0;     // the call that used more of them than any before
  uint64_t last_extent_ = 0;  // extent of the last call that was placed
  uint64_t last_room_ = 0;    // room through which the last call moved
  uint32_t last_call_ = 0;    // number of the last call that was placed
  uint32_t alike_from_ = 0;   // first of the calls in a row that moved alike
  uint64_t ping_pong_reserved_ = 0;
  bool swapped_ = false;                // whether the ping-pong slots are swapped
  std::array<Use, kCallLines> uses_{};  // one for each call line
};

}  // namespace tutti
