// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Circulant reduce-scatter (Traeff, arXiv 2410.14234). Any number of ranks; the operation must
// commute. T = ceil(log2 p) alpha + (p-1)n beta + (p-1)n gamma, blocks of n. It is optimal in
// bandwidth and in rounds. It needs private memory for all blocks, of which there is 8 MiB, so it
// suits short and middle sizes.
#include "algorithms/circulant.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t moved = others_blocks_bytes(q);
  return circulant_starts_s(q, q.bytes(), m) + static_cast<double>(moved) * m.message_byte_s +
         combine_s(2 * moved, m) + 2 * buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Ref data = b.scratch(all_blocks_bytes(q));
  // This rank's block first, so that the blocks of each round lie together.
  if (q.stride == q.count) {
    const uint64_t before = packed_at(q, q.rank);
    const uint64_t rest = all_blocks_bytes(q) - before;
    b.copy(data, send_at(before), rest);
    if (before > 0) b.copy(data.plus(rest), send_at(0), before);
  } else {
    for (int i = 0; i < q.ranks; ++i) {
      const int block = (q.rank + i) % q.ranks;
      b.copy(data.plus(packed_at(q, i)), send_at(block_at(q, block)), q.bytes());
    }
  }
  const auto offset_of = [&](int block) { return packed_at(q, block); };
  Circulant(q, b, data, q.rank, offset_of).reduce_scatter(recv_at(0));
}

}  // namespace

const Algorithm reduce_scatter_circulant = {.name = "circulant",
                                            .summary = "messages in log2(ranks) rounds",
                                            .collective = Collective::kReduceScatter,
                                            .rank_order = false,
                                            .applies = blocks_fit_private_memory,
                                            .seconds = seconds,
                                            .build = build};

}  // namespace tutti
