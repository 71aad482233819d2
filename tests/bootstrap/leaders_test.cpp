// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks of several hosts whose leaders take the rounds of a meeting for them, as processes; hosts
// are made of one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <filesystem>
#include <random>

#include "bootstrap/meeting.hpp"
#include "bootstrap/session.hpp"
#include "support/forbidden.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using bootstrap::Frame;
using bootstrap::FrameKind;
using bootstrap::Session;
using tutti_test::await;
using tutti_test::can_forbid;
using tutti_test::error_of;
using tutti_test::forbid;
using tutti_test::kill_myself;
using tutti_test::kLimit;
using tutti_test::kLongMs;
using tutti_test::run_processes;
using tutti_test::says;
using tutti_test::Shared;
using tutti_test::test_id;

constexpr int kHosts = 4;
constexpr int kRanks = 24;  // as many as leaders pay for, with the longest parts there are
constexpr size_t kPart = bootstrap::kMaxGatherBytes;

// What nobody can pack.
std::vector<std::byte> part_of(int rank, int round) {
  std::mt19937 random(static_cast<unsigned>(rank * 1000 + round));
  std::vector<std::byte> part(kPart);
  for (std::byte& byte : part) byte = static_cast<std::byte>(random());
  return part;
}

uint64_t mark_of(int rank) { return static_cast<uint64_t>(1 + rank % kHosts); }

// The service is a process of its own, so that any rank may die.
void serve(const UniqueId& id, const std::atomic<int>& ended, int ranks) {
  log::set_level(LogLevel::kError);
  ASSERT_TRUE(start_service(id, now_ms() + kLongMs).ok());
  await(ended, ranks);
}

Result<std::unique_ptr<Exchange>> come(const UniqueId& id, int rank, int64_t timeout_ms = kLongMs) {
  log::set_level(LogLevel::kError);
  return join(id, {.rank = rank, .ranks = kRanks, .mark = mark_of(rank)}, now_ms() + timeout_ms);
}

void expect_round(Exchange& exchange, int round) {
  const auto all = exchange.allgather(part_of(exchange.rank(), round));
  ASSERT_TRUE(all.ok()) << error_of(all);
  ASSERT_EQ(all->size(), size_t{kRanks});
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ((*all)[static_cast<size_t>(rank)], part_of(rank, round));
  }
}

// The file without a name that this process has open, by its number; 0: none, or several.
uint64_t open_file_without_name() {
  uint64_t found = 0;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string name = std::filesystem::read_symlink(entry.path(), error).string();
    struct stat seen {};
    if (error || name.find("memfd:tutti") == std::string::npos) continue;
    if (stat(entry.path().c_str(), &seen) != 0) continue;
    found = seen.st_ino;
    ++count;
  }
  return count == 1 ? found : 0;
}

TEST(Leaders, PlaceRoundsForTheRanksOfTheirHosts) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> ended;
  Shared<std::array<std::atomic<uint64_t>, kRanks>> files;
  run_processes({kRanks + 1, kLimit, {}}, [&](int rank) {
    if (rank == kRanks) return serve(id, *ended, kRanks);
    auto exchange = come(id, rank);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    for (int round = 0; round < 4; ++round) expect_round(**exchange, round);
    (*files)[static_cast<size_t>(rank)] = open_file_without_name();
    auto control = (*exchange)->stay();
    EXPECT_TRUE(control.ok()) << error_of(control);
    ++*ended;
    await(*ended, kRanks);
  });
  for (size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_NE((*files)[rank], 0u) << "rank " << rank << " has taken no parts by a file";
    EXPECT_EQ((*files)[rank], (*files)[rank % kHosts]);
    if (rank > 0 && rank < kHosts) {
      EXPECT_NE((*files)[rank], (*files)[0]);
    }
  }
}

TEST(Leaders, NeedNotBeThereAfterTheLastRound) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> ended;
  run_processes({kRanks + 1, kLimit, {}}, [&](int rank) {
    if (rank == kRanks) return serve(id, *ended, kRanks);
    auto exchange = come(id, rank);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    expect_round(**exchange, 0);
    exchange->reset();  // the file of those that lead, too
    ++*ended;
  });
}

// On one host no leader can write a file, on another no rank can open it, and on two all is well.
TEST(Leaders, AreDoneWithoutWhereASandboxKeepsThemFromFiles) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  const UniqueId id = test_id();
  Shared<std::atomic<int>> ended;
  run_processes({kRanks + 1, kLimit, {}}, [&](int rank) {
    if (rank == kRanks) return serve(id, *ended, kRanks);
    constexpr auto kLook = static_cast<uint32_t>(O_PATH | O_CLOEXEC);
    if (rank % kHosts == 1) {
      ASSERT_TRUE(forbid({{SYS_memfd_create, ENOSYS}, {SYS_pwrite64, EPERM}}));
    }
    if (rank % kHosts == 2) {
      ASSERT_TRUE(forbid({{SYS_openat, EACCES, 2, kLook}}));
    }
    auto exchange = come(id, rank);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    for (int round = 0; round < 4; ++round) expect_round(**exchange, round);
    ++*ended;
    await(*ended, kRanks);
  });
}

