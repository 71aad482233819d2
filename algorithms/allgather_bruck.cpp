// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Bruck's allgather (Bruck et al., IEEE TPDS 1997), with a radix r for each phase (radices.hpp): a
// rank that has d blocks gets up to d from each of those d, 2d, ..., (r-1)d after it. Any number of
// ranks; blocks of at most 64 KiB. T = (sum of r)/2 alpha + (p-1)n beta, blocks of n, and a copy of
// all into place. It has the fewest phases, so it suits short blocks. With longer ones all wait for
// whole messages, so a ring is faster.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/radices.hpp"

namespace tutti {
namespace {

// The blocks that a phase gets with its message i; the last may be of fewer.
int blocks_of_message(const Problem& q, int reached, int i) {
  return std::min(reached, q.ranks - i * reached);
}

double seconds(const Problem& q, const Machine& m) {
  double starts = 0;
  for_each_phase(q.ranks, [&](int reached, int messages) {
    const uint64_t bytes = packed_at(q, blocks_of_message(q, reached, 1));
    starts +=
        messages_s(messages, bytes, m) - messages * static_cast<double>(bytes) * m.message_byte_s;
  });
  return starts + static_cast<double>(others_blocks_bytes(q)) * m.message_byte_s +
         2 * buffers_s(q, m) + q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  // Block i of these is that of the rank i after this one.
  const Ref blocks = b.scratch(all_blocks_bytes(q));
  b.copy(blocks, send_at(0), q.bytes());
  for_each_phase(q.ranks, [&](int reached, int messages) {
    for (int i = 1; i <= messages; ++i) {
      b.send(rank_after(q, -i * reached), blocks, packed_at(q, blocks_of_message(q, reached, i)));
    }
    for (int i = 1; i <= messages; ++i) {
      b.recv(rank_after(q, i * reached), blocks.plus(packed_at(q, i * reached)),
             packed_at(q, blocks_of_message(q, reached, i)));
    }
  });
  copy_own_block(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    b.copy(recv_at(block_at(q, rank_after(q, i))), blocks.plus(packed_at(q, i)), q.bytes());
  }
}

}  // namespace

const Algorithm allgather_bruck = {.name = "bruck",
                                   .summary = "messages in about log2(ranks) phases",
                                   .collective = Collective::kAllgather,
                                   .rank_order = true,
                                   .applies = blocks_are_short,
                                   .seconds = seconds,
                                   .build = build};

}  // namespace tutti
