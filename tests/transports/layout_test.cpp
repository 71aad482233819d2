// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tutti::shm {
namespace {

struct Part {
  Extent span;
  int writer;  // -1: several
};

std::vector<Part> parts_of(const Layout& layout) {
  std::vector<Part> parts = {{{0, sizeof(Header)}, -1},       {layout.descriptor(), 0},
                             {layout.members(), -1},          {layout.state(), -1},
                             {layout.sleepers(), -1},         {layout.departures(), -1},
                             {layout.regroup_decision(), -1}, {layout.regroup_signs(), -1}};
  for (int r = 0; r < layout.ranks(); ++r) {
    parts.push_back({layout.bell(r), r});
    parts.push_back({layout.arena_sign(r), r});
    parts.push_back({layout.life_sign(r), r});
    parts.push_back({layout.departure(r), r});
    for (int lane = 0; lane < layout.lanes(); ++lane) {
      parts.push_back({layout.calls(r, lane), r});
      parts.push_back({layout.records(r, lane), r});
      parts.push_back({layout.progress(r, lane), r});
      for (int which : {0, 1}) parts.push_back({layout.slot(r, lane, which), r});
      parts.push_back({layout.ping_pong_slot(r, lane), -1});
      parts.push_back({layout.window(r, lane), r});
      parts.push_back({layout.fallback_lines(r, lane), -1});
      parts.push_back({layout.notes(r, lane), r});
      parts.push_back({layout.fallback_buffer(r, lane), -1});
    }
    for (int channel = 0; channel < layout.channels(); ++channel) {
      parts.push_back({layout.open_rings(channel, r), -1});
      for (int to = 0; to < layout.ranks(); ++to) {
        if (to == r) continue;
        parts.push_back({layout.ring(channel, r, to), -1});
        parts.push_back({layout.ping_pong(channel, r, to), -1});
      }
    }
  }
  std::erase_if(parts, [](auto& part) { return part.span.bytes == 0; });
  std::sort(parts.begin(), parts.end(),
            [](auto& a, auto& b) { return a.span.offset < b.span.offset; });
  return parts;
}

class BlockLayouts : public testing::TestWithParam<std::tuple<int, int, uint64_t>> {
 protected:
  const Layout layout_{std::get<0>(GetParam()),
                       std::get<1>(GetParam()),
                       std::get<1>(GetParam()) + 1,
                       {{.slot_bytes = std::get<2>(GetParam())}, 32 * std::get<2>(GetParam())}};
};

TEST_P(BlockLayouts, NoTwoPartsOverlapAndAllLieInside) {
  const std::vector<Part> parts = parts_of(layout_);
  for (size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LE(parts[i - 1].span.end(), parts[i].span.offset);
  }
  EXPECT_LE(parts.back().span.end(), layout_.total_bytes());
}

TEST_P(BlockLayouts, LinesOfDifferentWritersLieAPairOfLinesApart) {
  const std::vector<Part> parts = parts_of(layout_);
  for (size_t i = 1; i < parts.size(); ++i) {
    const Part& a = parts[i - 1];
    const Part& b = parts[i];
    if (a.writer == b.writer && a.writer >= 0) continue;
    EXPECT_LT((a.span.end() - 1) / kInterferenceBytes, b.span.offset / kInterferenceBytes)
        << "at " << b.span.offset;
  }
}

TEST_P(BlockLayouts, WhatARankWritesInQuantityBeginsOnAPage) {
  for (int r = 0; r < layout_.ranks(); ++r) {
    EXPECT_EQ(layout_.lines(r).offset % kPageBytes, 0u);
    for (int lane = 0; lane < layout_.lanes(); ++lane) {
      EXPECT_EQ(layout_.slot(r, lane, 1).offset % kPageBytes, 0u);
      EXPECT_EQ(layout_.window(r, lane).offset % kPageBytes, 0u);
    }
  }
}

TEST_P(BlockLayouts, WhatIsAlwaysUsedIsTheLinesOfAllLanes) {
  for (int r = 0; r < layout_.ranks(); ++r) {
    const Extent lines = layout_.lines(r);
    for (int lane = 0; lane < layout_.lanes(); ++lane) {
      for (const Extent& line :
           {layout_.calls(r, lane), layout_.records(r, lane), layout_.progress(r, lane)}) {
        EXPECT_GE(line.offset, lines.offset);
        EXPECT_LE(line.end(), lines.end());
      }
    }
    EXPECT_EQ(lines.bytes, static_cast<uint64_t>(layout_.lanes()) * kLinesBytes);
    EXPECT_LE(lines.end(), layout_.near_bytes());
  }
}

void expect_within(const Extent& part, const Extent& whole) {
  EXPECT_GE(part.offset, whole.offset);
  EXPECT_LE(part.end(), whole.end());
}

TEST_P(BlockLayouts, WhatIsMappedAtOnceAreWholePagesAndHasItsParts) {
  for (int lane = 0; lane < layout_.lanes(); ++lane) {
    for (const Extent& whole :
         {layout_.slots(lane), layout_.ping_pong_slots(lane), layout_.windows(lane)}) {
      EXPECT_EQ(whole.offset % kPageBytes, 0u);
      EXPECT_GE(whole.offset, layout_.near_bytes());
    }
    for (int r = 0; r < layout_.ranks(); ++r) {
      for (int which : {0, 1}) expect_within(layout_.slot(r, lane, which), layout_.slots(lane));
      expect_within(layout_.ping_pong_slot(r, lane), layout_.ping_pong_slots(lane));
      expect_within(layout_.window(r, lane), layout_.windows(lane));
      EXPECT_EQ(layout_.fallback_buffer(r, lane).offset % kPageBytes, 0u);
    }
  }
  for (int a = 0; a < layout_.ranks(); ++a) {
    for (int b = 0; b < a; ++b) {
      EXPECT_EQ(layout_.pair(0, a, b).offset % kPageBytes, 0u);
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        expect_within(layout_.ring(0, from, to), layout_.pair(0, a, b));
        expect_within(layout_.ping_pong(0, from, to), layout_.pair(0, a, b));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockLayouts,
                         testing::Combine(testing::Values(1, 2, 5, 130), testing::Values(1, 4),
                                          testing::Values(0, 4096, 5000)));

}  // namespace
}  // namespace tutti::shm
