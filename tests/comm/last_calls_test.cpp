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

// No further call waits: who parts last finds out.
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
    EXPECT_EQ(status.code(), Code::kMismatch);
    for (const char* part : {"broadcast #3 (2 int32, root 0)", "broadcast #3 (2 int32, root 1)"}) {
      EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    }
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

}  // namespace
}  // namespace tutti
