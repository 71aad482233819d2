// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti_alloc and tutti_free.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

TEST(AllocatedMemory, IsZeroedAndAligned) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    for (const size_t bytes : {size_t{1}, size_t{64}, size_t{100000}, kHugePage, kHugePage + 1}) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(comm, bytes, &memory));
      const auto* const begin = static_cast<const unsigned char*>(memory);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (bytes < kHugePage ? 64 : kHugePage), 0u);
      EXPECT_TRUE(std::all_of(begin, begin + bytes, [](unsigned char byte) { return byte == 0; }));
      std::fill_n(static_cast<unsigned char*>(memory), bytes, static_cast<unsigned char>(255));
      ASSERT_OK(tutti_free(comm, memory));
    }
  });
}

TEST(AllocatedMemory, IsABufferLikeAnyOther) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    constexpr size_t kCount = 1 << 20;
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(comm, kCount * sizeof(float), &memory));
    auto* const data = static_cast<float*>(memory);
    std::fill_n(data, kCount, static_cast<float>(rank + 1));
    ASSERT_OK(tutti_allreduce(data, data, kCount, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_EQ(std::count(data, data + kCount, 3.0f), static_cast<ptrdiff_t>(kCount));
    // Not freed: it goes with the communicator, which a leak checker sees.
  });
}

// Messages from it are copied where they lie, those of other memory that come in between are not.
TEST(AllocatedMemory, HoldsMessages) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    constexpr size_t kCount = 200'000;
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(comm, kCount * sizeof(float), &memory));
    auto* const given = static_cast<float*>(memory);
    std::vector<float> other(kCount);
    std::vector<float> got(kCount);
    for (int i = 0; i < 30; ++i) {
      float* const sent = i % 3 == rank ? other.data() : given;
      std::fill_n(sent, kCount, static_cast<float>(2 * i + rank));
      ASSERT_OK(tutti_sendrecv(sent, kCount, 1 - rank, 0, got.data(), kCount, 1 - rank, 0,
                               TUTTI_FLOAT32, comm, nullptr));
      const auto expected = static_cast<float>(2 * i + 1 - rank);
      ASSERT_EQ(std::count(got.begin(), got.end(), expected), static_cast<ptrdiff_t>(kCount)) << i;
    }
  });
}

// Peers read it where it lies, in sizes at which they would not do so with other memory; but only
// if the buffers of all are such. In lanes of several workers, too.
void exchange(Collectives& on, size_t count, const Variant& variant) {
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.allreduce(TUTTI_BFLOAT16, Op::kAvg, count, variant);
  on.allreduce(TUTTI_FLOAT64, Op::kPremul, count, variant);
  on.reduce_scatter(TUTTI_INT32, Op::kMax, count, variant);
  on.allgather(TUTTI_FLOAT64, count, variant);
  on.alltoall(TUTTI_INT16, count, variant);
  on.broadcast(TUTTI_INT64, count, on.ranks() - 1, {variant.form, false, variant.skewed});
  on.reduce(TUTTI_FLOAT32, Op::kSum, count, 0, variant);
  on.gather(TUTTI_INT8, count, 0, variant);
  on.scatter(TUTTI_INT32, count, on.ranks() - 1, variant);
  on.allgatherv(TUTTI_FLOAT32, count, variant);
  on.reduce_scatterv(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.alltoallv(TUTTI_FLOAT32, count, variant);
  on.gatherv(TUTTI_INT16, count, 0, variant);
  on.scatterv(TUTTI_FLOAT32, count, on.ranks() - 1, variant);
}

class GivenMemory : public testing::TestWithParam<int> {};

TEST_P(GivenMemory, OfAllOrSomeRanksGivesTheReference) {
  Ranks ranks;
  ranks.count = GetParam();
  ranks.before = [](int /*rank*/) {
    setenv("CCL_WORKER_COUNT", "2", 1);
    setenv("TUTTI_STREAM_BYTES", "1000000", 1);
  };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    for (const bool by_all : {true, false}) {
      on.use_given_memory(by_all || rank > 0);
      for (const Form form : kForms) {
        for (const bool in_place : {false, true}) {
          for (const size_t count : {20'001UL, 300'000UL}) exchange(on, count, {form, in_place});
        }
        on.allreduce(TUTTI_FLOAT32, Op::kSum, 300'000, {form, rank == 0});
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, GivenMemory, testing::Values(2, 3, 4));

TEST(AllocatedMemory, IsZeroedAgainWhenItIsGivenAgain) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    for (int turn = 0; turn < 3; ++turn) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(comm, kHugePage, &memory));
      auto* const begin = static_cast<unsigned char*>(memory);
      EXPECT_EQ(std::count(begin, begin + kHugePage, 0), static_cast<ptrdiff_t>(kHugePage));
      std::fill_n(begin, kHugePage, static_cast<unsigned char>(255));
      ASSERT_OK(tutti_free(comm, memory));
    }
  });
}

TEST(AllocatedMemory, OfNoBytesIsNull) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    void* memory = &comm;
    ASSERT_OK(tutti_alloc(comm, 0, &memory));
    EXPECT_EQ(memory, nullptr);
    EXPECT_OK(tutti_free(comm, nullptr));
  });
}

TEST(AllocatedMemory, OfOthersOrFreedBeforeIsNotFreed) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    void* memory = nullptr;
    int mine = 0;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_free(comm, &mine));
    EXPECT_ERROR_SAYS("tutti_free");
    ASSERT_OK(tutti_alloc(comm, 3 * kHugePage, &memory));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_free(comm, static_cast<unsigned char*>(memory) + 64));
    EXPECT_OK(tutti_free(comm, memory));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_free(comm, memory));
  });
}

TEST(AllocatedMemory, ThatDoesNotExistIsAnError) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    void* memory = &comm;
    EXPECT_STATUS(TUTTI_ERR_OUT_OF_MEMORY, tutti_alloc(comm, SIZE_MAX, &memory));
    EXPECT_EQ(memory, nullptr);
    EXPECT_STATUS(TUTTI_ERR_OUT_OF_MEMORY, tutti_alloc(comm, size_t{1} << 50, &memory));
    EXPECT_ERROR_SAYS("tutti_alloc");
  });
}

}  // namespace
}  // namespace tutti_test
