// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Circulant reduce-scatter (Traeff, arXiv 2410.14234). Any number of ranks; the operation must
// commute.
// T = ceil(log2 p) alpha + (p-1)n beta + (p-1)n gamma, blocks of n: optimal in bandwidth and in
// rounds; needs private memory for all blocks, of which there is 8 MiB, so it suits short and
// middle sizes. (On four hosts at 1 Gbit/s, blocks of 2 MiB take as long as around a ring, of 4
// MiB 1.6 times as long.)
#include "algorithms/circulant.hpp"
#include "algorithms/cost.hpp"
#include "core/tuned.hpp"

namespace tutti {
namespace {

Applies applies(const Problem& q) {
  constexpr uint64_t kMostPrivate = tuned::kMostPrivate;
  if (all_blocks_bytes(q) > kMostPrivate) return {false, "over 8 MiB in all"};
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const uint64_t moved = others_blocks_bytes(q);
  return circulant_starts_s(q, q.bytes(), m) + static_cast<double>(moved) * m.message_byte_s +
         combine_s(2 * moved, m) + 2 * buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Ref data = b.scratch(all_blocks_bytes(q));
  if (q.stride == q.count) {
    b.copy(data, send_at(0), all_blocks_bytes(q));
  } else {
    for (int block = 0; block < q.ranks; ++block) {
      b.copy(data.plus(packed_at(q, block)), send_at(block_at(q, block)), q.bytes());
    }
  }
  Circulant(q, b, data, [&](int block) { return packed_at(q, block); }).reduce_scatter(recv_at(0));
}

}  // namespace

const Algorithm reduce_scatter_circulant = {"circulant",
                                            "messages in log2(ranks) rounds",
                                            Collective::kReduceScatter,
                                            false,
                                            applies,
                                            seconds,
                                            build};

}  // namespace tutti
