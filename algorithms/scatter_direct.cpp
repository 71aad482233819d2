// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatter by messages: the root sends every block to its owner. Any number of ranks. T = (p-1)
// (alpha + n beta), blocks of n, all of it at the root. Between hosts the messages are on the way
// at once: half of (p-1) alpha.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  if (takes_turns(m)) return rooted_messages_s(q, m.walk_write_s, m.walk_read_s, m);
  return messages_s(peers_by_messages(q), q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) return b.recv(q.root, recv_at(0), q.bytes());
  for (int i = 1; i < q.ranks; ++i) {
    b.send(rank_after(q, i), send_at(block_at(q, rank_after(q, i))), q.bytes());
  }
  keep_block(q, b, q.rank, 0);
}

}  // namespace

const Algorithm scatter_direct = {.name = "direct",
                                  .summary = "messages from the root",
                                  .collective = Collective::kScatter,
                                  .rank_order = true,
                                  .applies = always,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
