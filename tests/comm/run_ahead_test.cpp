// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls in which a rank only gives end before its peers begin; what they leave behind stays until
// the last peer has read it.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

constexpr DataType kType = DataType::kInt32;

Call broadcast(std::vector<int32_t>& buffer, int root) {
  Call call;
  call.collective = Collective::kBroadcast;
  call.type = kType;
  call.root = root;
  call.count = buffer.size();
  call.recv = buffer.data();
  return call;
}

Call reducing(Collective collective, const std::vector<int32_t>& send, std::vector<int32_t>& recv) {
  Call call;
  call.collective = collective;
  call.type = kType;
  call.count = send.size();
  call.send = send.data();
  call.recv = recv.data();
  return call;
}

Call reduce(const std::vector<int32_t>& send, std::vector<int32_t>& recv, int root) {
  Call call = reducing(Collective::kReduce, send, recv);
  call.root = root;
  return call;
}

// Rank r gives or gets `count` elements, more by r than rank 0.
size_t share(size_t count, int rank) { return count + static_cast<size_t>(rank); }

BlockLayout shares(size_t count, int ranks) {
  BlockLayout layout;
  uint64_t next = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    layout.counts.push_back(share(count, rank));
    layout.offsets.push_back(next);
    next += layout.counts.back();
  }
  return layout;
}

// Without the buffers.
Call dealing(Collective collective, const Communicator& on, size_t count, int root) {
  const BlockLayout one{{share(count, on.rank())}, {0}};
  const BlockLayout all = on.rank() == root ? shares(count, on.ranks()) : BlockLayout();
  Call call;
  call.collective = collective;
  call.type = kType;
  call.root = root;
  call.layouts = std::make_shared<const BlockLayouts>(
      collective == Collective::kGatherv ? BlockLayouts{one, all} : BlockLayouts{all, one});
  return call;
}

Call barrier() { return {}; }

void wait_for(const std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
}

// What rank `rank` gives in call `call`, at `i`.
int32_t value(int rank, int call, size_t i) {
  return rank * 1'000'000 + call * 1000 + static_cast<int32_t>(i % 997);
}

std::vector<int32_t> values(int rank, int call, size_t count) {
  std::vector<int32_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = value(rank, call, i);
  return all;
}

// Rank `root` gets what all give of values(), each its share, and looks whether that is right.
void gather_shares(Communicator& on, int call, size_t count, int root) {
  const auto send = values(on.rank(), call, share(count, on.rank()));
  const BlockLayout all = shares(count, on.ranks());
  std::vector<int32_t> recv(all.offsets.back() + all.counts.back());
  Call gather = dealing(Collective::kGatherv, on, count, root);
  gather.send = send.data();
  gather.recv = recv.data();
  const Status status = on.executor().run(gather);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int rank = 0; on.rank() == root && rank < on.ranks(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    for (size_t i = 0; i < all.counts[at]; ++i) {
      ASSERT_EQ(recv[all.offsets[at] + i], value(rank, call, i));
    }
  }
}

// The root deals out values(), every rank its share.
void scatter_shares(Communicator& on, int call, size_t count, int root) {
  const BlockLayout all = shares(count, on.ranks());
  const auto send = values(root, call, all.offsets.back() + all.counts.back());
  const auto own = static_cast<size_t>(on.rank());
  std::vector<int32_t> recv(all.counts[own]);
  Call scatter = dealing(Collective::kScatterv, on, count, root);
  scatter.send = send.data();
  scatter.recv = recv.data();
  const Status status = on.executor().run(scatter);
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < recv.size(); ++i) {
    ASSERT_EQ(recv[i], value(root, call, all.offsets[own] + i));
  }
}

class RunAhead : public testing::TestWithParam<size_t> {};

// Would the root wait for its readers, the readers would wait for it in vain.
TEST_P(RunAhead, OfTheRootOfBroadcastsReachesReadersThatComeLate) {
  constexpr int kCalls = 8;
  std::atomic<bool> root_is_through = false;
  run_thread_ranks(3, [&](Communicator& communicator) {
    if (communicator.rank() != 1) wait_for(root_is_through);
    for (int call = 0; call < kCalls; ++call) {
      auto buffer = values(communicator.rank(), call, GetParam());
      const Status status = communicator.executor().run(broadcast(buffer, 1));
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(buffer, values(1, call, GetParam()));
    }
    if (communicator.rank() == 1) root_is_through = true;
    EXPECT_TRUE(communicator.executor().run(barrier()).ok());
  });
}

TEST_P(RunAhead, OfThoseWhoGiveToReductionsReachesARootThatComesLate) {
  constexpr int kCalls = 8;
  std::atomic<int> through = 0;
  run_thread_ranks(3, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    while (root && through.load() != 2) std::this_thread::yield();
    for (int call = 0; call < kCalls; ++call) {
      const auto send = values(communicator.rank(), call, GetParam());
      std::vector<int32_t> recv(GetParam());
      const Status status = communicator.executor().run(reduce(send, recv, 0));
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; root && i < recv.size(); ++i) {
        ASSERT_EQ(recv[i], value(0, call, i) + value(1, call, i) + value(2, call, i));
      }
    }
    through.fetch_add(1);
    EXPECT_TRUE(communicator.executor().run(barrier()).ok());
  });
}

