// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/trial_policy.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr TriedCall kLong{.bytes = 16 << 20,
                          .in_slot_bytes = 64 << 10,
                          .seconds = 1,
                          .has_root = false,
                          .oversubscribed = false};

TriedCall with_bytes(uint64_t bytes, bool has_root = false) {
  TriedCall call = kLong;
  call.bytes = bytes;
  call.has_root = has_root;
  return call;
}

TEST(TrialPolicy, ShortCallsKeepToOneRoute) {
  EXPECT_TRUE(may_try_other_route(kLong));
  EXPECT_FALSE(may_try_other_route(with_bytes(4)));
}

TEST(TrialPolicy, CallsWithARootThatRunAheadKeepToOneRoute) {
  TriedCall call = with_bytes(200 << 10, true);
  EXPECT_TRUE(may_try_other_route(call)) << "longer than a slot";
  call.in_slot_bytes = call.bytes;
  EXPECT_FALSE(may_try_other_route(call));
  call.has_root = false;
  EXPECT_TRUE(may_try_other_route(call));
}

TEST(TrialPolicy, OversubscribedRanksTryOnlyCallsThatTakeLong) {
  TriedCall call = kLong;
  call.oversubscribed = true;
  EXPECT_TRUE(may_try_other_route(call));
  call.seconds = 1e-6;
  EXPECT_FALSE(may_try_other_route(call));
}

TEST(TrialPolicy, AnAlgorithmThatIsThoughtFarSlowerIsNotTried) {
  EXPECT_GT(most_seconds_of_other_route(kLong), kLong.seconds);
  EXPECT_LT(most_seconds_of_other_route(kLong), 100 * kLong.seconds);
}

}  // namespace
}  // namespace tutti
