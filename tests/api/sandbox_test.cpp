// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks in sandboxes, whose filters refuse calls of the system that ranks usually meet by, and
// under limits.
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "support/collectives.hpp"
#include "support/forbidden.hpp"
#include "support/landlock.hpp"

namespace tutti_test {
namespace {

#ifndef SO_PEERPIDFD
constexpr uint32_t SO_PEERPIDFD = 77;
#endif

const std::vector<ForbiddenCall> kNoUnixSockets = {{SYS_socket, EPERM, 0, AF_UNIX}};

struct Sandbox {
  const char* name;
  std::vector<ForbiddenCall> forbidden;
};

void PrintTo(const Sandbox& sandbox, std::ostream* out) { *out << sandbox.name; }

class Sandboxes : public testing::TestWithParam<Sandbox> {};

void run_calls(int rank, tutti_comm_t comm) {
  Collectives on(rank, comm);
  for (const size_t count : {size_t{1}, size_t{3000}, size_t{300000}}) {
    on.allreduce(TUTTI_FLOAT32, Op::kSum, count, {});
    on.alltoall(TUTTI_INT32, count, {});
  }
}

// Calls on all ranks, and on the parts of a split.
void talk(const Ranks& ranks) {
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    run_calls(rank, comm);
    tutti_comm_t half = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank == 0 ? 0 : 1, 0, nullptr, &half));
    run_calls(rank == 0 ? 0 : rank - 1, half);
    EXPECT_OK(tutti_comm_destroy(half));
  });
}

void lose_rank_1(Ranks& ranks) {
  ranks.killed = {1};
  ranks.breaks = true;
  const Meeting met(ranks.count);
  run_ranks(ranks, [&met](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    met.wait();
    if (rank == 1) kill_myself();
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK) status = tutti_barrier(comm);
    EXPECT_EQ(status, TUTTI_ERR_PEER_FAILED) << tutti_last_error();
    EXPECT_ERROR_SAYS("rank 1");
  });
}

TEST_P(Sandboxes, KeepNobodyFromMeetingAndTalking) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) { ASSERT_TRUE(forbid(GetParam().forbidden)); };
  talk(ranks);
}

TEST_P(Sandboxes, HideNoDeath) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) { ASSERT_TRUE(forbid(GetParam().forbidden)); };
  lose_rank_1(ranks);
}

// Filters may be set when a program is about to run what it does not trust.
class LaterSandboxes : public testing::TestWithParam<Sandbox> {};

TEST_P(LaterSandboxes, HideNoDeath) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  Ranks ranks;
  ranks.count = 3;
  ranks.killed = {1};
  ranks.breaks = true;
  const Meeting met(ranks.count);
  run_ranks(ranks, [&met](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    met.wait();
    ASSERT_TRUE(forbid(GetParam().forbidden));
    if (rank == 1) kill_myself();
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK) status = tutti_barrier(comm);
    EXPECT_EQ(status, TUTTI_ERR_PEER_FAILED) << tutti_last_error();
    EXPECT_ERROR_SAYS("rank 1");
  });
}

INSTANTIATE_TEST_SUITE_P(
    Without, Sandboxes,
    testing::Values(
        Sandbox{"memfd", {{SYS_memfd_create, EPERM}}}, Sandbox{"unix_sockets", kNoUnixSockets},
        Sandbox{"both", {{SYS_memfd_create, ENOSYS}, {SYS_socket, EACCES, 0, AF_UNIX}}},
        Sandbox{"accept4", {{SYS_accept4, ENOSYS}}},
        Sandbox{"pidfds",
                {{SYS_pidfd_open, ENOSYS}, {SYS_getsockopt, ENOPROTOOPT, 2, SO_PEERPIDFD}}}),
    testing::PrintToStringParamName());

const std::vector<ForbiddenCall> kNoEpoll = {
#if defined(SYS_epoll_wait)
    {SYS_epoll_wait, EPERM},
#endif
    {SYS_epoll_pwait, EPERM}};
