// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Trees of ranks, and what passes up and down any of them in segments.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {

struct Tree {
  int parent = -1;            // -1 at the root
  std::vector<int> children;  // the one with fewest ranks below it first
};

// The children of a rank are those at distances 1, 2, 4, ... below the lowest bit set in its
// distance from the root. A child and all below it are consecutive ranks from the root on.
struct BinomialTree : Tree {
  int ranks = 1;  // this one and all below it

  static int rounds(int ranks) { return rounds_of(ranks); }

  BinomialTree(const Problem& q, int root) {
    const int place = (q.rank - root + q.ranks) % q.ranks;
    const auto rank_at = [&](int other) { return (other + root) % q.ranks; };
    int distance = 1;
    for (; distance < q.ranks && (place & distance) == 0; distance *= 2) {
      if (place + distance < q.ranks) children.push_back(rank_at(place + distance));
    }
    if (place != 0) parent = rank_at(place - distance);
    ranks = std::min(distance, q.ranks - place);
  }

  // Child i, at the distance 2^i, and all below it.
  [[nodiscard]] int ranks_from(size_t i) const {
    const int distance = 1 << i;
    return i + 1 < children.size() ? distance : ranks - distance;
  }
};

// Sends the receive buffer of the root to all others. The child with most ranks below it is first.
inline void broadcast_down(const Tree& tree, uint64_t bytes, Builder& b) {
  for_each_segment({0, bytes}, [&](Range segment) {
    const Ref place = recv_at(segment.offset);
    if (tree.parent >= 0) b.recv(tree.parent, place, segment.bytes);
    for (size_t i = tree.children.size(); i > 0; --i) {
      b.send(tree.children[i - 1], place, segment.bytes);
    }
  });
}

// A broadcast down a tree that stands on the root: Tree(q, root), and Tree::rounds(ranks) messages
// from the root to the last rank, one after the other. T = rounds (alpha + n beta).
template <typename TreeOn>
struct TreeBroadcast {
  static double seconds(const Problem& q, const Machine& m) {
    return TreeOn::rounds(q.ranks) * message_s(q.bytes(), m) + buffers_s(q, m);
  }
  static void build(const Problem& q, Builder& b) {
    broadcast_down(TreeOn(q, q.root), q.bytes(), b);
  }
};

// Each rank combines its own data with that of all its children in one pass. place_of(segment) is
// where the sum of a rank with children goes, and pass(sum, segment) takes it on.
template <typename PlaceOf, typename Pass>
void reduce_up(const Problem& q, const Tree& tree, Builder& b, PlaceOf place_of, Pass pass) {
  const uint64_t most = std::min(q.bytes(), kSegmentBytes);
  std::vector<Ref> arrived;
  for (size_t i = 0; i < tree.children.size(); ++i) arrived.push_back(b.scratch(most));
  for_each_segment({0, q.bytes()}, [&](Range segment) {
    std::vector<Ref> sources = {send_at(segment.offset)};
    for (size_t i = 0; i < tree.children.size(); ++i) {
      b.recv(tree.children[i], arrived[i], segment.bytes);
      sources.push_back(arrived[i]);
    }
    const Ref place = place_of(segment);
    const bool leaf = tree.children.empty();
    if (!leaf) b.reduce(place, sources, segment.bytes, tree.parent < 0);
    pass(leaf ? sources[0] : place, segment);
  });
}

}  // namespace tutti
