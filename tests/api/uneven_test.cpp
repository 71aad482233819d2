// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Sizes of uneven blocks on which the ranks do not agree: a mismatch, found by whoever can.
#include <cstdint>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// Each rank knows its own sizes only: the receiver finds out.
TEST(UnevenSizes, ThatDoNotMeetAreAMismatch) {
  Ranks ranks;
  ranks.count = 2;
  ranks.breaks = true;
  for (const size_t sent : {0UL, 1UL, 3UL, 5000UL}) {
    run_ranks(ranks, [sent](int rank, tutti_comm_t comm) {
      std::vector<int32_t> x(5000);
      std::vector<int32_t> y(5000);
      const size_t counts[2] = {1, 2};  // that the root expects
      const tutti_status status = tutti_gatherv(x.data(), rank == 0 ? 1 : sent, y.data(), counts,
                                                nullptr, TUTTI_INT32, 0, comm);
      if (rank != 0) return;
      EXPECT_EQ(status, TUTTI_ERR_MISMATCH);
      EXPECT_ERROR_SAYS("expects 8 bytes of rank 1");
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
