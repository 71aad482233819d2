// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Meetings of ranks that come over TCP, as those of other hosts do.
#include <gtest/gtest.h>

#include <cstdlib>

#include "bootstrap/meeting.hpp"
#include "core/interfaces.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::await;
using tutti_test::bytes;
using tutti_test::error_of;
using tutti_test::free_address;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::meet;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;

std::string fresh_key() {
  static int count = 0;
  return "network test " + std::to_string(getpid()) + " " + std::to_string(count++);
}

// Rank 0 as the others of its host do it, the rest as other hosts do.
Via via_of(int rank) { return rank == 0 ? Via::kAny : Via::kNetwork; }

void expect_gathered(Exchange& exchange, int ranks) {
  auto all = exchange.allgather(bytes("from " + std::to_string(exchange.rank())));
  ASSERT_TRUE(all.ok()) << error_of(all);
  for (int r = 0; r < ranks; ++r) {
    EXPECT_EQ((*all)[static_cast<size_t>(r)], bytes("from " + std::to_string(r)));
  }
}

void meet_at(const std::string& host) {
  const NetAddress address = free_address(host);
  if (!address.known()) GTEST_SKIP() << "this host has no address " << host;
  const UniqueId id = derive_unique_id(fresh_key(), address);
  run_processes({4, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 4, kLongMs, via_of(rank));
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    for (int round = 0; round < 5; ++round) expect_gathered(**exchange, 4);
  });
}

TEST(Network, RanksMeetOverIpv4) { meet_at("127.0.0.1"); }

TEST(Network, RanksMeetOverIpv6) { meet_at("::1"); }

// What open_meeting() and launchers with a key-value space do: the id travels as its bytes.
void meet_by_id_of_rank_0(const char* interface) {
  Shared<tutti_unique_id> shared;
  Shared<std::atomic<int>> made;
  run_processes({3, kLimit, {}}, [&](int rank) {
    if (rank == 0) {
      setenv("CCL_KVS_IFACE", interface, 1);
      auto id = make_unique_id();
      ASSERT_TRUE(id.ok()) << error_of(id);
      EXPECT_NE(id->address.port, 0);
      EXPECT_TRUE(start_service(*id, now_ms() + kLongMs).ok());
      *shared = encode(*id);
      ++*made;
    }
    await(*made, 1);
    auto id = decode(*shared);
    ASSERT_TRUE(id.ok()) << error_of(id);
    auto exchange = join(*id, rank, 3, now_ms() + kLongMs, via_of(rank));
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    expect_gathered(**exchange, 3);
  });
}

TEST(Network, AnIdCarriesTheAddressOfTheInterfaceThatWasChosen) {
  meet_by_id_of_rank_0("lo");
  meet_by_id_of_rank_0("127.0.0.1");
}

TEST(Network, AnIdCarriesTheAddressOfTheDefaultInterface) {
  auto chosen = choose_interface("CCL_KVS_IFACE", "", false);
  ASSERT_TRUE(chosen.ok());
  if (!chosen->known()) GTEST_SKIP() << "this host has no network but the loopback";
  meet_by_id_of_rank_0("");
}

TEST(Network, AnInterfaceThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  auto chosen = choose_interface("CCL_KVS_IFACE", "none7", false);
  EXPECT_EQ(chosen.status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(
      says(error_of(chosen), "CCL_KVS_IFACE is \"none7\", and no interface that is up is meant"));
  EXPECT_TRUE(says(error_of(chosen), "lo (127.0.0.1)"));
}

TEST(Network, CommunicatorsOfOneJobMeetAtOnePortOneAfterTheOther) {
  const NetAddress address = free_address("127.0.0.1");
  const std::string key = fresh_key();
  run_processes({3, kLimit, {}}, [&](int rank) {
    std::vector<std::unique_ptr<Exchange>> exchanges;  // the meetings before go on
    for (int i = 0; i < 10; ++i) {
      const UniqueId id = derive_unique_id(key + std::to_string(i), address);
      auto exchange = meet(id, rank, 3, kLongMs, via_of(rank));
      ASSERT_TRUE(exchange.ok()) << error_of(exchange);
      expect_gathered(**exchange, 3);
      exchanges.push_back(*std::move(exchange));
    }
  });
}

TEST(Network, WhoComesTooEarlyForTheNextMeetingAtAPortWaitsForIt) {
  const NetAddress address = free_address("127.0.0.1");
  const UniqueId first = derive_unique_id(fresh_key(), address);
  const UniqueId second = derive_unique_id(fresh_key(), address);
  Shared<std::atomic<int>> early;
  run_processes({3, kLimit, {}}, [&](int process) {
    if (process == 2) {  // rank 1 of the second alone
      ++*early;
      auto exchange = join(second, 1, 2, now_ms() + kLongMs, Via::kNetwork);
      EXPECT_TRUE(exchange.ok()) << error_of(exchange);
      return;
    }
    if (process == 1) {
      await(*early, 1);
      usleep(50000);
    }
    auto exchange = meet(first, process, 2, kLongMs, via_of(process));
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    if (process == 0) {
      auto next = meet(second, 0, 2);
      EXPECT_TRUE(next.ok()) << error_of(next);
    }
  });
}

TEST(Network, ARankThatNeverComesIsNamedToTheOthers) {
  const UniqueId id = derive_unique_id(fresh_key(), free_address("127.0.0.1"));
  Shared<std::atomic<int>> told;
  run_processes({2, kLimit, {}}, [&](int rank) {
    auto exchange = meet(id, rank, 3, rank == 0 ? 400 : kLongMs, via_of(rank));
    EXPECT_EQ(exchange.status().code(), Code::kTimeout);
    // Rank 1 may be late, too, and is told then.
    EXPECT_TRUE(says(error_of(exchange), "2 of 3 did not arrive within"));
    ++*told;
    await(*told, 2);
  });
}

TEST(Network, WhereNobodyListensATimeoutNamesTheAddress) {
  const UniqueId id = derive_unique_id(fresh_key(), free_address("127.0.0.1"));
  auto exchange = join(id, 1, 2, now_ms() + 50, Via::kNetwork);
  EXPECT_EQ(exchange.status().code(), Code::kTimeout);
  EXPECT_TRUE(says(error_of(exchange), "at " + id.address.text()));
  EXPECT_TRUE(says(error_of(exchange), "Connection refused"));
}

}  // namespace
}  // namespace tutti
