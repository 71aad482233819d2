// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks of one host that part after calls in which every rank believes that it only gives.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

Call broadcast(std::vector<int32_t>& buffer, int root) {
  Call call;
  call.collective = Collective::kBroadcast;
  call.type = DataType::kInt32;
  call.root = root;
  call.count = buffer.size();
  call.recv = buffer.data();
  return call;
}

Call barrier() { return {}; }

void wait_for(const std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
}

void expect_mismatch(const Status& status) {
  EXPECT_EQ(status.code(), Code::kMismatch);
  for (const char* part : {"broadcast #3 (2 int32, root 0)", "broadcast #3 (2 int32, root 1)"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

// No further call waits. Who parts first waits for a moment only.
TEST(LastCalls, ThatDifferAreFoundByWhoPartsLast) {
  std::atomic<bool> closed = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    std::vector<int32_t> x(2);
    ASSERT_TRUE(communicator.executor().run(broadcast(x, 0)).ok());
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    if (communicator.rank() == 1) wait_for(closed);
    ASSERT_TRUE(communicator.executor().run(broadcast(x, communicator.rank())).ok());
    const Status status = communicator.close();
    closed = true;
    if (communicator.rank() == 0) {
      EXPECT_TRUE(status.ok()) << status.message();
      return;
    }
    expect_mismatch(status);
  });
}

TEST(LastCalls, ThatDifferAreFoundByAllWhoPartAfterThem) {
  constexpr int kRanks = 3;
  std::atomic<int> made = 0;
  run_thread_ranks(kRanks, [&](Communicator& communicator) {
    std::vector<int32_t> x(2);
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    const int root = communicator.rank() == 2 ? 0 : communicator.rank();
    if (communicator.rank() == 2) {
      while (made.load() < 2) std::this_thread::yield();
    }
    // Rank 2 may see first that the others differ.
    const Status call = communicator.executor().run(broadcast(x, root));
    if (communicator.rank() != 2) {
      ASSERT_TRUE(call.ok()) << call.message();
    }
    ++made;
    while (made.load() < kRanks) std::this_thread::yield();
    expect_mismatch(communicator.close());
  });
}

// The one that parts first is waiting when the other makes its call: in some round in time.
TEST(LastCalls, ThatDifferAreFoundByWhoHasJustBegunToPart) {
  constexpr int kMostRounds = 100;
  std::atomic<int> found = 0;
  for (int round = 0; round < kMostRounds && found != 2; ++round) {
    found = 0;
    run_thread_ranks(2, [&](Communicator& communicator) {
      std::vector<int32_t> x(2);
      ASSERT_TRUE(communicator.executor().run(barrier()).ok());
      ASSERT_TRUE(communicator.executor().run(barrier()).ok());
      while (communicator.rank() == 1 && !communicator.has_left(0)) {
        std::this_thread::yield();
      }
      ASSERT_TRUE(communicator.executor().run(broadcast(x, communicator.rank())).ok());
      if (communicator.close().code() == Code::kMismatch) ++found;
    });
  }
  EXPECT_EQ(found, 2);
}

TEST(LastCalls, ThatDifferedAreTheErrorOfTheNextCallNotThatAPeerHasLeft) {
  std::atomic<bool> made = false;
  std::atomic<bool> closed = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    std::vector<int32_t> x(2);
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    if (communicator.rank() == 0) {
      ASSERT_TRUE(communicator.executor().run(broadcast(x, 0)).ok());
      wait_for(made);
      expect_mismatch(communicator.close());
      closed = true;
      return;
    }
    ASSERT_TRUE(communicator.executor().run(broadcast(x, 1)).ok());
    made = true;
    wait_for(closed);
    EXPECT_EQ(communicator.executor().run(barrier()).code(), Code::kMismatch);
  });
}

TEST(LastCalls, ThatDifferAreFoundByOneAtLeastOfRanksThatPartAtOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> found = 0;
    run_thread_ranks(2, [&](Communicator& communicator) {
      std::vector<int32_t> x(2);
      ASSERT_TRUE(communicator.executor().run(broadcast(x, communicator.rank())).ok());
      if (communicator.close().code() == Code::kMismatch) ++found;
    });
    EXPECT_GE(found, 1);
  }
}

TEST(LastCalls, ThatThePeerNeverMakesAreFound) {
  std::atomic<bool> closed = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    std::vector<int32_t> x(2);
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    if (communicator.rank() == 1) {
      EXPECT_TRUE(communicator.close().ok());
      closed = true;
      return;
    }
    wait_for(closed);
    ASSERT_TRUE(communicator.executor().run(broadcast(x, 0)).ok());
    const Status status = communicator.close();
    EXPECT_EQ(status.code(), Code::kMismatch);
    EXPECT_NE(status.message().find("rank 1 has destroyed its communicator after barrier #1, rank "
                                    "0 has made broadcast #2 (2 int32, root 0)"),
              std::string::npos)
        << status.message();
  });
}

TEST(LastCalls, ThatOnlyThePeerMakesAreFoundByWhoPartsAfterIt) {
  std::atomic<bool> closed = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    std::vector<int32_t> x(2);
    ASSERT_TRUE(communicator.executor().run(barrier()).ok());
    if (communicator.rank() == 0) {
      ASSERT_TRUE(communicator.executor().run(broadcast(x, 0)).ok());
      EXPECT_TRUE(communicator.close().ok());
      closed = true;
      return;
    }
    wait_for(closed);
    const Status status = communicator.close();
    EXPECT_EQ(status.code(), Code::kMismatch);
    EXPECT_NE(status.message().find("rank 1 has destroyed its communicator after barrier #1, rank "
                                    "0 has made broadcast #2 (2 int32, root 0)"),
              std::string::npos)
        << status.message();
  });
}

}  // namespace
}  // namespace tutti
