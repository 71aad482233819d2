// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Modules and kernels of the test driver.
#include "level_zero/client.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kForEver = 60'000'000'000;  // nanoseconds; ends a hang

TEST(LevelZeroDriver, ExecutesAKernelOnMemoryOfTheDevice) {
  with_test_driver({}, [] {
    ZeClient ze;
    constexpr uint32_t kCount = 1000;
    int* const host = ze.allocate<int>(2 * kCount, false);
    for (uint32_t i = 0; i < 2 * kCount; i++) host[i] = static_cast<int>(i * i);
    int* const device = ze.allocate<int>(3 * kCount, true);
    const ze_kernel_handle_t add = ze.kernel("kernels.spv", "add");
    set(add, 0, device + 2 * kCount);
    set(add, 1, device);
    set(add, 2, device + kCount);
    set(add, 3, uint64_t{kCount});
    const ze_command_list_handle_t list = ze.immediate();
    const ze_event_handle_t done = ze.event();
    const ze_group_count_t groups{(kCount + 15) / 16, 1, 1};
    int* const back = ze.allocate<int>(kCount, false);
    ZE_MUST(zeCommandListAppendMemoryCopy(list, device, host, 2 * kCount * sizeof(int), nullptr, 0,
                                          nullptr));
    ZE_MUST(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    ZE_MUST(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr));
    ZE_MUST(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    ZE_MUST(zeCommandListAppendMemoryCopy(list, back, device + 2 * kCount, kCount * sizeof(int),
                                          done, 0, nullptr));
    ZE_MUST(zeEventHostSynchronize(done, kForEver));
    for (uint32_t i = 0; i < kCount; i++) ASSERT_EQ(back[i], host[i] + host[kCount + i]) << i;
    EXPECT_EQ(complaints(), 0);
  });
}

TEST(LevelZeroDriver, TakesTheArgumentsThatAKernelHasWhenItIsAppended) {
  with_test_driver({{"SHUFFLE", 1}}, [] {
    ZeClient ze;
    int* const host = ze.allocate<int>(64, false);
    const ze_kernel_handle_t fill = ze.kernel("kernels.spv", "fill");
    const ze_command_list_handle_t list = ze.immediate();
    const ze_group_count_t groups{1, 1, 1};
    set(fill, 2, uint32_t{16});
    ZE_MUST(zeKernelSetArgumentValue(fill, 3, 64, nullptr));
    ze_event_handle_t done[4];
    for (int i = 0; i < 4; i++) {
      set(fill, 0, host + 16 * i);
      set(fill, 1, i + 5);
      done[i] = ze.event();
      ZE_MUST(zeCommandListAppendLaunchKernel(list, fill, &groups, done[i], 0, nullptr));
    }
    for (int i = 0; i < 4; i++) {
      ZE_MUST(zeEventHostSynchronize(done[i], kForEver));
      EXPECT_EQ(host[16 * i], i + 5);
      EXPECT_EQ(host[16 * i + 15], i + 5);
    }
  });
}

TEST(LevelZeroDriver, RefusesArgumentsThatTheKernelDoesNotHave) {
  with_test_driver({}, [] {
    ZeClient ze;
    const ze_kernel_handle_t add = ze.kernel("kernels.spv", "add");
    const uint64_t count = 4;
    int on_the_stack = 0;
    int* pointer = &on_the_stack;
    EXPECT_EQ(zeKernelSetArgumentValue(add, 4, sizeof count, &count),
              ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    EXPECT_EQ(zeKernelSetArgumentValue(add, 3, 4, &count),
              ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_EQ(zeKernelSetArgumentValue(add, 0, sizeof pointer, &pointer),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const ze_group_count_t groups{1, 1, 1};
    const ze_command_list_handle_t list = ze.immediate();
    EXPECT_NE(zeCommandListAppendLaunchKernel(list, add, &groups, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS)
        << "no argument was set";
    EXPECT_NE(zeKernelSetGroupSize(add, 512, 1, 1), ZE_RESULT_SUCCESS);
  });
}

TEST(LevelZeroDriver, LaunchesNothingOnACopyEngine) {
  with_test_driver({}, [] {
    ZeClient ze;
    const ze_kernel_handle_t fill = ze.kernel("kernels.spv", "fill");
    const ze_group_count_t groups{1, 1, 1};
    EXPECT_EQ(zeCommandListAppendLaunchKernel(ze.immediate(1), fill, &groups, nullptr, 0, nullptr),
              ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
  });
}

TEST(LevelZeroDriver, BuildsAModuleAgainFromItsNativeBinary) {
  with_test_driver({}, [] {
    ZeClient ze;
    ze_module_handle_t first = nullptr;
    must(ze.build("kernels.spv", &first), "zeModuleCreate");
    size_t bytes = 0;
    ZE_MUST(zeModuleGetNativeBinary(first, &bytes, nullptr));
    std::vector<uint8_t> binary(bytes);
    ZE_MUST(zeModuleGetNativeBinary(first, &bytes, binary.data()));
    ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                          nullptr,
                          ZE_MODULE_FORMAT_NATIVE,
                          bytes,
                          binary.data(),
                          "",
                          nullptr};
    ze_module_handle_t second = nullptr;
    ZE_MUST(zeModuleCreate(ze.context, ze.device, &desc, &second, nullptr));
    uint32_t names = 0;
    ZE_MUST(zeModuleGetKernelNames(second, &names, nullptr));
    EXPECT_EQ(names, 2u);
    binary[0] ^= 1;
    EXPECT_EQ(zeModuleCreate(ze.context, ze.device, &desc, &second, nullptr),
              ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  });
}

void expect_no_module(const ZeSwitches& switches, const char* module, const char* why) {
  with_test_driver(switches, [&] {
    ZeClient ze;
    ze_module_handle_t none = nullptr;
    ze_module_build_log_handle_t log = nullptr;
    EXPECT_EQ(ze.build(module, &none, &log), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    size_t bytes = 0;
    ZE_MUST(zeModuleBuildLogGetString(log, &bytes, nullptr));
    std::string text(bytes, '\0');
    ZE_MUST(zeModuleBuildLogGetString(log, &bytes, text.data()));
    EXPECT_NE(text.find(why), std::string::npos) << text;
  });
}

TEST(LevelZeroDriver, BuildsNoModuleWhenToldSo) {
  expect_no_module({{"FAIL_BUILD", 1}}, "kernels.spv", "modules are refused");
}

TEST(LevelZeroDriver, WithoutDoublesRefusesAModuleThatHasThem) {
  expect_no_module({{"NO_FP64", 1}}, "doubles.spv", "no 64-bit floats");
  with_test_driver({{"NO_FP64", 1}}, [] {
    ZeClient ze;
    ze_module_handle_t module = nullptr;
    EXPECT_EQ(ze.build("kernels.spv", &module), ZE_RESULT_SUCCESS);
  });
}

TEST(LevelZeroDriver, HasAKernelThatNeverEndsWhenToldSo) {
  with_test_driver({{"STUCK_KERNEL", 0}}, [] {
    ZeClient ze;
    int* const host = ze.allocate<int>(16, false);
    const ze_kernel_handle_t fill = ze.kernel("kernels.spv", "fill");
    set(fill, 0, host);
    set(fill, 1, 3);
    set(fill, 2, uint32_t{16});
    ZE_MUST(zeKernelSetArgumentValue(fill, 3, 64, nullptr));
    const ze_event_handle_t done = ze.event();
    const ze_group_count_t groups{1, 1, 1};
    ZE_MUST(zeCommandListAppendLaunchKernel(ze.immediate(), fill, &groups, done, 0, nullptr));
    EXPECT_EQ(zeEventHostSynchronize(done, 50'000'000), ZE_RESULT_NOT_READY);
  });
}

}  // namespace
}  // namespace tutti_test
