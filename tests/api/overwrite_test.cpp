// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who only gives may be calls ahead of who takes (ahead_test.cpp), but not so far that it writes
// over what it gave and is still read.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

// Calls of one size walk through the slots; after so many of them they walk further.
constexpr int kWalksFurther = 1000;

class Overwrite : public testing::TestWithParam<int> {};

// Broadcasts `calls` times, each its own number, to a reader that is late in those from `late` on.
void broadcast_numbers(int count, int calls, int late) {
  run_ranks(2, [=](int rank, tutti_comm_t comm) {
    std::vector<int32_t> data(static_cast<size_t>(count));
    for (int call = 0; call < calls; ++call) {
      if (rank == 0) std::fill(data.begin(), data.end(), call);
      if (rank == 1 && call >= late) std::this_thread::sleep_for(std::chrono::microseconds(200));
      ASSERT_OK(tutti_broadcast(data.data(), data.size(), TUTTI_INT32, 0, comm));
      if (rank == 1) {
        const auto right = std::count(data.begin(), data.end(), call);
        ASSERT_EQ(right, count) << "call " << call << " of " << count << " elements";
      }
    }
  });
}

TEST_P(Overwrite, ABroadcastWaitsUntilItsPlaceIsNoLongerRead) {
  broadcast_numbers(GetParam(), kWalksFurther + 60, kWalksFurther - 60);
}
INSTANTIATE_TEST_SUITE_P(Sizes, Overwrite, testing::Values(16, 256, 1024, 1500, 2048),
                         testing::PrintToStringParamName());

TEST(Overwrite, OfMessagesInChunksNoneIsLostEither) {
  broadcast_numbers(1 << 18, 40, 10);
  broadcast_numbers((3 << 18) + 5, 20, 5);
}

}  // namespace
}  // namespace tutti_test
