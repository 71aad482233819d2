// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/routes.hpp"

#include <gtest/gtest.h>

namespace tutti::shm {
namespace {

using Route = Routes::Route;

constexpr uint64_t kBytes = 100'000;

// How many of so many messages are read where they lie, if each route takes so many seconds.
int reads_of(Routes& routes, int messages, double read, double ring, uint64_t bytes = kBytes) {
  int reads = 0;
  for (int i = 0; i < messages; ++i) {
    const Route route = routes.better(bytes);
    reads += route == Route::kRead ? 1 : 0;
    routes.took(route, bytes, route == Route::kRead ? read : ring);
  }
  return reads;
}

TEST(Routes, TheFasterIsTakenAndTheOtherTriedNowAndThen) {
  Routes read_is_faster;
  const int reads = reads_of(read_is_faster, 10'000, 1e-6, 2e-6);
  EXPECT_GT(reads, 9'800);
  EXPECT_LT(reads, 10'000 - 10);
  Routes ring_is_faster;
  const int others = reads_of(ring_is_faster, 10'000, 2e-6, 1e-6);
  EXPECT_LT(others, 200);
  EXPECT_GT(others, 10);
}

TEST(Routes, TheSlowerTheOtherTheMoreSeldomItIsTried) {
  Routes a_little;
  Routes a_lot;
  EXPECT_LT(reads_of(a_lot, 10'000, 1e-4, 1e-6), reads_of(a_little, 10'000, 1.5e-6, 1e-6) / 2);
}

TEST(Routes, AChangeIsFoundOut) {
  Routes routes;
  reads_of(routes, 1000, 2e-6, 1e-6);
  EXPECT_EQ(routes.better(kBytes), Route::kRing);
  reads_of(routes, 20, 2e-6, 10e-6);  // the route that is taken has become slower
  EXPECT_EQ(routes.better(kBytes), Route::kRead);
  EXPECT_LT(reads_of(routes, 7000, 2e-6, 1e-6), 3500);  // and fast again
  EXPECT_EQ(routes.better(kBytes), Route::kRing);
}

TEST(Routes, OneThatWasHeldUpChangesNothing) {
  Routes routes;
  reads_of(routes, 10, 2e-6, 1e-6);
  ASSERT_EQ(routes.better(kBytes), Route::kRing);
  routes.took(Route::kRing, kBytes, 1);
  EXPECT_EQ(routes.better(kBytes), Route::kRing);
}

TEST(Routes, SizesAreKnownEachByItself) {
  Routes routes;
  reads_of(routes, 100, 2e-6, 1e-6, 100'000);
  reads_of(routes, 100, 1e-6, 2e-6, 1'000'000);
  EXPECT_EQ(routes.better(1'000'000), Route::kRead);
  EXPECT_FALSE(Routes::includes(routes.need_not_ask(), 1'000'000));
  while (routes.better(100'000) != Route::kRing) reads_of(routes, 1, 2e-6, 1e-6);
  EXPECT_TRUE(Routes::includes(routes.need_not_ask(), 100'000));
  EXPECT_TRUE(Routes::includes(routes.need_not_ask(), 70'000)) << "of the same power of two";
  EXPECT_FALSE(Routes::includes(routes.need_not_ask(), 50'000)) << "not known";
  EXPECT_FALSE(Routes::includes(routes.need_not_ask(), ~uint64_t{0}));
}

TEST(Routes, LongMessagesMayGoPastTheCaches) {
  constexpr uint64_t kLong = 5 << 20;
  Routes routes;
  const auto seconds = [](Route route) {
    return route == Route::kRead ? 3e-3 : route == Route::kRing ? 2e-3 : 1e-3;
  };
  int past = 0;
  for (int i = 0; i < 100; ++i) {
    const Route route = routes.better(kLong);
    past += route == Route::kRingNonTemporal ? 1 : 0;
    routes.took(route, kLong, seconds(route));
    EXPECT_NE(routes.better(kBytes), Route::kRingNonTemporal);
    routes.took(routes.better(kBytes), kBytes, 1e-6);
  }
  EXPECT_GT(past, 80);
  EXPECT_TRUE(Routes::includes(routes.by_ring(), kLong));
  routes.give_up_reading();
  EXPECT_NE(routes.better(kLong), Route::kRead);
  EXPECT_NE(routes.better_by_ring(kLong), Route::kRead);
}

TEST(Routes, ThereMayBeOnlyOne) {
  Routes routes;
  routes.give_up_reading();
  EXPECT_FALSE(Routes::includes(routes.need_not_ask(), kBytes)) << "no message has come yet";
  EXPECT_EQ(reads_of(routes, 1000, 1e-9, 1), 0);
  EXPECT_TRUE(Routes::includes(routes.need_not_ask(), kBytes));
}

}  // namespace
}  // namespace tutti::shm
