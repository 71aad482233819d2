// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

// What each of two ranks is told when rank 1 has other settings.
std::vector<std::string> told(const Environment& of_rank_1) {
  std::vector<std::string> errors(2);
  ThreadMeeting meeting(2);
  const auto rank_calls = [&](int rank) {
    ThreadExchange exchange(meeting, rank);
    const Environment environment = rank == 1 ? of_rank_1 : Environment();
    const auto agreement = agree(exchange, environment, environment.strict);
    if (!agreement.ok()) errors[static_cast<size_t>(rank)] = agreement.status().message();
  };
  std::thread other(rank_calls, 1);
  rank_calls(0);
  other.join();
  return errors;
}

TEST(Settings, ThatDifferAreNamedWithBothValuesOnAllRanks) {
  Environment other;
  other.alltoallv = "flat";
  EXPECT_EQ(told(other),
            (std::vector<std::string>{
                "CCL_ALLTOALLV differs between ranks: not set on rank 0, flat on rank 1",
                "CCL_ALLTOALLV differs between ranks: flat on rank 1, not set on rank 0"}));
  other = {};
  other.pull = false;
  EXPECT_EQ(told(other)[0], "TUTTI_SHM_PULL differs between ranks: auto on rank 0, 0 on rank 1");
  other = {};
  other.strict = true;
  EXPECT_EQ(told(other)[0], "TUTTI_STRICT differs between ranks: 0 on rank 0, 1 on rank 1");
  other = {};
  other.net_encrypt = true;
  EXPECT_EQ(told(other)[0], "TUTTI_NET_ENCRYPT differs between ranks: 0 on rank 0, 1 on rank 1");
}

TEST(Settings, OfOneProcessMayDiffer) {
  Environment other;
  other.log_level = LogLevel::kError;
  other.timeout_ms = TimeLimit{1};
  EXPECT_EQ(told(other), std::vector<std::string>(2));
}

}  // namespace
}  // namespace tutti
