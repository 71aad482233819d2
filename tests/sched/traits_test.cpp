// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/traits.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "sched/builder.hpp"

namespace tutti {
namespace {

Ref at(Space space, int peer = 0) { return Ref::of(space, 0, peer); }

Traits traits_of_steps(const std::function<void(Builder&)>& build) {
  Schedule schedule;
  Builder builder(schedule);
  build(builder);
  return traits_of(schedule);
}

// Rank 0 gives through its slot and waits for nobody.
void give(Builder& steps) {
  steps.copy(at(Space::kSlot), at(Space::kSend), 4096);
  steps.publish(1);
}

TEST(Traits, AScheduleOfMessagesPublishesNothing) {
  const Traits traits = traits_of_steps([](Builder& steps) {
    steps.send(1, at(Space::kSend), 64);
    steps.recv(1, at(Space::kRecv), 64);
    steps.fence();
  });
  EXPECT_EQ(traits, (Traits{.first_wait = 1, .sends_messages = true}));
}

TEST(Traits, WhoOnlyGivesThroughItsSlotRunsAhead) {
  EXPECT_EQ(
      traits_of_steps(give),
      (Traits{.enters = true, .runs_ahead = true, .slot_written = 4096, .staged_bytes = 4096}));
}

TEST(Traits, WhoWaitsForAllDoesNotRunAhead) {
  const Traits traits = traits_of_steps([](Builder& steps) {
    give(steps);
    steps.await_all(1);
  });
  EXPECT_FALSE(traits.runs_ahead);
  EXPECT_EQ(traits.first_wait, 2U);
}

TEST(Traits, WhoWaitsForOneRunsAhead) {
  EXPECT_TRUE(traits_of_steps([](Builder& steps) {
                give(steps);
                steps.await(1, 1);
              }).runs_ahead);
}

TEST(Traits, WhoseBuffersAreReadDoesNotRunAhead) {
  const Traits traits = traits_of_steps([](Builder& steps) { steps.export_buffers(); });
  EXPECT_TRUE(traits.enters);
  EXPECT_FALSE(traits.runs_ahead);
}

TEST(Traits, WhoUsesWindowsDoesNotRunAhead) {
  const auto through_window = [](Ref dst, Ref src) {
    return traits_of_steps([&](Builder& steps) {
      steps.publish(1);
      steps.copy(dst, src, 64);
    });
  };
  const Traits writes = through_window(at(Space::kWindow), at(Space::kSend));
  EXPECT_EQ(writes, (Traits{.enters = true, .writes_window = true, .uses_window = true}));
  const Traits reads = through_window(at(Space::kRecv), at(Space::kWindow, 1));
  EXPECT_EQ(reads, (Traits{.enters = true, .uses_window = true}));
}

TEST(Traits, SourcesOfAReductionCountAsRead) {
  const Traits traits = traits_of_steps([](Builder& steps) {
    steps.publish(1);
    steps.await(1, 1);
    steps.reduce(at(Space::kRecv), {at(Space::kSend), at(Space::kLine, 1)}, 8, true);
  });
  EXPECT_EQ(traits.most_sources, 2U);
  EXPECT_TRUE(traits.uses_lines);
  EXPECT_EQ(traits.staged_bytes, 0U);
}

TEST(Traits, AHeadIsWrittenToTheSlot) {
  EXPECT_EQ(traits_of_steps([](Builder& steps) {
              steps.write_head(at(Space::kSlot), at(Space::kSend), 1 << 20);
              steps.publish(1);
            }).slot_written,
            sizeof(BlockHead));
}

TEST(Traits, PiecesTooShortForDistancesAreNotStaged) {
  EXPECT_EQ(traits_of_steps([](Builder& steps) {
              steps.copy(at(Space::kSlot), at(Space::kSend), 512);
              steps.publish(1);
            }).staged_bytes,
            0U);
}

TEST(Traits, AreSaidInWords) {
  EXPECT_EQ(to_string(traits_of_steps(give)),
            "enters the call; writes 4096 B of its slot; may end before its peers begin");
  EXPECT_EQ(to_string(Traits{.first_wait = 3, .uses_lines = true, .uses_window = true}),
            "enters the call before its first step; waits first in step 3; uses call lines; reads "
            "windows");
}

}  // namespace
}  // namespace tutti
