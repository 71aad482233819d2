// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What ranks find when a transport has connected them, and what they are told when it cannot.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "transports/connected.hpp"

namespace tutti {
namespace {

using tutti_test::config_of;
using tutti_test::Connected;
using tutti_test::error_of;
using tutti_test::kill_myself;
using tutti_test::kLimit;
using tutti_test::meet;
using tutti_test::run_connected;
using tutti_test::run_processes;
using tutti_test::Shared;
using tutti_test::test_id;

class Connect : public tutti_test::TransportTest {};

TEST_P(Connect, EveryRankSeesTheProcessOfEveryOther) {
  run_connected(*GetParam(), 4, 1, [&](const Connected& self) {
    const auto pids = gather_values(self.exchange, int{getpid()});
    ASSERT_TRUE(pids.ok()) << error_of(pids);
    for (int r = 0; r < 4; ++r) {
      const int theirs = (*pids)[static_cast<size_t>(r)];
      EXPECT_EQ(self.transport.process(r).pid, one_host() || r == self.rank ? theirs : 0);
      EXPECT_EQ(self.transport.process(r).own_pid, theirs);
      EXPECT_EQ(self.transport.process(r).host, host_name());
    }
    self.meet_all();
  });
}

TEST_P(Connect, APidfdTellsOfTheDeathOfItsProcessOnly) {
  if (!one_host()) GTEST_SKIP() << "processes of other hosts have no pidfd here";
  run_connected(*GetParam(), 3, 1,
                [](const Connected& self) {
                  if (self.rank == 1) kill_myself();
                  pollfd dead{self.transport.process(1).pidfd, POLLIN, 0};
                  if (dead.fd < 0) GTEST_SKIP() << "this kernel has no pidfd";
                  EXPECT_EQ(poll(&dead, 1, 60000), 1);
                  pollfd alive{self.transport.process(self.rank).pidfd, POLLIN, 0};
                  EXPECT_EQ(poll(&alive, 1, 0), 0);
                },
                {1});
}

TEST_P(Connect, WhatARankWritesInItsWindowAllCanRead) {
  run_connected(*GetParam(), 5, 2, [](const Connected& self) {
    SharedMemory* const memory = self.transport.shared_memory();
    if (memory == nullptr) GTEST_SKIP() << "this transport shares no memory";
    for (int lane = 0; lane < 2; ++lane) {
      auto opened = memory->open_lane_memory(lane);
      ASSERT_TRUE(opened.ok()) << error_of(opened);
      ASSERT_EQ((*opened)->ranks().size(), 5u);
      EXPECT_EQ((*opened)->ranks()[0].window, nullptr);
      ASSERT_TRUE((*opened)->map_slots().ok());
      ASSERT_TRUE((*opened)->map_windows().ok());
      ASSERT_TRUE((*opened)->reserve_window().ok());
      const auto mine = (*opened)->ranks()[static_cast<size_t>(self.rank)];
      const int mark = 1 + self.rank + 10 * lane;
      std::memset(mine.slots[0], mark, 4096);
      std::memset(mine.slots[1], mark + 100, 4096);
      std::memset(mine.window, mark + 50, 65536);
      std::memset(mine.calls[0].payload, mark, 56);
      std::memset(mine.calls[kCallLines - 1].payload, mark + 100, 56);
      mine.records[0].record.sequence = static_cast<uint64_t>(mark);
      mine.records[kCallLines - 1].record.sequence = static_cast<uint64_t>(mark + 100);
      mine.progress->tick = static_cast<uint32_t>(mark);
      self.meet_all();
      for (int r = 0; r < 5; ++r) {
        const auto peer = (*opened)->ranks()[static_cast<size_t>(r)];
        const int theirs = 1 + r + 10 * lane;
        EXPECT_EQ(peer.slots[0][4095], static_cast<std::byte>(theirs));
        EXPECT_EQ(peer.slots[1][0], static_cast<std::byte>(theirs + 100));
        EXPECT_EQ(peer.window[65535], static_cast<std::byte>(theirs + 50));
        EXPECT_EQ(peer.calls[0].payload[55], static_cast<std::byte>(theirs));
        EXPECT_EQ(peer.calls[kCallLines - 1].payload[0], static_cast<std::byte>(theirs + 100));
        EXPECT_EQ(peer.records[0].record.sequence, static_cast<uint64_t>(theirs));
        EXPECT_EQ(peer.records[kCallLines - 1].record.sequence,
                  static_cast<uint64_t>(theirs + 100));
        EXPECT_EQ(peer.progress->tick, static_cast<uint32_t>(theirs));
      }
      self.meet_all();
    }
  });
}

TEST_P(Connect, RanksPullFromOneAnother) {
  run_connected(*GetParam(), 3, 1, [](const Connected& self) {
    SharedMemory* const memory = self.transport.shared_memory();
    if (memory == nullptr) GTEST_SKIP() << "this transport shares no memory";
    auto opened = memory->open_lane_memory(0);
    ASSERT_TRUE(opened.ok()) << error_of(opened);
    if (!memory->can_pull()) GTEST_SKIP() << "ranks cannot read one another's memory";
    std::vector<uint32_t> mine(100'000);
    for (size_t i = 0; i < mine.size(); ++i)
      mine[i] = static_cast<uint32_t>(i) * 3 + static_cast<uint32_t>(self.rank);
    const uint32_t* address = mine.data();
    auto addresses = self.exchange.allgather(std::as_bytes(std::span(&address, 1)));
    ASSERT_TRUE(addresses.ok()) << error_of(addresses);
    for (int peer = 0; peer < 3; ++peer) {
      uint64_t theirs = 0;
      std::memcpy(&theirs, (*addresses)[static_cast<size_t>(peer)].data(), sizeof theirs);
      std::vector<uint32_t> pulled(mine.size() - 1);
      const tutti::Status status = (*opened)->pull(peer, pulled.data(), theirs + sizeof(uint32_t),
                                                   pulled.size() * sizeof(uint32_t));
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < pulled.size(); ++i) {
        ASSERT_EQ(pulled[i], static_cast<uint32_t>(i + 1) * 3 + static_cast<uint32_t>(peer));
      }
    }
    uint32_t nothing = 0;
    const tutti::Status status = (*opened)->pull((self.rank + 1) % 3, &nothing, 0, sizeof nothing);
    EXPECT_EQ(status.code(), tutti::Code::kSystem);
    self.meet_all();
  });
}

TEST_P(Connect, NobodyPullsWhereItIsNotWanted) {
  const tutti::UniqueId id = test_id();
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 2);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    tutti::TransportConfig config = config_of(1);
    config.shared.pulls = false;
    auto transport = GetParam()->connect(**exchange, config);
    ASSERT_TRUE(transport.ok()) << error_of(transport);
    SharedMemory* const memory = (*transport)->shared_memory();
    EXPECT_FALSE(memory != nullptr && memory->can_pull());
  });
}

