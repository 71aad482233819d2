// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms share where a rank knows the sizes of its own blocks only. Which way a block goes
// depends on nothing but its size, so that giver and taker agree wherever they agree on that, and
// the head of each block tells the taker whether they do (sched/schedule.hpp). Short blocks lie
// behind their heads in the slot, both ways with one exchange between the ranks. Long ones are
// pulled; where ranks cannot, they go as messages.
#pragma once

#include <vector>

#include "algorithms/pull.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {

// The longest block that is short, with its head: a pull's start costs as much as copying twice.
inline constexpr uint64_t kShortBytes = 8 << 10;

// In its slot, a rank has an area for each that may take a block from it, each of this size.
inline int areas_of(const Problem& q) {
  const bool one_taker = blocks_of(q.collective, true).send == Blocks::kOne;
  return one_taker ? 1 : std::max(1, q.ranks - 1);
}
inline uint64_t area_bytes(const Problem& q) {
  return std::min(q.limits.slot_bytes / static_cast<uint64_t>(areas_of(q)) / 64 * 64, kShortBytes);
}
inline bool is_short(const Problem& q, uint64_t bytes) {
  return bytes <= area_bytes(q) - sizeof(BlockHead);
}

inline Applies has_areas(const Problem& q) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (area_bytes(q) == 0) return {false, "a slot lacks room for so many ranks"};
  return {};
}

// This rank's part: gives its blocks, enters, takes those of others, ends.
class ShownBlocks {
 public:
  ShownBlocks(const Problem& q, Builder& b) : q_(q), b_(b), pulls_(q.limits.pulls) {
    b.use_of_slots(area_bytes(q) * static_cast<uint64_t>(areas_of(q)));
    if (pulls_) b.ticks(2);
  }

  void give(int taker, const Range& block) {
    const Ref head = head_of(q_.rank, taker);
    const Ref at = block.bytes > 0 ? at_send(block) : send_at(0);
    b_.show(head, at, block.bytes);
    if (!is_short(q_, block.bytes)) return long_.push_back({taker, block});
    b_.copy(behind(head), at, block.bytes);
  }

  void enter() {
    if (pulls_ && !long_.empty()) return b_.show_buffers();
    b_.publish(1);
    for (const Given& given : long_) b_.send(given.taker, at_send(given.block), given.block.bytes);
  }

  // Of a giver that has entered.
  void take(int giver, const Range& block) {
    const Ref head = head_of(giver, q_.rank);
    b_.expect(head, block.bytes);
    if (is_short(q_, block.bytes)) return b_.copy(at_recv(block), behind(head), block.bytes);
    if (!pulls_) return b_.recv(giver, at_recv(block), block.bytes);
    b_.pull_shown(at_recv(block), head, block.bytes);
    has_pulled_ = true;
  }

  void end() {
    if (has_pulled_) b_.publish(2);
    if (!pulls_) return;
    for (const Given& given : long_) b_.await(given.taker, 2);
  }

 private:
  struct Given {
    int taker;
    Range block;
  };

  [[nodiscard]] Ref head_of(int giver, int taker) const {
    const int area = areas_of(q_) == 1 ? 0 : taker - (taker > giver ? 1 : 0);
    return Ref::of(Space::kSlot, area_bytes(q_) * static_cast<uint64_t>(area), giver);
  }
  static Ref behind(const Ref& head) { return head.plus(sizeof(BlockHead)); }

  const Problem& q_;
  Builder& b_;
  const bool pulls_;
  std::vector<Given> long_;  // blocks given
  bool has_pulled_ = false;
};

// The time until one rank has what `givers` give it, and all that pull from it have done so.
inline double take_s(const Problem& q, int givers, const Machine& m) {
  if (is_short(q, q.bytes())) {
    return sync_s(q, m) + fetch_s(static_cast<uint64_t>(givers) * (q.bytes() + 64), m);
  }
  if (!q.limits.pulls) return sync_s(q, m) + givers * message_s(q.bytes(), m);
  return 2 * sync_s(q, m) + givers * (m.line_next_s + pull_s(q, q.bytes(), m));
}

// Before that: the heads, and what lies behind them.
inline double give_s(const Problem& q, int takers, const Machine& m) {
  const uint64_t behind = is_short(q, q.bytes()) ? q.bytes() : 0;
  return stage_s(static_cast<uint64_t>(takers) * (behind + 64), m);
}

}  // namespace tutti
