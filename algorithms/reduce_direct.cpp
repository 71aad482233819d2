// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Direct reduce: everyone sends its data to the root, which reduces all in rank order, in segments.
// Any number of ranks. It gives the same bits as the algorithms of shared memory. T = (p-1) (alpha
// + n beta) + pn gamma, all of it at the root.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const int segments = std::max(1, parts_of_at_most(q.bytes(), kSegmentBytes));
  return (q.ranks - 1) * (message_s(q.bytes(), m) + (segments - 1) * m.message_s) +
         combine_s(all_blocks_bytes(q), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) {
    for_each_segment({0, q.bytes()}, [&](Range segment) {
      b.send(q.root, send_at(segment.offset), segment.bytes);
    });
    return;
  }
  const uint64_t most = std::min(q.bytes(), kSegmentBytes);
  std::vector<Ref> sources(static_cast<size_t>(q.ranks));
  for (int rank = 0; rank < q.ranks; ++rank) {
    if (rank != q.root) sources[static_cast<size_t>(rank)] = b.scratch(most);
  }
  for_each_segment({0, q.bytes()}, [&](Range segment) {
    for (int i = 1; i < q.ranks; ++i) {
      const int from = rank_after(q, i);
      b.recv(from, sources[static_cast<size_t>(from)], segment.bytes);
    }
    sources[static_cast<size_t>(q.root)] = send_at(segment.offset);
    b.reduce(recv_at(segment.offset), sources, segment.bytes, true);
  });
}

}  // namespace

const Algorithm reduce_direct = {.name = "direct",
                                 .summary = "messages to the root, segmented",
                                 .collective = Collective::kReduce,
                                 .rank_order = true,
                                 .applies = always,
                                 .seconds = seconds,
                                 .build = build};

}  // namespace tutti
