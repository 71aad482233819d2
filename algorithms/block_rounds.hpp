// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The way of a message of n blocks from one rank to all p (Traeff, arXiv 2312.11236). It takes n -
// 1 + ceil(log2 p) rounds, as few as there can be. Every rank sends one block and receives one in
// each. Any number of ranks: blocks pass on at the distances of a circulant graph in turn: 1, ...,
// ceil(p/4), ceil(p/2). Which block passes, each rank finds out by itself.
#pragma once

#include <cmath>
#include <vector>

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {

// The blocks that a rank gets the first time around all distances. All but one are negative, hence
// of the time before, when there were none. Each time around, a block is greater by the number of
// distances.
//
// A sum of different distances is a rank on a path from the root. The least of them is the block
// that this rank gets the first time. In round k, a rank gets a block that it lacks from a rank
// between the distances k and k + 1 before it. Its path is found by depth, greater distances first.
class FirstBlocks {
 public:
  // `distances` in ascending order, and the number of ranks; `place` is the distance from the root,
  // to which nobody sends: its blocks mean nothing.
  FirstBlocks(const std::vector<int>& distances, int place)
      : distances_(distances),
        place_(distances.back() + place),
        taken_(distances.size()),
        blocks_(distances.size() - 1) {
    const int own = own_block(distances, place);
    taken_[static_cast<size_t>(own)] = true;
    search(0, 2 * distances.back(), distances.size(), 0);
    const auto turns = static_cast<int>(blocks_.size());
    for (int& block : blocks_) block = block == turns ? own : block - turns;
  }

  [[nodiscard]] const std::vector<int>& blocks() const { return blocks_; }

 private:
  // The least distance on the path that takes the greatest it can.
  static int own_block(const std::vector<int>& distances, int place) {
    int least = 0;
    for (auto i = static_cast<int>(distances.size()); i-- > 0 && place > 0;) {
      const int distance = distances[static_cast<size_t>(i)];
      if (distance > place) continue;
      place -= distance;
      least = i;
    }
    return least;
  }

  // Goes on from the path to `sum` by distances before `end`, to ranks before `found`. Returns the
  // first round that has no block yet.
  size_t search(int sum, int found, size_t end, size_t round) {
    while (end-- > 0 && round < blocks_.size()) {
      const int next = sum + distances_[end];
      if (taken_[end] || next >= found || next > place_ - distances_[round]) continue;
      if (next <= place_ - distances_[round + 1]) round = search(next, found, end, round);
      if (round == blocks_.size() || sum > place_ - distances_[round + 1]) return round;
      found = next;
      blocks_[round++] = static_cast<int>(end);
      taken_[end] = true;
    }
    return round;
  }

  const std::vector<int>& distances_;
  const int place_;  // the root is at the number of ranks
  std::vector<bool> taken_;
  std::vector<int> blocks_;
};

// The work of a rank in a round: the peer is -1 if it has none.
struct BlockRound {
  int to = -1;
  int sent = 0;
  int from = -1;
  int received = 0;
  bool first = false;  // first round of a time around all distances
};

// The rounds of this rank, from q.root to all.
inline std::vector<BlockRound> block_rounds(const Problem& q, int blocks) {
  std::vector<BlockRound> rounds;
  if (q.ranks == 1 || blocks == 0) return rounds;
  const int turns = rounds_of(q.ranks);
  std::vector<int> distances = {q.ranks};
  while (distances.back() > 1) distances.push_back((distances.back() + 1) / 2);
  std::reverse(distances.begin(), distances.end());
  const int place = (q.rank - q.root + q.ranks) % q.ranks;
  const std::vector<int> received = FirstBlocks(distances, place).blocks();
  std::vector<int> sent;
  for (int k = 0; k < turns; ++k) {
    const int to = (place + distances[static_cast<size_t>(k)]) % q.ranks;
    sent.push_back(FirstBlocks(distances, to).blocks()[static_cast<size_t>(k)]);
  }
  // The last round is the last of a time around, so the first may not be.
  const int skipped = (turns - (blocks - 1) % turns) % turns;
  for (int i = skipped; i < skipped + blocks - 1 + turns; ++i) {
    const int k = i % turns;
    const int distance = distances[static_cast<size_t>(k)];
    const int later = i - k - skipped;
    BlockRound round{.first = k == 0};
    // A block beyond the last stands for the last, which lacks.
    round.sent = std::min(sent[static_cast<size_t>(k)] + later, blocks - 1);
    round.received = std::min(received[static_cast<size_t>(k)] + later, blocks - 1);
    if (round.sent >= 0 && (place + distance) % q.ranks != 0) round.to = rank_after(q, distance);
    if (round.received >= 0 && place != 0) round.from = rank_after(q, -distance);
    rounds.push_back(round);
  }
  return rounds;
}

// A long message's start takes as long as so many bytes.
inline constexpr double kBlockStartBytes = 48 << 10;
// Longer blocks would overlap little, whatever the start costs.
inline constexpr uint64_t kLongestBlock = 1 << 20;

// Into how many blocks a message is cut best: the root of (ceil(log2 p) - 1) n beta / alpha.
inline int block_count(const Problem& q) {
  const double ratio = (rounds_of(q.ranks) - 1) * static_cast<double>(q.bytes()) / kBlockStartBytes;
  return std::max(static_cast<int>(std::sqrt(std::max(0.0, ratio))),
                  parts_of_at_most(q.bytes(), kLongestBlock));
}
inline uint64_t longest_block(const Problem& q) {
  const auto blocks = static_cast<uint64_t>(std::max(1, block_count(q)));
  return whole_lines((q.bytes() + blocks - 1) / blocks);
}

// All rounds, in each of which a block passes and the bytes of `combined` blocks are combined.
inline double block_rounds_s(const Problem& q, int combined, const Machine& m) {
  const int rounds = std::max(1, block_count(q)) - 1 + rounds_of(q.ranks);
  const uint64_t block = std::min(longest_block(q), q.bytes());
  return rounds * (message_s(block, m) + combine_s(static_cast<uint64_t>(combined) * block, m));
}

}  // namespace tutti
