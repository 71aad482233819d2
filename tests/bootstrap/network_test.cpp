// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Meetings of ranks that come over TCP, as those of other hosts do.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bootstrap/meeting.hpp"
#include "bootstrap/service_address.hpp"
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

// Makes `text` all that this process finds in /etc/hosts; false where it may not.
bool become_host_with_names(const std::string& text) {
  const std::string path = "/tmp/tutti-hosts-" + std::to_string(getpid());
  std::ofstream(path) << text;
  const bool done = unshare(CLONE_NEWNS) == 0 &&
                    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount(path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
  unlink(path.c_str());
  return done;
}

// As of a pod with the network of its node.
TEST(Network, AHostWhoseNameIsItsLoopbackIsMetWhereOthersReachIt) {
  const auto chosen = choose_interface("CCL_KVS_IFACE", "", false);
  ASSERT_TRUE(chosen.ok());
  if (!chosen->known()) GTEST_SKIP() << "this host has no network but the loopback";
  const uint16_t port = free_address(chosen->host_text()).port;
  const std::string key = fresh_key();
  Shared<std::atomic<int>> able;
  run_processes({3, kLimit, {}}, [&](int rank) {
    if (!become_host_with_names("127.0.0.1 localhost node-7\n::1 localhost6 node-8\n")) return;
    ++*able;
    for (const char* name : {"node-7", "node-8"}) {
      const auto address = bootstrap::address_on_host(name, port, false);
      ASSERT_TRUE(address.ok()) << error_of(address);
      EXPECT_EQ(address->host_text(), chosen->host_text()) << name;
      const UniqueId id = derive_unique_id(key + name, *address);
      auto exchange = meet(id, rank, 3, kLongMs, via_of(rank));
      ASSERT_TRUE(exchange.ok()) << error_of(exchange);
      expect_gathered(**exchange, 3);
    }
    for (const char* own : {"localhost", "127.0.0.1", "127.0.1.1"}) {
      const auto address = bootstrap::address_on_host(own, port, false);
      ASSERT_TRUE(address.ok()) << error_of(address);
      EXPECT_TRUE(address->loopback()) << own;
    }
  });
  if (*able == 0) GTEST_SKIP() << "this user may not make mount namespaces";
}

// As of containers whose interfaces have one before any other.
TEST(Network, ALinkLocalAddressIsPassedOverThoughItComesFirst) {
  Shared<std::atomic<int>> able;
  run_processes({1, kLimit, {}}, [&](int) {
    if (!become_host_with_names("fe80::1 node-9\nfd00::5 node-9\nfe80::1 node-10\n")) return;
    if (unshare(CLONE_NEWNET) != 0) return;
    constexpr const char* kMakeInterface =
        "ip link add d0 type veth peer name d1 && ip link set d1 up && ip link set d0 up && "
        "ip addr add fe80::77/64 dev d0 nodad && ip addr add fd00::5/64 dev d0 nodad";
    if (std::system(kMakeInterface) != 0) return;
    ++*able;
    const auto chosen = choose_interface("CCL_KVS_IFACE", "", true);
    ASSERT_TRUE(chosen.ok()) << error_of(chosen);
    EXPECT_EQ(chosen->host_text(), "fd00::5");
    const auto named = bootstrap::address_on_host("node-9", 1234, true);
    ASSERT_TRUE(named.ok()) << error_of(named);
    EXPECT_EQ(named->text(), "[fd00::5]:1234");
    EXPECT_TRUE(says(error_of(bootstrap::address_on_host("node-10", 1234, true)),
                     "looking up the address of host \"node-10\": it has no address"));
  });
  if (*able == 0) GTEST_SKIP() << "this user may not make namespaces, or has no ip";
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
