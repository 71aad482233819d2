// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Bruck's allgather (Bruck et al., IEEE TPDS 1997): in round k a rank gets up to 2^k blocks from
// the rank 2^k after it. Any number of ranks; blocks of at most 64 KiB. T = ceil(log2 p) alpha +
// (p-1)n beta, blocks of n, and a copy of all into place: fewest rounds, so it suits short blocks.
// With longer ones all wait for whole messages, so a ring is faster (docs/notes/15).
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  double starts = 0;
  for (int have = 1; have < q.ranks; have *= 2) {
    starts += start_s(packed_at(q, std::min(have, q.ranks - have)), m);
  }
  return starts + static_cast<double>(others) * m.message_byte_s + 2 * buffers_s(q, m) +
         q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  // Block i of these is that of the rank i after this one.
  const Ref blocks = b.scratch(all_blocks_bytes(q));
  b.copy(blocks, send_at(0), q.bytes());
  for (int have = 1; have < q.ranks; have *= 2) {
    const uint64_t bytes = packed_at(q, std::min(have, q.ranks - have));
    b.send(rank_after(q, -have), blocks, bytes);
    b.recv(rank_after(q, have), blocks.plus(packed_at(q, have)), bytes);
  }
  copy_own_block(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    b.copy(recv_at(block_at(q, rank_after(q, i))), blocks.plus(packed_at(q, i)), q.bytes());
  }
}

}  // namespace

const Algorithm allgather_bruck = {.name = "bruck",
                                   .summary = "messages in log2(ranks) rounds",
                                   .collective = Collective::kAllgather,
                                   .rank_order = true,
                                   .applies = blocks_are_short,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
