// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/return_predictor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tutti {
namespace {

void stay_away() { std::this_thread::sleep_for(std::chrono::microseconds(10 * kBackSoonUs)); }

// Even if the thread is held up now and then. Whether no worker is woken any more.
bool come_back_at_once(ReturnPredictor& predictor) {
  for (int i = 0; i < 100'000; ++i) {
    if (!predictor.leaves()) return true;
    predictor.returns();
  }
  return false;
}

TEST(ReturnPredictor, NobodyIsWokenForWhoIsAlwaysBackAtOnce) {
  ReturnPredictor predictor;
  EXPECT_TRUE(predictor.leaves());
  predictor.returns();
  EXPECT_TRUE(predictor.leaves());  // once is not enough
  predictor.returns();
  EXPECT_TRUE(come_back_at_once(predictor));
}

TEST(ReturnPredictor, WhoStaysAwayHasAWorkerWokenEachTime) {
  ReturnPredictor predictor;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(predictor.leaves());
    stay_away();
    predictor.returns();
  }
}

TEST(ReturnPredictor, IsResetWhenAWorkerFindsThatNobodyCame) {
  ReturnPredictor predictor;
  ASSERT_TRUE(come_back_at_once(predictor));
  predictor.stayed_away();
  EXPECT_TRUE(predictor.leaves());
  predictor.returns();
  EXPECT_TRUE(come_back_at_once(predictor));
}

TEST(ReturnPredictor, VisitsAreCountedWhateverItPredicts) {
  ReturnPredictor predictor;
  const uint32_t before = predictor.visits();
  predictor.returns();
  EXPECT_EQ(predictor.visits(), before + 1);
  ASSERT_TRUE(come_back_at_once(predictor));
  const uint32_t known = predictor.visits();
  predictor.returns();
  EXPECT_EQ(predictor.visits(), known + 1);
}

}  // namespace
}  // namespace tutti
