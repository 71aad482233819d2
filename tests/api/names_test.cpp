// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What errors call the ranks of a communicator of some of the job's ranks.
#include <tutti/tutti.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr int kRanks = 4;

tutti_comm_config config_of(const char* name, int timeout_ms) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = name;
  config.timeout_ms = timeout_ms;
  return config;
}

// Runs body(rank in the job, group "tp" of ranks 1 to 3) on these, by split.
void run_group(const std::vector<int>& killed, int timeout_ms,
               const std::function<void(int rank, tutti_comm_t group)>& body) {
  Ranks ranks;
  ranks.count = kRanks;
  ranks.killed = killed;
  ranks.breaks = !killed.empty();
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    const tutti_comm_config config = config_of("tp", timeout_ms);
    tutti_comm_t group = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank == 0 ? TUTTI_NO_COLOR : 0, rank, &config, &group));
    if (rank == 0) return;
    body(rank, group);
    (void)tutti_comm_destroy(group);
  });
}

TEST(Names, ALateRankOfAGroupIsNamedByBothNumbersAndTheGroup) {
  Meeting over(3);
  run_group({}, 500, [&](int rank, tutti_comm_t group) {
    if (rank != 3) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_barrier(group));
      EXPECT_ERROR_SAYS("rank 2 of group \"tp\" (global rank 3, pid ");
      EXPECT_ERROR_SAYS("has not entered");
      EXPECT_ERROR_SAYS(" of group \"tp\" (global rank ");
    }
    over.wait();
  });
}

TEST(Names, ARankOfAGroupThatDiedIsNamedByBothNumbersAndTheGroup) {
  run_group({3}, 60'000, [&](int rank, tutti_comm_t group) {
    if (rank == 3) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_barrier(group));
    EXPECT_ERROR_SAYS("rank 2 of group \"tp\" (global rank 3, pid ");
    EXPECT_ERROR_SAYS("has died");
  });
}

TEST(Names, AMismatchInAGroupNamesBothNumbersAndTheGroup) {
  run_group({}, 60'000, [&](int rank, tutti_comm_t group) {
    float x = 0;
    const tutti_type type = rank == 3 ? TUTTI_INT32 : TUTTI_FLOAT32;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_allreduce(&x, &x, 1, type, TUTTI_SUM, group));
    EXPECT_ERROR_SAYS("rank 2 of group \"tp\" (global rank 3)");
  });
}

TEST(Names, AnAbortAndAMessageInAGroupNameBothNumbersAndTheGroup) {
  Meeting aborted(3);
  run_group({}, 60'000, [&](int rank, tutti_comm_t group) {
    if (rank == 1) {
      EXPECT_OK(tutti_comm_abort(group, "enough"));
    }
    aborted.wait();
    float x = 0;
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_recv(&x, 1, TUTTI_FLOAT32, 2, 0, group, nullptr));
    EXPECT_ERROR_SAYS("from rank 2 of group \"tp\" (global rank 3)");
    EXPECT_ERROR_SAYS("aborted by rank 0 of group \"tp\" (global rank 1, pid ");
  });
}

TEST(Names, RanksOfAGroupOfAGroupAreNamedByTheJobsNumbers) {
  Meeting over(3);
  run_group({}, 60'000, [&](int rank, tutti_comm_t group) {
    const tutti_comm_config config = config_of("inner", 500);
    tutti_comm_t inner = nullptr;
    ASSERT_OK(tutti_comm_split(group, 0, -rank, &config, &inner));  // 3, 2, 1
    if (rank != 3) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_barrier(inner));
      EXPECT_ERROR_SAYS("rank 0 of group \"inner\" (global rank 3, pid ");
    }
    over.wait();
    (void)tutti_comm_destroy(inner);
  });
}

TEST(Names, TheMakerOfAGroupByAnIdSaysWhatItsRanksAreCalled) {
  IdPipe ids;
  Meeting over(2);
  run_processes({.count = 2, .killed = {}}, [&](int rank) {
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    tutti_comm_config config = config_of("dp", 500);
    int numbers[] = {4, 7};
    config.global_ranks = numbers;
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, rank, 2, &config, &comm));
    numbers[1] = 8;  // they were copied
    if (rank == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_barrier(comm));
      EXPECT_ERROR_SAYS("rank 0 of group \"dp\" (global rank 4) waited");
      EXPECT_ERROR_SAYS("rank 1 of group \"dp\" (global rank 7, pid ");
    }
    over.wait();
    (void)tutti_comm_destroy(comm);
  });
}

TEST(Names, AGroupThatIsNotMadeIsNamedWithItsRanks) {
  run_processes({.count = 1, .killed = {}}, [](int) {
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    tutti_comm_config config = config_of("dp", 500);
    config.init_timeout_ms = 300;
    int numbers[] = {4, 5, 7};
    config.global_ranks = numbers;
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_create(&id, 0, 3, &config, &comm));
    EXPECT_ERROR_SAYS("group \"dp\" (global ranks 4 to 5, 7)");
    numbers[1] = -1;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_create(&id, 0, 3, &config, &comm));
    EXPECT_ERROR_SAYS("global_ranks has -1 for rank 1");
  });
}

TEST(Names, ACommunicatorMadeByAnIdEndsWithTheFailureOfItsParent) {
  IdPipe ids;
  Ranks ranks;
  ranks.count = 3;
  ranks.killed = {2};
  ranks.breaks = true;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    if (rank == 2) kill_myself();
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    tutti_comm_config config = config_of("again", 60'000);
    config.init_timeout_ms = -1;
    config.parent = comm;
    tutti_comm_t made = nullptr;
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_comm_create(&id, rank, 3, &config, &made));
    EXPECT_ERROR_SAYS("rank 2 (pid ");
    EXPECT_EQ(made, nullptr);
  });
}

}  // namespace
}  // namespace tutti_test
