// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms that stage all data at once. `one_shot` stages it in a slot, `inline`
// in the call line that announces the call. The latter is the one-line exchange of XHC (Katevenis
// et al., CLUSTER 2022). One template over the space builds the schedules of both. Only their costs
// differ in form: data in a line costs no more than the exchange of lines.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {

// Whether `bytes` that a rank stages fit. If all ranks stage them, two may swap their slots.
template <Space space>
Applies fits_one_shot(const Problem& q, uint64_t bytes) {
  if (space == Space::kLine) return fits_line(q, bytes);
  return has_root(q.collective) ? fits_slot(q, bytes) : fits_ping_pong_slot(q, bytes);
}
// Whether one block fits, and blocks for all others.
template <Space space>
Applies block_fits(const Problem& q) {
  return fits_one_shot<space>(q, q.bytes());
}
template <Space space>
Applies others_blocks_fit(const Problem& q) {
  return fits_one_shot<space>(q, others_blocks_bytes(q));
}

// Claims what all ranks stage.
template <Space space>
void claim_staging(Builder& b, uint64_t bytes) {
  if (space == Space::kSlot) b.use_ping_pong_slots(bytes);
}

// Whether the receive buffer is written past the caches: never with what comes in lines.
template <Space space>
bool stores_non_temporal_from(const Problem& q, uint64_t bytes) {
  return space == Space::kSlot && stores_non_temporal(q, bytes);
}

}  // namespace tutti
