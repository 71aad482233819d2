// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the test driver counts and reports, and how it fails on request.
#include "level_zero/client.hpp"

namespace tutti_test {
namespace {

TEST(LevelZeroDriver, HasTheDevicesThatItWasToldToHave) {
  with_test_driver({{"DEVICES", 3}, {"SUBDEVICES", 2}, {"COPY_ENGINE", 0}}, [] {
    const ZeClient ze;
    EXPECT_EQ(ze.devices.size(), 3u);
    uint32_t count = 0;
    ZE_MUST(zeDeviceGetSubDevices(ze.devices[2], &count, nullptr));
    ASSERT_EQ(count, 2u);
    ze_device_handle_t tiles[2];
    ZE_MUST(zeDeviceGetSubDevices(ze.devices[2], &count, tiles));
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    ZE_MUST(zeDeviceGetProperties(tiles[1], &properties));
    EXPECT_EQ(properties.subdeviceId, 1u);
    EXPECT_TRUE(properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    uint32_t groups = 0;
    ZE_MUST(zeDeviceGetCommandQueueGroupProperties(ze.device, &groups, nullptr));
    EXPECT_EQ(groups, 1u);
  });
}

TEST(LevelZeroDriver, FailsToInitialiseWhenToldSo) {
  with_test_driver({{"FAIL_INIT", 1}}, [] { EXPECT_NE(zeInit(0), ZE_RESULT_SUCCESS); });
}

TEST(LevelZeroDriver, LosesItsDeviceAfterSoManyCalls) {
  with_test_driver({{"LOST_AFTER", 30}}, [] {
    ZeClient ze;
    ze_result_t result = ZE_RESULT_SUCCESS;
    int done = 0;
    while (result == ZE_RESULT_SUCCESS && done++ < 30) result = zeDeviceGetStatus(ze.device);
    EXPECT_EQ(result, ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_EQ(zeContextDestroy(ze.context), ZE_RESULT_ERROR_DEVICE_LOST) << "and stays lost";
  });
}

TEST(LevelZeroDriver, CountsCalls) {
  with_test_driver({}, [] {
    ZeClient ze;
    const long before = calls(nullptr);
    char* const memory = ze.allocate<char>(64, true);
    ZE_MUST(zeMemFree(ze.context, memory));
    EXPECT_EQ(calls(nullptr) - before, 2);
    EXPECT_EQ(calls("zeMemAllocDevice"), 1);
  });
}

TEST(LevelZeroDriver, KnowsAHandleThatWasDestroyed) {
  with_test_driver({}, [] {
    ZeClient ze;
    const ze_event_handle_t event = ze.event();
    ZE_MUST(zeEventDestroy(event));
    EXPECT_NE(zeEventQueryStatus(event), ZE_RESULT_SUCCESS);
    EXPECT_NE(zeEventDestroy(event), ZE_RESULT_SUCCESS);
  });
}

TEST(LevelZeroDriver, ComplainsOfMemoryThatIsFreedWhileACommandNeedsIt) {
  with_test_driver({}, [] {
    ZeClient ze;
    char* const memory = ze.allocate<char>(64, true);
    ze_event_handle_t never = ze.event();
    ZE_MUST(zeCommandListAppendMemoryCopy(ze.immediate(), memory, ze.allocate<char>(64, true), 64,
                                          nullptr, 1, &never));
    ZE_MUST(zeMemFree(ze.context, memory));
    EXPECT_EQ(complaints(), 1);
  });
}

TEST(LevelZeroDriver, ComplainsOfEventsAndKernelsThatACommandStillNeeds) {
  with_test_driver({}, [] {
    ZeClient ze;
    ze_event_handle_t never = ze.event();
    const ze_event_handle_t signals = ze.event();
    const ze_kernel_handle_t kernel = ze.kernel("kernels.spv", "add");
    char* const memory = ze.allocate<char>(64, true);
    for (uint32_t index = 0; index < 3; ++index) set(kernel, index, memory);
    set(kernel, 3, uint64_t{1});
    const ze_group_count_t groups{1, 1, 1};
    ZE_MUST(zeCommandListAppendLaunchKernel(ze.immediate(), kernel, &groups, signals, 1, &never));
    ZE_MUST(zeEventHostReset(signals));
    EXPECT_EQ(complaints(), 1);
    ZE_MUST(zeEventDestroy(signals));
    EXPECT_EQ(complaints(), 2);
    ZE_MUST(zeKernelDestroy(kernel));
    EXPECT_EQ(complaints(), 3);
  });
}

// Which its validation layer does not look at.
TEST(LevelZeroDriver, RefusesStructuresThatDoNotSayWhatTheyAre) {
  with_test_driver({}, [] {
    ZeClient ze;
    ze_device_properties_t properties{};
    EXPECT_NE(zeDeviceGetProperties(ze.device, &properties), ZE_RESULT_SUCCESS);
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    EXPECT_EQ(zeDeviceGetProperties(ze.device, &properties), ZE_RESULT_SUCCESS);
    properties.pNext = &properties;
    EXPECT_NE(zeDeviceGetProperties(ze.device, &properties), ZE_RESULT_SUCCESS);
  });
}

// Ends without destroying an event, and before that its own way of ending a process.
[[noreturn]] void leak() {
  choose_test_driver({{"LEAKS", 1}});
  ZeClient ze;
  ze.event();
  std::exit(0);
}

TEST(LevelZeroDriverDeathTest, ReportsWhatWasNotDestroyed) {
  EXPECT_EXIT(leak(), testing::ExitedWithCode(0),
              "still there at exit:\ncontext 1\nevent 1\nevent pool 1\n");
}

}  // namespace
}  // namespace tutti_test
