// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What orders commands under the test driver, and that its shuffling finds what does not.
#include <algorithm>

#include "level_zero/client.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kForEver = 60'000'000'000;  // nanoseconds; ends a hang
constexpr int kSeeds = 24;
constexpr size_t kBytes = 64;

enum class Ordered { kByNothing, kByBarriers, kByEvents };

void append_copies(ZeClient& ze, ze_command_list_handle_t list, Ordered ordered, char* device,
                   const char* from, char* to, ze_event_handle_t done) {
  const ze_event_handle_t first = ze.event();
  const ze_event_handle_t second = ze.event();
  const bool by_events = ordered == Ordered::kByEvents;
  ZE_MUST(zeCommandListAppendMemoryCopy(list, device, from, kBytes, by_events ? first : nullptr, 0,
                                        nullptr));
  if (ordered == Ordered::kByBarriers) {
    ZE_MUST(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  }
  ze_event_handle_t waits = first;
  ZE_MUST(zeCommandListAppendMemoryCopy(list, device + kBytes, device, kBytes,
                                        by_events ? second : nullptr, by_events ? 1 : 0,
                                        by_events ? &waits : nullptr));
  if (ordered == Ordered::kByBarriers) {
    ZE_MUST(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  }
  waits = second;
  ZE_MUST(zeCommandListAppendMemoryCopy(list, to, device + kBytes, kBytes, nullptr,
                                        by_events ? 1 : 0, by_events ? &waits : nullptr));
  // Waits for all of them.
  ZE_MUST(zeCommandListAppendBarrier(list, done, 0, nullptr));
}

// Whether three copies, of which each reads what the one before wrote, give what they should.
bool copies_right(ZeClient& ze, Ordered ordered, bool immediate) {
  char* const from = ze.allocate<char>(kBytes, false);
  char* const to = ze.allocate<char>(kBytes, false);
  char* const device = ze.allocate<char>(2 * kBytes, true);
  std::fill_n(from, kBytes, '7');
  const ze_event_handle_t done = ze.event();
  if (immediate) {
    append_copies(ze, ze.immediate(), ordered, device, from, to, done);
  } else {
    ze_command_list_handle_t list = ze.list();
    append_copies(ze, list, ordered, device, from, to, done);
    ZE_MUST(zeCommandListClose(list));
    ZE_MUST(zeCommandQueueExecuteCommandLists(ze.queue(), 1, &list, nullptr));
  }
  ZE_MUST(zeEventHostSynchronize(done, kForEver));
  return std::count(to, to + kBytes, '7') == static_cast<long>(kBytes);
}

int seeds_gone_wrong(Ordered ordered, bool immediate) {
  const Shared<std::atomic<int>> wrong;
  for (int seed = 1; seed <= kSeeds; seed++) {
    with_test_driver({{"SHUFFLE", seed}}, [&] {
      ZeClient ze;
      if (!copies_right(ze, ordered, immediate)) ++*wrong;
    });
  }
  return *wrong;
}

TEST(LevelZeroDriver, ShufflingFindsThatABarrierIsMissing) {
  EXPECT_GT(seeds_gone_wrong(Ordered::kByNothing, false), 0);
  EXPECT_GT(seeds_gone_wrong(Ordered::kByNothing, true), 0);
}

TEST(LevelZeroDriver, BarriersOrderCommands) {
  EXPECT_EQ(seeds_gone_wrong(Ordered::kByBarriers, false), 0);
  EXPECT_EQ(seeds_gone_wrong(Ordered::kByBarriers, true), 0);
}

TEST(LevelZeroDriver, EventsOrderCommands) {
  EXPECT_EQ(seeds_gone_wrong(Ordered::kByEvents, false), 0);
  EXPECT_EQ(seeds_gone_wrong(Ordered::kByEvents, true), 0);
}

TEST(LevelZeroDriver, UnshuffledExecutesInOrder) {
  with_test_driver({}, [] {
    ZeClient ze;
    EXPECT_TRUE(copies_right(ze, Ordered::kByNothing, false));
    EXPECT_TRUE(copies_right(ze, Ordered::kByNothing, true));
  });
}

TEST(LevelZeroDriver, CommandsWaitForAnEventOfTheHost) {
  with_test_driver({}, [] {
    ZeClient ze;
    char* const from = ze.allocate<char>(kBytes, false);
    char* const to = ze.allocate<char>(kBytes, false);
    std::fill_n(from, kBytes, 'x');
    ze_event_handle_t go = ze.event();
    const ze_event_handle_t done = ze.event();
    ZE_MUST(zeCommandListAppendMemoryCopy(ze.immediate(), to, from, kBytes, done, 1, &go));
    EXPECT_EQ(zeEventHostSynchronize(done, 20'000'000), ZE_RESULT_NOT_READY);
    EXPECT_EQ(to[0], '\0');
    ZE_MUST(zeEventHostSignal(go));
    ZE_MUST(zeEventHostSynchronize(done, kForEver));
    EXPECT_EQ(to[0], 'x');
    ZE_MUST(zeEventHostReset(done));
    EXPECT_EQ(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
  });
}

TEST(LevelZeroDriver, AFenceTellsThatItsListsHaveEnded) {
  with_test_driver({{"DELAY_US", 3000}}, [] {
    ZeClient ze;
    const ze_command_queue_handle_t queue = ze.queue();
    const ze_fence_desc_t desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
    ze_fence_handle_t fence = nullptr;
    ZE_MUST(zeFenceCreate(queue, &desc, &fence));
    char* const to = ze.allocate<char>(kBytes, false);
    const char pattern = 'p';
    ze_command_list_handle_t list = ze.list();
    ZE_MUST(zeCommandListAppendMemoryFill(list, to, &pattern, 1, kBytes, nullptr, 0, nullptr));
    EXPECT_NE(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence), ZE_RESULT_SUCCESS)
        << "the list is not closed";
    ZE_MUST(zeCommandListClose(list));
    for (int round = 0; round < 3; round++) {  // a list may be executed again
      ZE_MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
      ZE_MUST(zeFenceHostSynchronize(fence, kForEver));
      EXPECT_EQ(to[kBytes - 1], 'p');
      ZE_MUST(zeFenceReset(fence));
      EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    }
    ZE_MUST(zeCommandListReset(list));
    EXPECT_EQ(complaints(), 0);
  });
}

}  // namespace
}  // namespace tutti_test
