// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms in which a rank knows the sizes of its own blocks only. The route of a
// block depends on nothing but its size. So sender and receiver agree on it if they agree on the
// size. The head of each block tells the receiver whether they do (sched/schedule.hpp). Heads lie
// in the call line, if that has room for as many as there are receivers, and tiny blocks behind
// them. Short ones lie in the slot. Either way there is one exchange between the ranks. Long ones
// go as messages, which find the fastest route between the two (transports/shm/routes.hpp).
#pragma once

#include <vector>

#include "algorithms/uneven.hpp"

namespace tutti {

// The longest block that is short, with its head. If ranks share cores, a message costs a turn: up
// to a longer block, copying twice is cheaper. But the larger the areas are, the fewer calls a rank
// can be ahead.
inline uint64_t most_short(const Problem& q) {
  return q.limits.oversubscribed ? uint64_t{16} << 10 | 64 : uint64_t{8} << 10;
}

// The size of each area of a rank's slot; there is one for each rank that may take a block from it.
inline int areas_of(const Problem& q) {
  const bool one_taker = blocks_of(q.collective, true).send == Blocks::kOne;
  return one_taker ? 1 : std::max(1, q.ranks - 1);
}
inline uint64_t area_bytes(const Problem& q) {
  return std::min(q.limits.slots.call_bytes / static_cast<uint64_t>(areas_of(q)) / 64 * 64,
                  most_short(q));
}
inline bool is_short(const Problem& q, uint64_t bytes) {
  return bytes <= area_bytes(q) - sizeof(BlockHead);
}
// The size of a rank's room in a line, one for each other rank; less than a head if they are too
// many.
inline uint64_t room_in_line(const Problem& q) {
  return kLineBytes / static_cast<uint64_t>(areas_of(q)) / sizeof(BlockHead) * sizeof(BlockHead);
}

inline Applies has_areas(const Problem& q) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (area_bytes(q) == 0) return {false, "a slot lacks room for so many ranks"};
  return {};
}

// This rank's part: gives its blocks, enters, takes those of others, ends.
class HeadedBlocks {
 public:
  HeadedBlocks(const Problem& q, Builder& b) : q_(q), b_(b) {
    b.use_of_slots(area_bytes(q) * static_cast<uint64_t>(areas_of(q)));
  }

  void give(int receiver, const Range& block) {
    const BlockRefs place(q_, q_.rank, receiver, block.bytes);
    const Ref at = block.bytes > 0 ? at_send(block) : send_at(0);
    b_.write_head(place.head, at, block.bytes);
    if (!is_short(q_, block.bytes)) return long_given_.push_back({receiver, block});
    b_.copy(place.block, at, block.bytes);
  }

  // Ranks that share cores send once all have entered. A message to a rank that has not would wait
  // and cost that rank one more turn.
  void enter() {
    b_.publish(1);
    if (q_.limits.oversubscribed && !long_given_.empty()) b_.await_all(1);
    for (const Block& one : long_given_) b_.send(one.peer, at_send(one.range), one.range.bytes);
  }

  // Takes a block of a sender that has entered.
  void take(int sender, const Range& block) {
    const BlockRefs place(q_, sender, q_.rank, block.bytes);
    b_.expect(place.head, block.bytes);
    if (!is_short(q_, block.bytes)) return long_taken_.push_back({sender, block});
    b_.copy(at_recv(block), place.block, block.bytes);
  }

  // Receives one after another, so that all are under way at once.
  void end() {
    Arrivals arrivals(q_, b_);
    for (const Block& one : long_taken_) {
      b_.recv(one.peer, arrivals.place_for(one.range), one.range.bytes);
    }
    arrivals.land();
  }

 private:
  struct Block {
    int peer;
    Range range;
  };

  // The places of the head of a short block, and of the block.
  struct BlockRefs {
    Ref head;
    Ref block;
    BlockRefs(const Problem& q, int sender, int receiver, uint64_t bytes) {
      const uint64_t area = areas_of(q) == 1 ? 0 : blocks_before(receiver, sender);
      const uint64_t room = room_in_line(q);
      const Ref in_slot = Ref::of(Space::kSlot, area_bytes(q) * area, sender);
      const bool in_line = room >= sizeof(BlockHead);
      head = in_line ? Ref::of(Space::kLine, room * area, sender) : in_slot;
      const bool is_tiny = bytes + sizeof(BlockHead) <= room;
      block = in_line && !is_tiny ? in_slot : head.plus(sizeof(BlockHead));
    }
  };

  const Problem& q_;
  Builder& b_;
  std::vector<Block> long_given_;
  std::vector<Block> long_taken_;
};

// The time until one rank has what `senders` give it.
inline double take_s(const Problem& q, int senders, const Machine& m) {
  if (is_short(q, q.bytes())) {
    return sync_s(q, m) + fetch_s(static_cast<uint64_t>(senders) * (q.bytes() + 64), m);
  }
  return sync_s(q, m) + senders * message_s(q.bytes(), m);
}

// Before that: the heads, and what lies behind them.
inline double give_s(const Problem& q, int receivers, const Machine& m) {
  const uint64_t behind = is_short(q, q.bytes()) ? q.bytes() : 0;
  return stage_s(static_cast<uint64_t>(receivers) * (behind + 64), m);
}

}  // namespace tutti
