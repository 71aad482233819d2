// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allgather over a Bine butterfly (butterfly.hpp; De Sensi et al., SC 2025), on a power of two
// ranks and with blocks of at most 64 KiB: far partners exchange the first blocks, and neighbours
// the most. T = log2(p) alpha + (p-1)n beta, blocks of n, and a copy of all into place.
#include "algorithms/butterfly.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies power = is_power_of_two(q); !power.yes) return power;
  return blocks_are_short(q);
}

double seconds(const Problem& q, const Machine& m) {
  return halves_s(all_blocks_bytes(q), q.ranks, m) + 2 * buffers_s(q, m) + q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const Butterfly butterfly = Butterfly::bine(q.rank, q.ranks);
  const Ref blocks = b.scratch(all_blocks_bytes(q));  // in the order of places
  b.copy(blocks.plus(packed_at(q, butterfly.place)), send_at(0), q.bytes());
  for (int round = butterfly.rounds() - 1; round >= 0; --round) {
    const uint64_t bytes = packed_at(q, butterfly.half(round));
    const int partner = butterfly.partner(round);
    b.send(partner, blocks.plus(packed_at(q, butterfly.first_kept(round))), bytes);
    b.recv(partner, blocks.plus(packed_at(q, butterfly.first_given(round))), bytes);
  }
  copy_own_block(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    const int rank = rank_after(q, i);
    const Ref place = blocks.plus(packed_at(q, bine_place(rank, q.ranks)));
    b.copy(recv_at(block_at(q, rank)), place, q.bytes());
  }
}

}  // namespace

const Algorithm allgather_bine = {
    .name = "bine",
    .summary = "messages of one block far away, then of 2, 4, ..., the longest to neighbours",
    .collective = Collective::kAllgather,
    .rank_order = true,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
