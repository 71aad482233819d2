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
    const size_t counts[2] = {2, rank == 0 ? size_t{1} : size_t{2}};
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_allgatherv(x, y, counts, nullptr, TUTTI_INT32, comm));
    EXPECT_ERROR_SAYS("allgatherv");
  });
}

}  // namespace
}  // namespace tutti_test
