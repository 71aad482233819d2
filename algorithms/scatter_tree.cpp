// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Scatter down a binomial tree. A rank gets the blocks of all ranks below it in one message, and
// passes on those that are not its own. Any number of ranks, any root; blocks of at most 64 KiB,
// for private memory has room for all that pass by. T = ceil(log2 p) alpha + (p-1 + p/2-1) n beta,
// blocks of n, and as much copying; the last of it is what the root's first child passes on.
// Between hosts the messages of a rank are on the way at once: (1 + ceil(log2 p)) alpha/2. It
// suits short blocks.
#include "algorithms/cost.hpp"
#include "algorithms/tree.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t passed_on = blocks_bytes(q, std::max(q.ranks / 2 - 1, 0));
  double total =
      flight_s(m) + static_cast<double>(passed_on) * m.message_byte_s + copy_s(passed_on, m);
  for (int left = q.ranks; left > 1; left = (left + 1) / 2) {
    total += message_s(blocks_bytes(q, left / 2), m) - flight_s(m);
  }
  return total + buffers_s(q, m);
}

// The blocks of `ranks` ranks from `first` on, one after the other, at the root.
Ref in_one_piece(const Problem& q, Builder& b, int first, int ranks) {
  const bool is_so = q.stride == q.count && first + ranks <= q.ranks;
  if (is_so) return send_at(block_at(q, first));
  const Ref packed = b.scratch(blocks_bytes(q, ranks));
  for (int i = 0; i < ranks; ++i) {
    b.copy(packed.plus(blocks_bytes(q, i)), send_at(block_at(q, (first + i) % q.ranks)), q.bytes());
  }
  return packed;
}

void build(const Problem& q, Builder& b) {
  const BinomialTree tree(q, q.root);
  const bool is_root = tree.parent < 0;
  const bool passes_on = !is_root && !tree.children.empty();
  const Ref arrived = passes_on ? b.scratch(blocks_bytes(q, tree.ranks)) : recv_at(0);
  if (!is_root) b.recv(tree.parent, arrived, blocks_bytes(q, tree.ranks));
  for (size_t i = tree.children.size(); i-- > 0;) {
    const int ranks = tree.ranks_from(i);
    const Ref passed = is_root ? in_one_piece(q, b, tree.children[i], ranks)
                               : arrived.plus(blocks_bytes(q, 1 << i));
    b.send(tree.children[i], passed, blocks_bytes(q, ranks));
  }
  if (passes_on) b.copy(recv_at(0), arrived, q.bytes());
  if (is_root) keep_block(q, b, q.rank, 0);
}

}  // namespace

const Algorithm scatter_tree = {.name = "tree",
                                .summary = "messages down a binomial tree",
                                .collective = Collective::kScatter,
                                .rank_order = true,
                                .applies = blocks_are_short,
                                .seconds = seconds,
                                .build = build};

}  // namespace tutti
