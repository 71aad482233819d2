// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Views on the test driver for Level Zero, whose counts tell which path a call took.
#pragma once
#ifdef TUTTI_TEST_ZE_PATH
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "views/on_views.hpp"

namespace tutti_test {

struct Switch {
  const char* name;
  long value;
};
using Switches = std::vector<Switch>;

// Which the driver reads when it is first called.
inline void choose(const Switches& switches) {
  for (const auto& [name, value] : switches) {
    setenv((std::string("ZE_TEST_") + name).c_str(), std::to_string(value).c_str(), 1);
  }
}

// How often this process has called the driver: a function of it, or any.
inline long driver_calls(const char* function) {
  void* const library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
  auto* const count =
      reinterpret_cast<long (*)(const char*)>(dlsym(library, "tutti_test_ze_calls"));
  return count(function);
}
inline int driver_complaints() {
  void* const library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int (*)()>(dlsym(library, "tutti_test_ze_complaints"))();
}
// The call of the function after so many from now fails, in this process.
inline void fail_driver_call(const char* function, long calls) {
  void* const library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
  reinterpret_cast<void (*)(const char*, long)>(dlsym(library, "tutti_test_ze_fail"))(function,
                                                                                      calls);
}
inline long kernels() { return driver_calls("zeCommandListAppendLaunchKernel"); }
inline long opened() { return driver_calls("zeMemOpenIpcHandle"); }

// Descriptors that this process has open.
inline size_t descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

inline Ranks so_many(int count) {
  Ranks ranks;
  ranks.count = count;
  return ranks;
}

// An allreduce on two ranks of memory that is allocated and freed for it.
inline void reduce_given_memory(const OnView& on, int value) {
  constexpr size_t kCount = 1000;
  void* memory = nullptr;
  ASSERT_OK(tutti_alloc(on.view, kCount * sizeof(int), &memory));
  std::vector<int> values(kCount, value);
  on.mirror.put(memory, values.data(), kCount * sizeof(int));
  ASSERT_OK(tutti_allreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view));
  on.mirror.get(values.data(), memory, kCount * sizeof(int));
  EXPECT_EQ(values, std::vector<int>(kCount, 2 * value));
  ASSERT_OK(tutti_barrier(on.comm));
  ASSERT_OK(tutti_free(on.view, memory));
}

class Direct : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_device(*tutti::devices::device_api("level-zero"));
    if (!why.empty()) GTEST_SKIP() << why;
  }
  // `switches` are those of one rank.
  template <typename SwitchesOf, typename IndexOf>
  static void on_devices(Ranks ranks, const SwitchesOf& switches, const IndexOf& index,
                         const std::function<void(const OnView&)>& body) {
    const auto first = ranks.before;
    ranks.before = [&](int rank) {
      if (first) first(rank);
      choose(switches(rank));
    };
    run_on_views(*tutti::devices::device_api("level-zero"), ranks, index, body);
  }
  static void on_devices(const Ranks& ranks, const Switches& switches,
                         const std::function<void(const OnView&)>& body) {
    on_devices(
        ranks, [&](int) { return switches; }, [](int) { return 0; }, body);
  }
  // Two ranks on a card whose tiles do not reach one another: on one tile, or on two.
  static void on_tiles_apart(bool together, const std::function<void(const OnView&)>& body) {
    on_devices(
        so_many(2),
        [](int) {
          return Switches{{"SUBDEVICES", 2}, {"TILES_APART", 1}};
        },
        [&](int rank) { return 1 + (together ? 0 : rank); }, body);
  }
};

}  // namespace tutti_test
#endif
