// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sizes of uneven blocks on which the ranks do not agree: a mismatch, found by whoever can.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// Each rank knows its own sizes only: the receiver finds out, however the block comes to it.
void expect_mismatch(size_t expected, size_t sent, const char* algorithm, const char* pulls) {
  Ranks ranks;
  ranks.count = 2;
  ranks.breaks = true;
  ranks.before = [&](int) {
    setenv("CCL_GATHERV", algorithm, 1);
    setenv("TUTTI_SHM_PULL", pulls, 1);
  };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<int32_t> x(5000);
    std::vector<int32_t> y(5001);
    const size_t counts[2] = {1, expected};
    const tutti_status status = tutti_gatherv(x.data(), rank == 0 ? 1 : sent, y.data(), counts,
                                              nullptr, TUTTI_INT32, 0, comm);
    if (rank != 0) return;
    EXPECT_EQ(status, TUTTI_ERR_MISMATCH);
    const std::string text =
        "expects " + std::to_string(expected * 4) + " bytes of rank 1, which sends ";
    EXPECT_ERROR_SAYS(text.c_str());
  });
}

TEST(UnevenSizes, ThatDoNotMeetAreAMismatch) {
  for (const size_t sent : {0UL, 1UL, 3UL, 5000UL}) expect_mismatch(2, sent, "direct", "1");
  for (const size_t sent : {0UL, 1UL, 5000UL}) {
    expect_mismatch(2, sent, "mixed", "1");
    expect_mismatch(4000, sent, "mixed", "0");
  }
  expect_mismatch(4000, 5000, "mixed", "1");
  expect_mismatch(0, 1, "mixed", "1");
}

// Whether blocks lie in the line, in the slot, or are sent.
TEST(UnevenSizes, OfAnyLengthThatDoNotMeetAreAMismatch) {
  for (const size_t expected : {0UL, 12UL, 13UL, 2000UL, 4000UL}) {
    for (const size_t sent : {0UL, 12UL, 13UL, 2000UL, 4000UL}) {
      if (sent != expected) expect_mismatch(expected, sent, "mixed", "1");
    }
  }
}

// Both may be wrong at once, and there may be many ways to see it.
TEST(UnevenSizes, OfAllRanksThatDoNotMeetAreAMismatch) {
  Ranks ranks;
  ranks.count = 3;
  ranks.breaks = true;
  for (const size_t expected : {0UL, 1UL, 5000UL}) {
    run_ranks(ranks, [expected](int rank, tutti_comm_t comm) {
      const auto me = static_cast<size_t>(rank);
      std::vector<int32_t> x(6000);
      std::vector<int32_t> y(15000);
      size_t given[3] = {2, 2, 2};
      size_t taken[3] = {expected, expected, expected};
      taken[me] = 2;
      EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_alltoallv(x.data(), given, nullptr, y.data(), taken,
                                                        nullptr, TUTTI_INT32, comm));
      EXPECT_ERROR_SAYS("which sends 8 bytes");
    });
  }
}

TEST(UnevenSizes, ThatAllRanksKnowMustBeEqual) {
  Ranks ranks;
  ranks.count = 2;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    const int32_t x[2] = {};
    int32_t y[4] = {};
    const size_t counts[2] = {1, rank == 0 ? size_t{1} : size_t{2}};
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_allgatherv(x, y, counts, nullptr, TUTTI_INT32, comm));
    EXPECT_ERROR_SAYS("allgatherv #1 (int32), but the count for rank 1 differs");
  });
}

