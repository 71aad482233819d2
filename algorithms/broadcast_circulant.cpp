// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Circulant broadcast (Traeff, arXiv 2312.11236): blocks of one length on their way side by side,
// every rank sending one and receiving one at a time. Any number of ranks, any root. T = (b - 1 +
// ceil(log2 p)) (alpha + n/b beta), b blocks. It is optimal in rounds, and nearly so in bandwidth
// if blocks are many.
#include "algorithms/block_rounds.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return block_rounds_s(q, 0, m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const int blocks = block_count(q);
  for (const BlockRound& round : block_rounds(q, blocks)) {
    if (round.to >= 0) {
      const Range block = part_of(q.bytes(), blocks, round.sent);
      b.send(round.to, recv_at(block.offset), block.bytes);
    }
    if (round.from >= 0) {
      const Range block = part_of(q.bytes(), blocks, round.received);
      b.recv(round.from, recv_at(block.offset), block.bytes);
    }
  }
}

}  // namespace

const Algorithm broadcast_circulant = {
    .name = "circulant",
    .summary = "messages of one block in turn, each byte received once",
    .collective = Collective::kBroadcast,
    .rank_order = true,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
