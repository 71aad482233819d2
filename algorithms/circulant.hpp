// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The circulant graph of Traeff (arXiv 2410.14234): ranks exchange at distances ceil(p/2),
// ceil(p/4), ..., 1. Reduce-scatter and allgather over it take ceil(log2 p) rounds and move every
// block p-1 times, for any number of ranks. The operation must commute.
#pragma once

#include <functional>
#include <vector>

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {

// ceil(log2 p) alpha, of the messages of a reduce-scatter or an allgather of such blocks.
inline double circulant_starts_s(const Problem& q, uint64_t block_bytes, const Machine& m) {
  double starts = 0;
  for (int blocks = q.ranks; blocks > 1; blocks = (blocks + 1) / 2) {
    starts += start_s(static_cast<uint64_t>(blocks / 2) * block_bytes, m);
  }
  return starts;
}

class Circulant {
 public:
  // The block of rank `first` + i, modulo ranks, lies at offset_of(i) of `data`; offset_of(ranks)
  // is the end. `data` must hold this rank's input; it is used up. If its own block is the first, a
  // round has one message each way; else blocks that go around the end are two.
  Circulant(const Problem& q, Builder& b, Ref data, int first,
            std::function<uint64_t(int)> offset_of)
      : q_(q),
        b_(b),
        data_(data),
        own_((q.rank - first + q.ranks) % q.ranks),
        offset_of_(std::move(offset_of)) {
    for (int ranks = q.ranks; ranks > 1; ranks = (ranks + 1) / 2) rounds_.push_back(ranks);
  }

  // Reduces this rank's block into `result`. In each round a rank gives away the farther half of
  // the blocks it still has a share of. Each goes to the rank for which it is in the nearer half.
  void reduce_scatter(Ref result) {
    uint64_t most = 0;
    for (const int blocks : rounds_) most = std::max(most, bytes_of(runs(0, blocks / 2)));
    const Ref arrived = b_.scratch(most);
    for (const int blocks : rounds_) {
      const int distance = (blocks + 1) / 2;
      for (const Range run : runs(distance, blocks)) {
        b_.send(rank_after(q_, distance), data_.plus(run.offset), run.bytes);
      }
      Ref place = arrived;
      for (const Range run : runs(0, blocks - distance)) {
        b_.recv(rank_after(q_, -distance), place, run.bytes);
        const Ref sum = data_.plus(run.offset);
        b_.reduce(blocks == 2 ? result : sum, {place, sum}, run.bytes, blocks == 2);
        place = place.plus(run.bytes);
      }
    }
  }

  // Gathers all blocks from their owners into `data`: the same rounds backwards.
  void allgather() {
    for (size_t i = rounds_.size(); i > 0; --i) {
      const int blocks = rounds_[i - 1];
      const int distance = (blocks + 1) / 2;
      for (const Range run : runs(0, blocks - distance)) {
        b_.send(rank_after(q_, -distance), data_.plus(run.offset), run.bytes);
      }
      for (const Range run : runs(distance, blocks)) {
        b_.recv(rank_after(q_, distance), data_.plus(run.offset), run.bytes);
      }
    }
  }

 private:
  // Blocks rank+first ... rank+end-1, modulo p: one run of bytes, or two around the end.
  [[nodiscard]] std::vector<Range> runs(int first, int end) const {
    const int begin = (own_ + first) % q_.ranks;
    const int behind = begin + end - first;
    const auto run = [&](int from, int to) {
      return Range{offset_of_(from), offset_of_(to) - offset_of_(from)};
    };
    if (behind <= q_.ranks) return {run(begin, behind)};
    return {run(begin, q_.ranks), run(0, behind - q_.ranks)};
  }
  static uint64_t bytes_of(const std::vector<Range>& ranges) {
    uint64_t bytes = 0;
    for (const Range& range : ranges) bytes += range.bytes;
    return bytes;
  }

  const Problem& q_;
  Builder& b_;
  Ref data_;
  int own_;  // the place of this rank's block
  std::function<uint64_t(int)> offset_of_;
  std::vector<int> rounds_;  // how many blocks a rank has a share of at the start of each round
};

}  // namespace tutti
