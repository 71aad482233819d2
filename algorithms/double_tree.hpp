// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two binary trees (Sanders, Speck & Traeff, Parallel Computing 2009). Each rank is an inner node
// of one at most: its children are ranks to which it is a leaf in the other. So each half of a
// message takes one tree, and every rank sends and receives as much as every other.
#pragma once

#include <vector>

#include "algorithms/messages.hpp"

namespace tutti {

// A rank's neighbours in one of them.
struct BinaryTree {
  int parent = -1;            // -1 at the root
  std::vector<int> children;  // two at most

  // The ranks in order, as if numbered from 1: odd numbers are leaves, others have children at half
  // of their lowest bit. In the second tree, an even number of ranks is numbered from the other
  // end, an odd one from one later. So no rank has an even number twice.
  BinaryTree(const Problem& q, bool second) {
    const int ranks = q.ranks;
    const bool mirrors = ranks % 2 == 0;
    // rank_of() is the inverse of number_of(); mirroring is its own inverse.
    const auto number_of = [&](int rank) {
      if (!second) return rank + 1;
      return mirrors ? ranks - rank : (rank + 1) % ranks + 1;
    };
    const auto rank_of = [&](int number) {
      if (!second) return number - 1;
      return mirrors ? ranks - number : (number + ranks - 2) % ranks;
    };
    const int number = number_of(q.rank);
    const int lowest = number & -number;
    int above = (number ^ lowest) | (2 * lowest);
    if (above > ranks) above = number ^ lowest;
    if (above > 0) parent = rank_of(above);
    if (lowest == 1) return;
    children.push_back(rank_of(number - lowest / 2));
    for (int distance = lowest / 2; distance > 0; distance /= 2) {
      if (number + distance > ranks) continue;
      children.push_back(rank_of(number + distance));
      break;
    }
  }
};

// The depth of either tree: floor(log2 p).
inline int double_tree_depth(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
}

// Half `index` of a message, which takes that tree.
inline Range half_of(uint64_t bytes, int index) { return part_of(bytes, 2, index); }

inline std::vector<Range> segments_of(Range range) {
  std::vector<Range> segments;
  for_each_segment(range, [&](Range segment) { segments.push_back(segment); });
  return segments;
}

}  // namespace tutti
