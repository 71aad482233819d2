// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lengths of a rank's slots in bytes. They are made once of TUTTI_SHM_SLOT_BYTES and the number
// of ranks of a host, then passed on.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti {

struct SlotPlan {
  // The longest call whose place moves through a slot from call to call. It moves through half of
  // the slot, so that it does not lie where the last call did. 0: ranks share no memory.
  uint64_t call_bytes = 0;
  // The length of each of a rank's two slots. Longer calls that say so use a slot to its end.
  uint64_t slot_bytes = 0;
  // The length of the slot that two ranks swap; 0: there is none.
  uint64_t ping_pong_bytes = 0;

  // Fewer than eight ranks have longer slots, which together take as much memory as those of eight.
  // Calls then move further than a second-level cache reaches. A line that a peer has read comes
  // back from the third level, faster than from that peer's cache
  // (docs/notes/12-lines-of-small-calls.md).
  static constexpr SlotPlan of(uint64_t setting, int ranks) {
    const int few = std::clamp(ranks, 2, 8);
    const uint64_t slot = 2 * setting * static_cast<uint64_t>(8 / few);
    return {.call_bytes = slot / 4,
            .slot_bytes = slot,
            .ping_pong_bytes = ranks == 2 ? 8 * setting : 0};
  }

  [[nodiscard]] constexpr bool shared() const { return call_bytes > 0; }
  // The longest call by slots in any way, where a schedule says how far it uses them.
  [[nodiscard]] constexpr uint64_t longest_bytes() const {
    return std::max(call_bytes, slot_bytes);
  }
  // The longest call through slots that are swapped if there are two ranks.
  [[nodiscard]] constexpr uint64_t swapped_bytes(int ranks) const {
    return ranks == 2 ? std::max(call_bytes, ping_pong_bytes) : call_bytes;
  }
  // How many bytes of a rank's slots calls move through.
  [[nodiscard]] constexpr uint64_t moved_through_bytes() const {
    return uint64_t{2} * 2 * call_bytes;
  }
};

}  // namespace tutti
