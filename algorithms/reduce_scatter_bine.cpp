// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter over a Bine butterfly (butterfly.hpp; De Sensi et al., SC 2025), on a power of two
// ranks. Blocks are copied into the order of places first, so that each half is one message.
// T = log2(p) alpha + (p-1)n beta + (p-1)n gamma, blocks of n, and a copy of all; needs private
// memory for all blocks, as circulant does.
#include "algorithms/butterfly.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  if (const Applies power = is_power_of_two(q); !power.yes) return power;
  return blocks_fit_private_memory(q);
}

double seconds(const Problem& q, const Machine& m) {
  return halves_s(all_blocks_bytes(q), q.ranks, m) + combine_s(2 * others_blocks_bytes(q), m) +
         2 * buffers_s(q, m) + q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  const Butterfly butterfly = Butterfly::bine(q.rank, q.ranks);
  const Ref data = b.scratch(all_blocks_bytes(q));
  for (int rank = 0; rank < q.ranks; ++rank) {
    const Ref place = data.plus(packed_at(q, bine_place(rank, q.ranks)));
    b.copy(place, send_at(block_at(q, rank)), q.bytes());
  }
  const Ref arrived = b.scratch(packed_at(q, q.ranks / 2));
  for (int round = 0; round < butterfly.rounds(); ++round) {
    const uint64_t bytes = packed_at(q, butterfly.half(round));
    const Ref kept = data.plus(packed_at(q, butterfly.first_kept(round)));
    const bool last = round + 1 == butterfly.rounds();
    b.send(butterfly.partner(round), data.plus(packed_at(q, butterfly.first_given(round))), bytes);
    b.recv(butterfly.partner(round), arrived, bytes);
    b.reduce(last ? recv_at(0) : kept, {kept, arrived}, bytes, last);
  }
}

}  // namespace

const Algorithm reduce_scatter_bine = {
    .name = "bine",
    .summary = "messages of halves, quarters, ..., the longest to neighbours",
    .collective = Collective::kReduceScatter,
    .rank_order = false,
    .applies = applies,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