TEST(Leaders, AreNamedToAllWhenTheyDieBetweenRounds) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> came;
  Shared<std::atomic<int>> ended;
  Shared<std::atomic<int>> pid;
  const tutti_test::Meeting all_have_it(kRanks);
  run_processes({kRanks + 1, kLimit, {2}}, [&](int rank) {
    if (rank == kRanks) return serve(id, *ended, kRanks - 1);
    if (rank == 2) *pid = getpid();
    await(*came, rank);  // in their order, so rank 2 leads
    ++*came;
    auto exchange = come(id, rank);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    expect_round(**exchange, 0);
    all_have_it.wait();
    if (rank == 2) kill_myself();
    const auto all = (*exchange)->allgather(part_of(rank, 1));
    EXPECT_EQ(all.status().code(), Code::kPeerFailed);
    EXPECT_TRUE(says(error_of(all), "rank 2 (pid " + std::to_string(*pid)));
    ++*ended;
  });
}

// A rank that does by hand what join() does, up to where it is asked to lead.
class ByHand {
 public:
  explicit ByHand(const UniqueId& id) : session_(Session::Side::kMember, id.name, id.secret) {
    const std::string name = bootstrap::socket_name(id.name);
    while (connect_abstract(name, SocketType::kStream, socket_) != 0) pause_for(1);
  }
  // All that came until a frame of this kind; empty if the connection ended before.
  bool hear(FrameKind kind) {
    for (;;) {
      Frame frame{};
      while (session_.next(frame) == Session::Got::kFrame) {
        if (frame.kind == kind) return true;
      }
      send();
      if (session_.established() && kind == FrameKind::kHello) return true;
      std::byte buffer[4096];
      if (!wait_for(socket_.get(), POLLIN, now_ms() + kLongMs)) return false;
      const ssize_t got = recv(socket_.get(), buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      session_.append({buffer, static_cast<size_t>(got)});
    }
  }
  void say(FrameKind kind, std::span<const std::byte> body) {
    session_.put(kind, {body});
    send();
  }

 private:
  void send() {
    while (!session_.out().empty() && wait_for(socket_.get(), POLLOUT, now_ms() + kLongMs)) {
      const auto& out = session_.out();
      const ssize_t sent = ::send(socket_.get(), out.data(), out.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      session_.out().erase(session_.out().begin(), session_.out().begin() + sent);
    }
  }

  Fd socket_;
  Session session_;
};

TEST(Leaders, AreNamedToAllWhenTheyDieWhileTheirHostWaitsForThem) {
  const UniqueId id = test_id();
  Shared<std::atomic<int>> leads;
  Shared<std::atomic<int>> ended;
  run_processes({kRanks + 1, kLimit, {2}}, [&](int rank) {
    if (rank == kRanks) return serve(id, *ended, kRanks - 1);
    if (rank == 2) {
      ByHand leader(id);
      ASSERT_TRUE(leader.hear(FrameKind::kHello));
      const bootstrap::Hello hello{2,
                                   kRanks,
                                   0,
                                   getpid(),
                                   -1,
                                   bootstrap::host_field("far"),
                                   std::bit_cast<bootstrap::HostMark>(mark_of(2))};
      leader.say(FrameKind::kHello, bytes_of(hello));
      ASSERT_TRUE(leader.hear(FrameKind::kAdmitted));
      ++*leads;
      ASSERT_TRUE(leader.hear(FrameKind::kWelcome));
      leader.say(FrameKind::kGather, part_of(2, 0));
      ASSERT_TRUE(leader.hear(FrameKind::kLead));
      kill_myself();
    }
    await(*leads, 1);
    auto exchange = come(id, rank);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    const bool waits = mark_of(rank) == mark_of(2);
    auto all = (*exchange)->allgather(part_of(rank, 0));
    if (!waits && all.ok()) all = (*exchange)->allgather(part_of(rank, 1));
    EXPECT_EQ(all.status().code(), Code::kPeerFailed);
    EXPECT_TRUE(says(error_of(all), "rank 2 (pid "));
    EXPECT_TRUE(says(error_of(all), "on host far) ended while the communicator was being made"));
    ++*ended;
  });
}

}  // namespace
}  // namespace tutti
