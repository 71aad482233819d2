// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti_alloc and tutti_free.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/ranks.hpp"

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