// A thread's last layouts are kept: whatever differs from them is seen.
TEST(UnevenLayouts, OfACallAreItsOwn) {
  Ranks ranks;
  ranks.count = 2;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    const std::vector<int32_t> x = {10 * rank + 1, 10 * rank + 2, 10 * rank + 3};
    for (int round = 0; round < 3; ++round) {
      for (const size_t gap : {0UL, 2UL}) {
        for (const size_t others : {0UL, 1UL, 3UL}) {
          const size_t counts[2] = {2, others};
          const size_t displs[2] = {gap, gap + 2};
          std::vector<int32_t> y(8, -1);
          ASSERT_OK(tutti_allgatherv(x.data(), y.data(), counts, gap == 0 ? nullptr : displs,
                                     TUTTI_INT32, comm));
          std::vector<int32_t> expected(8, -1);
          for (size_t i = 0; i < 2; ++i) expected[gap + i] = static_cast<int32_t>(i) + 1;
          for (size_t i = 0; i < others; ++i) expected[gap + 2 + i] = static_cast<int32_t>(i) + 11;
          EXPECT_EQ(y, expected);
        }
      }
    }
  });
}

TEST(UnevenLayouts, ThatWereRightOnceAreCheckedAgain) {
  Ranks ranks;
  ranks.count = 1;
  run_ranks(ranks, [](int, tutti_comm_t comm) {
    double x = 1;
    double y = 0;
    size_t counts[1] = {1};
    ASSERT_OK(tutti_allgatherv(&x, &y, counts, nullptr, TUTTI_FLOAT64, comm));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_allgatherv(&x, nullptr, counts, nullptr, TUTTI_FLOAT64, comm));
    EXPECT_ERROR_SAYS("recv is NULL, and a count is 1");
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_alltoallv(&x, counts, nullptr, &y, nullptr, nullptr, TUTTI_FLOAT64, comm));
    EXPECT_ERROR_SAYS("recv_counts is NULL");
    ASSERT_OK(tutti_allgatherv(&x, &y, counts, nullptr, TUTTI_FLOAT64, comm));

    // Few bytes for one type are many for another.
    counts[0] = size_t{1} << 46;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_allgatherv_init(&y, &y, counts, nullptr, TUTTI_INT8, comm, &request));
    ASSERT_OK(tutti_request_free(request));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_allgatherv(&y, &y, counts, nullptr, TUTTI_FLOAT64, comm));
    EXPECT_ERROR_SAYS("do not fit into an address space");
  });
}

// Calls a collective of a communicator of this process alone, with other layouts, as a completion
// function may. (tutti.h forbids it here, where it is sure to happen during a call.)
void add_by_way_of(const void* source, void* accumulator, size_t count, tutti_type, void* alone) {
  const auto* from = static_cast<const int32_t*>(source);
  auto* to = static_cast<int32_t*>(accumulator);
  for (size_t i = 0; i < count; ++i) {
    const int32_t one = from[i];
    int32_t same = 0;
    const size_t counts[1] = {1};
    EXPECT_STATUS(TUTTI_OK, tutti_allgatherv(&one, &same, counts, nullptr, TUTTI_INT32,
                                             static_cast<tutti_comm_t>(alone)));
    to[i] += same;
  }
}

TEST(UnevenLayouts, OfACallWithinAnotherAreItsOwn) {
  Ranks ranks;
  ranks.count = 2;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    tutti_comm_t alone = nullptr;
    ASSERT_OK(tutti_comm_split(comm, rank, 0, nullptr, &alone));
    tutti_op op = TUTTI_SUM;
    ASSERT_OK(tutti_op_create_user(add_by_way_of, alone, &op));
    const int32_t x[3] = {rank + 1, rank + 2, rank + 3};
    const size_t counts[2] = {2, 1};
    for (int round = 0; round < 2; ++round) {
      int32_t y[2] = {};
      ASSERT_OK(tutti_reduce_scatterv(x, y, counts, TUTTI_INT32, op, comm));
      EXPECT_EQ(y[0], rank == 0 ? 3 : 7);
      EXPECT_EQ(y[1], rank == 0 ? 5 : 0);
    }
    ASSERT_OK(tutti_op_destroy(op));
    ASSERT_OK(tutti_comm_destroy(alone));
  });
}

}  // namespace
}  // namespace tutti_test
