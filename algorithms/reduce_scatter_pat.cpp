// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter by parallel aggregated trees (pat.hpp), whose rounds run backwards. Each rank sums
// what the ranks below it in a block's tree have, and passes the sum up. Any number of ranks; adds
// by subtrees. T = ceil(log2 p) alpha + (p-1)n beta + (p-1)n gamma, blocks of n, and a copy of
// them. Longer blocks cost up to (p-1) alpha for each kSegmentBytes of them. Private memory holds
// ceil(log2 p) such segments at a time, where circulant needs it for all.
#include <map>

#include "algorithms/pat.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = others_blocks_bytes(q);
  return pat_messages_s(q, m) + combine_s(2 * others, m) + copy_s(others, m) +
         2 * q.ranks * m.step_s + buffers_s(q, m);
}

// One segment of each block at a time. The sums of blocks that pass together lie side by side, in a
// group. A group is done with before the next of the same level begins.
class Sums {
 public:
  Sums(const Problem& q, const Pat& pat, uint64_t most, Builder& b)
      : q_(q), pat_(pat), b_(b), arrived_(b, most * static_cast<uint64_t>(pat.aggregated())) {
    const auto blocks = static_cast<uint64_t>(pat.aggregated());
    for (int level = 0; level <= pat.lower_levels(); ++level)
      levels_.emplace_back(b, most * blocks);
    for (int blocks_sent = 1; blocks_sent < pat.aggregated(); blocks_sent *= 2) {
      parcels_.push_back(b.scratch(most * static_cast<uint64_t>(blocks_sent)));
    }
  }

  void reduce(Range segment) {
    b_.fence();  // sends of the segment before are over
    segment_ = segment;
    groups_.clear();
    summed_.assign(static_cast<size_t>(q_.ranks), false);
    uses_.assign(levels_.size(), 0);
    const std::vector<PatRound> rounds = pat_.all();
    for (size_t i = rounds.size(); i > 0; --i) {
      give(rounds[i - 1], i - 1);
      take(rounds[i - 1], i == 1);
    }
  }

 private:
  // This rank's own data for the block of the rank `depth` before it.
  [[nodiscard]] Ref own(int depth) const {
    return send_at(block_at(q_, rank_after(q_, -depth)) + segment_.offset);
  }
  // The place of the sum that goes to the rank `depth` before.
  Ref sum(int depth) {
    const int below = depth % pat_.apart();
    auto found = groups_.find(below);
    if (found == groups_.end()) {
      const auto level = static_cast<size_t>(std::popcount(static_cast<unsigned>(below)));
      if (uses_[level]++ % kSegmentPlaces == 0 && uses_[level] > 1) b_.fence();  // used again
      found = groups_.emplace(below, levels_[level].next()).first;
    }
    return found->second.plus(static_cast<uint64_t>(depth / pat_.apart()) * segment_.bytes);
  }
  // All of it that is known on this rank.
  Ref share(int depth) { return summed_[static_cast<size_t>(depth)] ? sum(depth) : own(depth); }

  void give(const PatRound& round, size_t index) {
    const int to = rank_after(q_, -round.distance);
    const std::vector<int>& depths = round.depths;
    if (depths.size() == 1) return b_.send(to, share(depths[0]), segment_.bytes);
    // Sums of the upper levels that pass together are of one group, but not side by side.
    const bool upper = round.distance >= pat_.apart();
    const Ref parcel = upper ? parcels_[index] : sum(depths[0]);
    for (size_t i = 0; i < depths.size(); ++i) {
      b_.copy(parcel.plus(i * segment_.bytes), share(depths[i]), segment_.bytes);
    }
    b_.send(to, parcel, depths.size() * segment_.bytes);
  }

  void take(const PatRound& round, bool last) {
    const Ref arrived = arrived_.next();
    b_.recv(rank_after(q_, round.distance), arrived, round.depths.size() * segment_.bytes);
    for (size_t i = 0; i < round.depths.size(); ++i) {
      const int depth = round.depths[i] - round.distance;
      const Ref known = share(depth);
      const Ref place = last ? recv_at(segment_.offset) : sum(depth);
      b_.reduce(place, {known, arrived.plus(i * segment_.bytes)}, segment_.bytes, last);
      summed_[static_cast<size_t>(depth)] = true;
    }
  }

  const Problem& q_;
  const Pat& pat_;
  Builder& b_;
  Places arrived_;
  std::vector<Places> levels_;
  std::vector<Ref> parcels_;  // of the upper levels' rounds, shortest first
  Range segment_;
  std::map<int, Ref> groups_;  // by the depth of their first rank
  std::vector<bool> summed_;   // whether this rank has got anything to add to its own, by depth
  std::vector<int> uses_;      // by level
};

void build(const Problem& q, Builder& b) {
  const uint64_t most = std::min(q.bytes(), kSegmentBytes);
  const Pat pat(q.ranks, most);
  Sums sums(q, pat, most, b);
  for_each_segment({0, q.bytes()}, [&](Range segment) { sums.reduce(segment); });
}

}  // namespace

const Algorithm reduce_scatter_pat = {
    .name = "pat",
    .summary = "messages up a tree for each block, near first, many in one",
    .collective = Collective::kReduceScatter,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
