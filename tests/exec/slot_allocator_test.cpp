// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "exec/call_memory.hpp"
#include "fake_lane_memory.hpp"

namespace tutti {
namespace {

constexpr uint64_t kSlotBytes = 64 << 10;

class Slots : public ::testing::Test {
 protected:
  // The place of the next call of this size, in bytes of its copy.
  uint64_t place(SlotAllocator& slots, uint64_t extent) {
    return slots.place(++call, extent, slots.size_class_of(extent));
  }

  FakeLaneMemory memory{2, {.slots = {.slot_bytes = kSlotBytes}}};
  uint32_t call = 0;
};

TEST_F(Slots, CallsAlternateBetweenTheCopiesAndMoveAlong) {
  SlotAllocator slots(&memory, false);
  std::vector<uint64_t> places;
  for (int i = 0; i < 5; ++i) places.push_back(place(slots, 4096));
  // Calls 1 and 3 are in one copy, 2 and 4 in the other.
  EXPECT_EQ(places, (std::vector<uint64_t>{0, 4096, 4096, 8192, 8192}));
}

TEST_F(Slots, EveryCallStaysWithinTheSlot) {
  SlotAllocator slots(&memory, false);
  for (const uint64_t extent : {64UL, 256UL, 320UL, 8192UL, 8256UL, 32768UL, kSlotBytes}) {
    for (int i = 0; i < 3000; ++i) {
      const SlotAllocator::SizeClass size_class = slots.size_class_of(extent);
      ASSERT_LE(slots.place(++call, extent, size_class) + extent, size_class.room) << extent;
      ASSERT_LE(size_class.room, kSlotBytes);
    }
  }
}

TEST_F(Slots, AllRanksComeToTheSamePlacesWhateverTheyWrite) {
  SlotAllocator writer(&memory, false);
  SlotAllocator reader(&memory, false);
  CallLog log(0, memory.ranks(), false);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t extent = 64 * (1 + static_cast<uint64_t>(i * 7919) % 1024);
    log.start(7);
    const SlotAllocator::SizeClass size_class = writer.size_class_of(extent);
    ASSERT_EQ(size_class.room, reader.size_class_of(extent).room);
    const uint64_t at = writer.place(log.call(), extent, size_class);
    ASSERT_EQ(at, reader.place(log.call(), extent, reader.size_class_of(extent)));
    ASSERT_TRUE(reached(log.call(), writer.claim_place(log, extent, size_class, at)));
  }
}

TEST_F(Slots, ACallThatComesBackToAPlaceBeginsAfterTheLastOneThere) {
  SlotAllocator slots(&memory, false);
  CallLog log(0, memory.ranks(), false);
  const SlotAllocator::SizeClass size_class = slots.size_class_of(kSlotBytes);
  for (uint32_t call = 1; call <= 3; ++call) {
    log.start(7);
    const uint64_t at = slots.place(call, kSlotBytes, size_class);
    ASSERT_EQ(at, 0U);
    // Who has entered call 2 has finished call 1.
    const uint32_t after = slots.claim_place(log, kSlotBytes, size_class, at);
    ASSERT_EQ(after, call == 3 ? 2U : 0U);
  }
}

// The slots of every second call do not move along, so its place is that of the call before the
// last one, however many such calls there were.
TEST_F(Slots, CallsThatAreNotInARowComeBackToTheirPlaceSoon) {
  SlotAllocator slots(&memory, false);
  CallLog log(0, memory.ranks(), false);
  const SlotAllocator::SizeClass size_class = slots.size_class_of(64);
  for (uint32_t call = 1; call <= 100; ++call) {
    log.start(7);
    if (call % 2 != 0) continue;  // uses no slots
    const uint64_t at = slots.place(call, 64, size_class);
    ASSERT_EQ(at, 0U);
    const uint32_t after = slots.claim_place(log, 64, size_class, at);
    if (call > 2) {
      ASSERT_EQ(after, call - 1);
    }
  }
}

TEST_F(Slots, MemoryIsAskedForOnceOfASizeClass) {
  SlotAllocator slots(&memory, false);
  const SlotAllocator::SizeClass size_class = slots.size_class_of(64);
  EXPECT_TRUE(slots.must_grow(size_class, false));
  ASSERT_TRUE(slots.grow(size_class, false, 1).ok());
  EXPECT_FALSE(slots.must_grow(size_class, false));
  EXPECT_TRUE(slots.must_grow(size_class, true));
  ASSERT_TRUE(slots.grow(size_class, true, 1).ok());
  EXPECT_FALSE(slots.must_grow(size_class, true));
  EXPECT_TRUE(slots.is_new(2));
  EXPECT_FALSE(slots.is_new(3));
}

TEST_F(Slots, AfterManySmallCallsTheyMoveThroughMore) {
  SlotAllocator slots(&memory, true);
  const uint64_t first = slots.size_class_of(64).room;
  for (int i = 0; i < 1000; ++i) place(slots, 64);
  EXPECT_GT(slots.size_class_of(64).room, first);
}

TEST_F(Slots, TwoRanksSwapInTurn) {
  SlotAllocator slots(&memory, false);
  EXPECT_TRUE(slots.swap());
  EXPECT_FALSE(slots.swap());
}

}  // namespace
}  // namespace tutti