TEST_P(RunAhead, OfThoseWhoGiveSharesReachesThoseWhoComeLate) {
  constexpr int kCalls = 8;
  std::atomic<int> through = 0;
  run_thread_ranks(3, [&](Communicator& communicator) {
    while (communicator.rank() == 0 && through.load() != 2) std::this_thread::yield();
    for (int call = 0; call < kCalls; ++call) gather_shares(communicator, call, GetParam(), 0);
    through.fetch_add(1);
    EXPECT_TRUE(communicator.executor().run(barrier()).ok());
  });
  std::atomic<bool> root_is_through = false;
  run_thread_ranks(3, [&](Communicator& communicator) {
    if (communicator.rank() != 1) wait_for(root_is_through);
    for (int call = 0; call < kCalls; ++call) scatter_shares(communicator, call, GetParam(), 1);
    if (communicator.rank() == 1) root_is_through = true;
    EXPECT_TRUE(communicator.executor().run(barrier()).ok());
  });
}

INSTANTIATE_TEST_SUITE_P(Elements, RunAhead, testing::Values(1, 14, 15, 64));

TEST(RunAhead, NeverWritesOverWhatAPeerHasYetToRead) {
  constexpr int kRanks = 3;
  constexpr int kCalls = 4000;
  run_thread_ranks(kRanks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    std::mt19937 same(7);                               // what is called, on all ranks
    std::mt19937 own(static_cast<unsigned>(rank) + 1);  // how late this rank is
    for (int call = 0; call < kCalls; ++call) {
      constexpr size_t kCounts[] = {1, 14, 15, 50, 256, 257, 1250, 5000, 20000};
      const auto count = kCounts[same() % std::size(kCounts)];
      const int root = static_cast<int>(same() % kRanks);
      const auto kind = same() % 10;
      for (auto late = own() % 64 == 0 ? own() % 20 : 0; late > 0; --late) {
        std::this_thread::yield();
      }
      if (kind == 8) gather_shares(communicator, call, count, root);
      if (kind == 9) scatter_shares(communicator, call, count, root);
      if (kind >= 8) continue;
      const auto send = values(rank, call, count);
      std::vector<int32_t> recv(count);
      if (kind < 4) {
        recv = send;
        const Status status = communicator.executor().run(broadcast(recv, root));
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(recv, values(root, call, count));
        continue;
      }
      const Call reduction =
          kind < 7 ? reduce(send, recv, root) : reducing(Collective::kAllreduce, send, recv);
      const Status status = communicator.executor().run(reduction);
      ASSERT_TRUE(status.ok()) << status.message();
      if (kind < 7 && rank != root) continue;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(recv[i], value(0, call, i) + value(1, call, i) + value(2, call, i)) << call;
      }
    }
  });
}

// Rank 0 gives to a broadcast, rank 1 to a reduction: neither waits for the other.
TEST(RunAhead, DoesNotHideCallsThatDiffer) {
  run_thread_ranks(2, [](Communicator& communicator) {
    std::vector<int32_t> x(2);
    std::vector<int32_t> y(2);
    const bool first = communicator.rank() == 0;
    Status status = communicator.executor().run(first ? broadcast(x, 0) : reduce(x, y, 0));
    if (status.ok()) status = communicator.executor().run(broadcast(x, 1 - communicator.rank()));
    if (status.ok()) status = communicator.executor().run(barrier());
    EXPECT_EQ(status.code(), Code::kMismatch);
    for (const char* part : {"broadcast #1", "reduce #1"}) {
      EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    }
  });
}

TEST(RunAhead, EndsWhenThePeersNeverCome) {
  std::atomic<bool> over = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    if (communicator.rank() == 1) return wait_for(over);
    communicator.executor().set_timeout(50);
    std::vector<int32_t> x(1);
    Status status;
    for (int call = 0; call < 100 && status.ok(); ++call) {
      status = communicator.executor().run(broadcast(x, 0));
    }
    EXPECT_EQ(status.code(), Code::kTimeout);
    EXPECT_NE(status.message().find("has not entered broadcast #"), std::string::npos)
        << status.message();
    over = true;
  });
}

TEST(RunAhead, SurvivesTheEndOfTheOneThatWasAhead) {
  std::atomic<bool> root_has_left = false;
  run_thread_ranks(2, [&](Communicator& communicator) {
    std::vector<int32_t> x(1);
    if (communicator.rank() == 0) {
      for (x[0] = 1; x[0] <= 3; ++x[0]) {
        ASSERT_TRUE(communicator.executor().run(broadcast(x, 0)).ok());
      }
      ASSERT_TRUE(communicator.close().ok());
      root_has_left = true;
      return;
    }
    wait_for(root_has_left);
    for (int call = 1; call <= 3; ++call) {
      const Status status = communicator.executor().run(broadcast(x, 0));
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(x[0], call);
    }
    const Status status = communicator.executor().run(broadcast(x, 0));
    EXPECT_EQ(status.code(), Code::kPeerFailed);
    EXPECT_NE(status.message().find("has destroyed its communicator"), std::string::npos)
        << status.message();
  });
}

}  // namespace
}  // namespace tutti