TEST_P(Connect, ALaneThatIsNotThereIsAnError) {
  run_connected(*GetParam(), 2, 1, [](const Connected& self) {
    SharedMemory* const memory = self.transport.shared_memory();
    if (memory == nullptr) GTEST_SKIP() << "this transport shares no memory";
    EXPECT_FALSE(memory->open_lane_memory(1).ok());
    EXPECT_FALSE(memory->open_lane_memory(-1).ok());
  });
}

TEST_P(Connect, NotifyWakesAPeerThatSleeps) {
  Shared<std::atomic<int>> asleep;
  run_connected(*GetParam(), 2, 1, [&](const Connected& self) {
    SharedState* state = self.transport.recovery().shared_state();
    if (state == nullptr) GTEST_SKIP() << "this transport shares no memory";
    if (self.rank == 0) {
      while (asleep->load() == 0) usleep(1000);
      state->cause_rank = 17;
      state->stop.store(1);
      self.transport.notify();
      return;
    }
    const SpinBudget budget{0, 1, !register_membarrier()};
    Waiter waiter;
    waiter.bell = self.transport.bell(self.rank);
    waiter.sleepers = self.transport.sleepers();
    waiter.budget = &budget;
    waiter.deadline_ms = now_ms() + tutti_test::kLongMs;
    const WaitEnd end = wait_until(waiter, [&] {
      asleep->store(1);
      return state->stop.load() != 0;
    });
    EXPECT_EQ(end, WaitEnd::kReady);
    EXPECT_EQ(state->cause_rank, 17u);
  });
}

TEST_P(Connect, ASingleRankConnectsToItself) {
  run_connected(*GetParam(), 1, 1, [](const Connected& self) {
    EXPECT_EQ(self.transport.process(0).pid, getpid());
    SharedMemory* const memory = self.transport.shared_memory();
    EXPECT_TRUE(memory == nullptr || memory->open_lane_memory(0).ok());
  });
}

TEST_P(Connect, DifferentSizesAreAnErrorThatNamesTheRankOnAll) {
  const UniqueId id = test_id();
  run_processes({3, kLimit, {}}, [&](int rank) {
    auto exchange = tutti_test::meet(id, rank, 3);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    auto transport = GetParam()->connect(**exchange, config_of(rank == 2 ? 4 : 1));
    EXPECT_NE(error_of(transport).find("rank 2 has 4 lanes"), std::string::npos)
        << error_of(transport);
  });
}

TEST_P(Connect, ARankThatDiesMeanwhileIsAnErrorThatNamesIt) {
  const UniqueId id = test_id();
  run_processes({3, std::chrono::seconds(60), {1}}, [&](int rank) {
    auto exchange = tutti_test::meet(id, rank, 3);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (rank == 1) kill_myself();
    auto transport = GetParam()->connect(**exchange, config_of(1));
    EXPECT_EQ(transport.status().code(), Code::kPeerFailed);
    EXPECT_NE(error_of(transport).find("rank 1 (pid "), std::string::npos) << error_of(transport);
  });
}

TUTTI_FOR_ALL_TRANSPORTS(Connect);

}  // namespace
}  // namespace tutti
