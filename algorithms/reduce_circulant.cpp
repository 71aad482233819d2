// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Circulant reduce: the circulant broadcast (Traeff, arXiv 2312.11236) backwards. In every round a
// rank passes on the sum of one block, and adds what it receives to another. Any number of ranks,
// any root; the operation must commute.
// T = (b - 1 + ceil(log2 p)) (alpha + n/b beta + n/b gamma), b blocks.
#include "algorithms/block_rounds.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  return block_rounds_s(q, 2, m) + buffers_s(q, m);
}

// The sums of the blocks at one rank. The root keeps them in their places. Elsewhere blocks are on
// their way for less than two times around all distances, and then leave room for others.
class Sums {
 public:
  Sums(const Problem& q, Builder& b, int blocks)
      : q_(q), blocks_(blocks), room_(2 * rounds_of(q.ranks)), begun_(static_cast<size_t>(blocks)) {
    const uint64_t rooms = q.rank == q.root ? 0 : static_cast<uint64_t>(std::min(room_, blocks));
    sums_ = b.scratch(rooms * longest_block(q));
  }

  [[nodiscard]] Range range(int block) const { return part_of(q_.bytes(), blocks_, block); }
  // This rank's sum of the block: at first its own data.
  [[nodiscard]] Ref sum(int block) const {
    if (!begun_[static_cast<size_t>(block)]) return send_at(range(block).offset);
    if (q_.rank == q_.root) return recv_at(range(block).offset);
    return sums_.plus(static_cast<uint64_t>(block % room_) * longest_block(q_));
  }
  // The place to which more is added from now on.
  Ref begin(int block) {
    begun_[static_cast<size_t>(block)] = true;
    return sum(block);
  }

 private:
  const Problem& q_;
  int blocks_;
  int room_;
  std::vector<bool> begun_;
  Ref sums_;
};

void build(const Problem& q, Builder& b) {
  const int blocks = block_count(q);
  std::vector<BlockRound> rounds = block_rounds(q, blocks);
  // How often the root, whose sums are the results, still receives of each block.
  std::vector<int> missing(static_cast<size_t>(blocks));
  for (const BlockRound& round : rounds) {
    if (round.to >= 0) ++missing[static_cast<size_t>(round.sent)];
  }
  Sums sums(q, b, blocks);
  const Ref arrived = b.scratch(longest_block(q));
  for (; !rounds.empty(); rounds.pop_back()) {
    const BlockRound& round = rounds.back();
    if (round.from >= 0) {
      b.send(round.from, sums.sum(round.received), sums.range(round.received).bytes);
    }
    if (round.to >= 0) {
      const uint64_t bytes = sums.range(round.sent).bytes;
      const bool last = --missing[static_cast<size_t>(round.sent)] == 0;
      b.recv(round.to, arrived, bytes);
      const Ref before = sums.sum(round.sent);
      b.reduce(sums.begin(round.sent), {arrived, before}, bytes, last && q.rank == q.root);
    }
    if (round.first) b.fence();  // sent data makes room
  }
}

}  // namespace

const Algorithm reduce_circulant = {.name = "circulant",
                                    .summary = "messages of one block in turn, each byte sent once",
                                    .collective = Collective::kReduce,
                                    .rank_order = false,
                                    .applies = always,
                                    .seconds = seconds,
                                    .build = build};

}  // namespace tutti