const std::vector<ForbiddenCall> kNoPoll = {
#if defined(SYS_poll)
    {SYS_poll, EPERM},
#endif
    {SYS_ppoll, ENOSYS}};

INSTANTIATE_TEST_SUITE_P(Without, LaterSandboxes,
                         testing::Values(Sandbox{"epoll", kNoEpoll}, Sandbox{"poll", kNoPoll}),
                         testing::PrintToStringParamName());

// A job on this host, of two ranks that are told apart by variables.
void set_place(int rank) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", "2", 1);
}

TEST(Sandbox, WithoutUnixSocketsNamesTheVariablesThatHelp) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  Processes processes;
  processes.count = 2;
  run_processes(processes, [](int rank) {
    set_place(rank);
    ASSERT_TRUE(forbid(kNoUnixSockets));
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_SYSTEM, tutti_comm_create_from_env(nullptr, &comm));
    EXPECT_ERROR_SAYS("set MASTER_ADDR and MASTER_PORT");
  });
}

TEST(Sandbox, WithoutUnixSocketsLetsAJobMeetAtItsMastersAddress) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  const std::string port = std::to_string(20000 + getpid() % 10000);
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&port](int rank) {
    set_place(rank);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", port.c_str(), 1);
    ASSERT_TRUE(forbid(kNoUnixSockets));
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create_from_env(nullptr, &comm));
    run_calls(rank, comm);
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

// Which may use Unix sockets, but not those of one another.
Ranks in_domains_of_their_own() {
  Ranks ranks;
  ranks.count = 3;
  ranks.before = [](int) { ASSERT_TRUE(enter_landlock_domain()); };
  return ranks;
}

TEST(Landlock, DomainsOfTheirOwnLetRanksTalkOverTheNetwork) {
  if (!has_landlock_scopes()) GTEST_SKIP() << "no Landlock with scopes here";
  talk(in_domains_of_their_own());
}

TEST(Landlock, DomainsOfTheirOwnHideNoDeath) {
  if (!has_landlock_scopes()) GTEST_SKIP() << "no Landlock with scopes here";
  Ranks ranks = in_domains_of_their_own();
  lose_rank_1(ranks);
}

// No launcher hands them an id, and the socket of rank 0 is not for the others.
TEST(Landlock, DomainsOfTheirOwnMeetAtAnAddressThatTheUserGives) {
  if (!has_landlock_scopes()) GTEST_SKIP() << "no Landlock with scopes here";
  const std::string address = "127.0.0.1_" + std::to_string(20000 + getpid() % 10000);
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&address](int rank) {
    set_place(rank);
    setenv("CCL_KVS_IP_PORT", address.c_str(), 1);
    ASSERT_TRUE(enter_landlock_domain());
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create_from_env(nullptr, &comm));
    run_calls(rank, comm);
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(Landlock, DomainsOfTheirOwnThatKeepAJobApartNameTheVariableThatHelps) {
  if (!has_landlock_scopes()) GTEST_SKIP() << "no Landlock with scopes here";
  Processes processes;
  processes.count = 2;
  const Meeting tried(2);
  run_processes(processes, [&tried](int rank) {
    set_place(rank);
    setenv("TUTTI_INIT_TIMEOUT_MS", rank == 0 ? "1000" : "60000", 1);
    ASSERT_TRUE(enter_landlock_domain());
    tutti_comm_t comm = nullptr;
    EXPECT_NE(tutti_comm_create_from_env(nullptr, &comm), TUTTI_OK);
    if (rank == 1) {
      EXPECT_ERROR_SAYS("set CCL_KVS_IP_PORT");
    }
    tried.wait();
  });
}

TEST(Limits, OnFilesBelowSharedMemoryAreAnErrorOnAllRanks) {
  IdPipe ids;
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&ids](int rank) {
    const rlimit limit{1 << 20, 1 << 20};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_SYSTEM, tutti_comm_create(&id, rank, 2, nullptr, &comm));
    EXPECT_ERROR_SAYS("1048576 bytes at most");
    EXPECT_ERROR_SAYS("ulimit -f");
  });
}

}  // namespace
}  // namespace tutti_test
