// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// More blocks than `tutti verify` sends.
#include "algorithms/block_rounds.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Which rank has which block, round by round.
class Broadcast {
 public:
  Broadcast(int ranks, int blocks) : blocks_(blocks) {
    Problem problem;
    problem.ranks = ranks;
    problem.root = ranks / 3;
    for (problem.rank = 0; problem.rank < ranks; ++problem.rank) {
      rounds_.push_back(block_rounds(problem, blocks));
      has_.emplace_back(blocks, problem.rank == problem.root);
    }
  }
  [[nodiscard]] size_t count() const { return rounds_.front().size(); }

  // What is sent is what is received, was there before, and was not yet where it goes.
  void run(size_t i) {
    const auto before = has_;
    int received = 0;
    int sent = 0;
    for (size_t rank = 0; rank < rounds_.size(); ++rank) {
      ASSERT_EQ(rounds_[rank].size(), count());
      const BlockRound& mine = rounds_[rank][i];
      if (mine.to >= 0) ++sent;
      if (mine.from < 0) continue;
      ++received;
      const auto from = static_cast<size_t>(mine.from);
      const BlockRound& theirs = rounds_[from][i];
      EXPECT_EQ(theirs.to, static_cast<int>(rank));
      EXPECT_EQ(theirs.sent, mine.received);
      const auto block = static_cast<size_t>(mine.received);
      EXPECT_TRUE(before[from][block]) << "rank " << rank << " round " << i;
      EXPECT_FALSE(before[rank][block]) << "rank " << rank << " round " << i;
      has_[rank][block] = true;
    }
    EXPECT_EQ(sent, received);
  }
  [[nodiscard]] bool complete() const {
    return std::ranges::all_of(has_, [&](const std::vector<bool>& blocks) {
      return std::ranges::count(blocks, true) == blocks_;
    });
  }

 private:
  int blocks_;
  std::vector<std::vector<BlockRound>> rounds_;
  std::vector<std::vector<bool>> has_;
};

TEST(BlockRounds, BringEveryBlockToEveryRankOnceInTheFewestRounds) {
  for (const int ranks : {2, 3, 4, 5, 6, 7, 11, 16, 17, 33, 65, 100}) {
    for (const int blocks : {1, 2, 3, 7, 12, 40}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << blocks << " blocks");
      Broadcast broadcast(ranks, blocks);
      EXPECT_EQ(broadcast.count(), static_cast<size_t>(blocks - 1 + rounds_of(ranks)));
      for (size_t i = 0; i < broadcast.count(); ++i) broadcast.run(i);
      EXPECT_TRUE(broadcast.complete());
    }
  }
}

}  // namespace
}  // namespace tutti
