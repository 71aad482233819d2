// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Floats whose sum depends on the order: every rank gets the same bits, those of the sum in rank
// order, whatever the size of the message and the number of workers.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr tutti_type kFloats[] = {TUTTI_FLOAT16,   TUTTI_BFLOAT16,    TUTTI_FLOAT32,
                                  TUTTI_FLOAT64,   TUTTI_FLOAT8_E4M3, TUTTI_FLOAT8_E5M2,
                                  TUTTI_COMPLEX64, TUTTI_COMPLEX128};

// The bits that every rank must get, one period of them.
Bytes sum_in_rank_order(tutti_type type, int ranks, Op op) {
  std::vector<Bytes> inputs;
  for (int rank = 0; rank < ranks; ++rank) inputs.push_back(rough_pattern(type, rank, 1));
  return reduce(type, op, inputs);
}

class FloatSums : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(FloatSums, AreTheSumInRankOrderBitForBit) {
  Ranks ranks;
  ranks.count = std::get<0>(GetParam());
  ranks.before = [](int) { setenv("CCL_WORKER_COUNT", std::get<1>(GetParam()), 1); };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    for (const tutti_type type : kFloats) {
      const size_t size = format_of(type).size;
      const Bytes mine = rough_pattern(type, rank, 1);
      for (const Op op : {Op::kSum, Op::kAvg}) {
        const Bytes expected = sum_in_rank_order(type, ranks.count, op);
        for (const size_t count : {1u, 5u, 14u, 300u, 5000u, 70001u, 600011u}) {
          Bytes data(count * size);
          tile(data.data(), mine, size, 0, count);
          const OpHandle handle(op, type, rank);
          tutti_request_t request = nullptr;
          ASSERT_OK(tutti_iallreduce(data.data(), data.data(), count, type, handle.get(), comm,
                                     &request));
          ASSERT_OK(tutti_request_wait(request));
          ASSERT_OK(tutti_request_free(request));
          EXPECT_EQ(difference(data.data(), expected, size, 0, count), "")
              << tutti_type_name(type) << " " << op_name(op) << " x " << count;
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(RanksAndWorkers, FloatSums,
                         testing::Combine(testing::Values(2, 3, 4, 7), testing::Values("1", "2")),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_ranks_" +
                                  std::get<1>(info.param) + "_workers";
                         });

// Whatever algorithm is demanded: those that round on the way are not for narrow floats.
TEST(Floats, NarrowSumsAreRoundedOnceWhateverIsDemanded) {
  constexpr size_t kCount = 300;
  for (const char* algorithm :
       {"ring", "circulant", "rabenseifner", "bine", "recursive_doubling", "tree", "double_tree"}) {
    Ranks ranks;
    ranks.count = 5;
    ranks.before = [&](int) { setenv("CCL_ALLREDUCE", algorithm, 1); };
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      for (const tutti_type type : {TUTTI_FLOAT16, TUTTI_BFLOAT16, TUTTI_FLOAT8_E4M3}) {
        const size_t size = format_of(type).size;
        Bytes data(kCount * size);
        tile(data.data(), rough_pattern(type, rank, 1), size, 0, kCount);
        ASSERT_OK(tutti_allreduce(data.data(), data.data(), kCount, type, TUTTI_SUM, comm));
        const Bytes expected = sum_in_rank_order(type, ranks.count, Op::kSum);
        EXPECT_EQ(difference(data.data(), expected, size, 0, kCount), "")
            << tutti_type_name(type) << " by " << algorithm;
      }
    });
  }
}

TEST(Floats, ANotANumberWinsMinMaxAndSum) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const tutti_op op : {TUTTI_MIN, TUTTI_MAX, TUTTI_SUM}) {
      for (int with_nan = 0; with_nan < 3; ++with_nan) {
        double x[2] = {rank == with_nan ? kNan : rank, 1};
        ASSERT_OK(tutti_allreduce(x, x, 2, TUTTI_FLOAT64, op, comm));
        EXPECT_TRUE(std::isnan(x[0])) << "operation " << op << ", from rank " << with_nan;
        EXPECT_FALSE(std::isnan(x[1]));
      }
    }
  });
}

TEST(Floats, NegativeZeroIsLessThanZero) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (const bool swapped : {false, true}) {
      const float mine = (rank == 0) != swapped ? 0.0f : -0.0f;
      float least = mine;
      float most = mine;
      ASSERT_OK(tutti_allreduce(&least, &least, 1, TUTTI_FLOAT32, TUTTI_MIN, comm));
      ASSERT_OK(tutti_allreduce(&most, &most, 1, TUTTI_FLOAT32, TUTTI_MAX, comm));
      EXPECT_TRUE(std::signbit(least));
      EXPECT_FALSE(std::signbit(most));
    }
  });
}

}  // namespace
}  // namespace tutti_test
