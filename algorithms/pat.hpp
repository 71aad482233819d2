// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Parallel aggregated trees (PAT; Jeaugey, arXiv 2506.20252, as in NCCL 2.23). Every block goes
// down a binomial tree of its own, whose root is its owner, longest distances first. The rank d
// after the owner gets it from the one d' after it, d' being d without its lowest bit. All trees
// are alike, so in one round every rank sends at one distance, on behalf of many. Aggregated are
// 2^a blocks: first the trees' upper a levels in as many rounds, with 1, 2, 4, ... blocks, then
// what lies below those of them that are 2^(K-a) apart, 2^a blocks in each of 2^(K-a) - 1 rounds,
// depth first; K = ceil(log2 p). With a = K there are K rounds, with a = 0 there are p - 1 of one
// block. No message is longer than 2^a blocks, and a reduction keeps no more than 2^a for each
// level meanwhile.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {

struct PatRound {
  int distance = 0;
  // The receivers' distances from the blocks' owners, ascending: rank r gets blocks of the ranks d
  // before it.
  std::vector<int> depths;
};

class Pat {
 public:
  // Blocks of `bytes` each: as many are aggregated as a segment has room for.
  Pat(int ranks, uint64_t bytes) : ranks_(ranks), levels_(rounds_of(ranks)) {
    while (upper_ < levels_ && (bytes << (upper_ + 1)) <= kSegmentBytes) ++upper_;
    apart_ = 1 << (levels_ - upper_);
  }

  [[nodiscard]] int rounds() const { return upper_ + std::min(apart_, ranks_) - 1; }
  // How far apart in their trees those blocks are that pass together below the upper levels.
  [[nodiscard]] int apart() const { return apart_; }
  [[nodiscard]] int aggregated() const { return 1 << upper_; }
  [[nodiscard]] int lower_levels() const { return levels_ - upper_; }

  // Rounds in the order of an allgather; a reduce-scatter is the same backwards.
  [[nodiscard]] std::vector<PatRound> all() const {
    std::vector<PatRound> rounds;
    for (int distance = (1 << levels_) / 2; distance >= apart_; distance /= 2) {
      rounds.push_back(round(distance, distance, 2 * distance));
    }
    for (int below = 1; below < std::min(apart_, ranks_); ++below) {
      rounds.push_back(round(below & -below, below, apart_));
    }
    return rounds;
  }

  // Blocks in a message.
  [[nodiscard]] int most() const {
    size_t most = 1;
    for (const PatRound& round : all()) most = std::max(most, round.depths.size());
    return static_cast<int>(most);
  }

 private:
  [[nodiscard]] PatRound round(int distance, int first, int step) const {
    PatRound round{.distance = distance, .depths = {}};
    for (int depth = first; depth < ranks_; depth += step) round.depths.push_back(depth);
    return round;
  }

  int ranks_;
  int levels_;
  int upper_ = 0;
  int apart_ = 1;
};

// (rounds) alpha + (p-1) n beta.
inline double pat_messages_s(const Problem& q, const Machine& m) {
  const uint64_t segment = std::min(q.bytes(), kSegmentBytes);
  const int segments = std::max(1, parts_of_at_most(q.bytes(), kSegmentBytes));
  return Pat(q.ranks, segment).rounds() * segments * start_s(segment, m) +
         static_cast<double>(others_blocks_bytes(q)) * m.message_byte_s;
}

}  // namespace tutti
