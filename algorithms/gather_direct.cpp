// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gather by messages: everyone sends its block to the root. Any number of ranks.
// T = (p-1) (alpha + n beta), blocks of n, all of it at the root.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return (q.ranks - 1) * message_s(q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) return b.send(q.root, send_at(0), q.bytes());
  copy_own_block(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    b.recv(rank_after(q, i), recv_at(block_at(q, rank_after(q, i))), q.bytes());
  }
}

}  // namespace

const Algorithm gather_direct = {
    "direct", "messages to the root", Collective::kGather, true, always, seconds, build};

}  // namespace tutti
