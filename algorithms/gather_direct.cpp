// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Gather by messages: everyone sends its block to the root. Any number of ranks. T = (p-1) (alpha +
// n beta), blocks of n, all of it at the root. Between hosts all messages are on the way at once:
// alpha + (p-1) (alpha/16 + n beta).
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

// Receiving a message that is there already costs a fraction of starting one.
constexpr double kReceiveShareOfStart = 1.0 / 16;

double seconds(const Problem& q, const Machine& m) {
  if (takes_turns(m)) return rooted_messages_s(q, m.walk_read_s, m.walk_write_s, m);
  if (m.host == nullptr) return one_by_one_s(q, m);
  const double each =
      kReceiveShareOfStart * m.message_s + static_cast<double>(q.bytes()) * m.message_byte_s;
  return start_s(q.bytes(), m) + peers_by_messages(q) * each + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  if (q.rank != q.root) return b.send(q.root, send_at(0), q.bytes());
  copy_own_block(q, b);
  for (int i = 1; i < q.ranks; ++i) {
    b.recv(rank_after(q, i), recv_at(block_at(q, rank_after(q, i))), q.bytes());
  }
}

}  // namespace

const Algorithm gather_direct = {.name = "direct",
                                 .summary = "messages to the root",
                                 .collective = Collective::kGather,
                                 .rank_order = true,
                                 .applies = always,
                                 .seconds = seconds,
                                 .build = build};

}  // namespace tutti
