// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/processor.hpp"

#include "kernels/targets.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace tutti {
namespace {

TEST(Processor, RunsTheTargetsThatHighwayFinds) {
  const int64_t found = hwy::SupportedTargets();
#if defined(__x86_64__)
  constexpr int64_t kTargets[] = {HWY_AVX3, HWY_AVX2, HWY_SSE4};
#else
  constexpr int64_t kTargets[] = {HWY_SVE2, HWY_SVE, HWY_NEON};
#endif
  for (const int64_t target : kTargets) {
    EXPECT_EQ(processor_runs(target), (found & target) != 0) << hwy::TargetName(target);
  }
}

}  // namespace
}  // namespace tutti
