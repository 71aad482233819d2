// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "algorithms/double_tree.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

std::vector<BinaryTree> tree_of(int ranks, bool second) {
  std::vector<BinaryTree> trees;
  Problem problem;
  problem.ranks = ranks;
  for (problem.rank = 0; problem.rank < ranks; ++problem.rank) trees.emplace_back(problem, second);
  return trees;
}

// -1 if it goes around in a circle.
int depth_of(const std::vector<BinaryTree>& tree, int rank) {
  for (int depth = 0; depth <= static_cast<int>(tree.size()); ++depth) {
    const int parent = tree[static_cast<size_t>(rank)].parent;
    if (parent < 0) return depth;
    rank = parent;
  }
  return -1;
}

TEST(DoubleTree, HasTwoTreesOverAllRanks) {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    for (const bool second : {false, true}) {
      const std::vector<BinaryTree> tree = tree_of(ranks, second);
      int children = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const BinaryTree& mine = tree[static_cast<size_t>(rank)];
        EXPECT_LE(mine.children.size(), 2U);
        for (const int child : mine.children) {
          ++children;
          EXPECT_EQ(tree[static_cast<size_t>(child)].parent, rank) << ranks << " ranks";
        }
        const int depth = depth_of(tree, rank);
        EXPECT_GE(depth, 0) << ranks << " ranks, rank " << rank;
        EXPECT_LE(depth, double_tree_depth(ranks)) << ranks << " ranks, rank " << rank;
      }
      // Of those whose parents know them there is one less than of all: one root, and no more.
      EXPECT_EQ(children, ranks - 1) << ranks << " ranks";
    }
  }
}

TEST(DoubleTree, HasNoRankInsideOfBothTrees) {
  for (int ranks = 2; ranks <= 130; ++ranks) {
    const std::vector<BinaryTree> first = tree_of(ranks, false);
    const std::vector<BinaryTree> second = tree_of(ranks, true);
    for (size_t rank = 0; rank < first.size(); ++rank) {
      EXPECT_TRUE(first[rank].children.empty() || second[rank].children.empty())
          << ranks << " ranks, rank " << rank;
    }
  }
}

}  // namespace
}  // namespace tutti
