// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pairwise allgatherv: in step i a rank sends its block to the rank i after it and receives that of
// the one i before. Any number of ranks. T = (p-1) (alpha + n beta), blocks of at most n, or
// (p-1) (pi + n pull) where they are read.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"
#include "algorithms/uneven.hpp"

namespace tutti {
namespace {

// Between ranks with a core each, messages find out whether to be read where they lie. (Two of
// them, small pages, where reading is slow: 4 and 16 MiB take 0.7 of the time of pull; huge ones
// 0.85 to 1.0.)
double seconds(const Problem& q, const Machine& m) {
  const int peers = q.ranks - 1;
  const double sent_s = peers * message_s(q.bytes(), m) + buffers_s(q, m);
  if (!q.limits.pulls || q.limits.crowded) return sent_s;
  return std::min(sent_s, peers * pull_s(q, q.bytes(), m) + touch_s(q, 2 * q.bytes(), m));
}

void build(const Problem& q, Builder& b) {
  for (int i = 1; i < q.ranks; ++i) b.send(rank_after(q, i), send_at(0), q.send_block(0).bytes);
  keep_block(q, b, 0, q.rank);
  for (int i = 1; i < q.ranks; ++i) {
    const Range block = q.recv_block(rank_after(q, -i));
    b.recv(rank_after(q, -i), at_recv(block), block.bytes);
  }
}

}  // namespace

const Algorithm allgatherv_pairwise = {
    "pairwise", "messages between all pairs", Collective::kAllgatherv, true, always, seconds,
    build};

}  // namespace tutti
