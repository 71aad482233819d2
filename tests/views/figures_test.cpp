// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a tuning file says of devices decides which schedule they run: that of rank 0.
#ifdef TUTTI_TEST_ZE_PATH
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "comm/tuning_file.hpp"
#include "views/on_views.hpp"

namespace tutti_test {
namespace {

long copies() {
  void* const library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
  auto* const count =
      reinterpret_cast<long (*)(const char*)>(dlsym(library, "tutti_test_ze_calls"));
  return count("zeCommandListAppendMemoryCopy");
}

// A tuning file that is gone at the end.
class DeviceFile {
 public:
  explicit DeviceFile(const tutti::DeviceFigures& figures) {
    tutti::Tuning tuning;
    tuning.key = tutti::this_machine();
    tuning.devices = {{"level-zero", "any", "", true, figures}};
    EXPECT_TRUE(write_tuning_file(path_, tuning).ok());
  }
  ~DeviceFile() { std::remove(path_.c_str()); }
  DeviceFile(const DeviceFile&) = delete;
  DeviceFile& operator=(const DeviceFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "tutti_devices_" + std::to_string(getpid()) + ".json";
};

// A call is one kernel per rank, or less of a kernel and a copy from the peer: whether it is that.
bool copies_from_its_peer(const std::string& file) {
  const Shared<std::array<bool, 2>> copied;
  Ranks ranks;
  ranks.before = [&](int rank) {
    setenv("TUTTI_TUNING_FILE", rank == 0 ? file.c_str() : "none", 1);
  };
  const auto& api = *tutti::devices::device_api("level-zero");
  run_on_views(
      api, ranks, [](int) { return 0; },
      [&](const OnView& on) {
        constexpr size_t kCount = 4096;
        auto memory = on.queue.context().allocate(tutti::devices::MemoryKind::kDevice, kCount * 8);
        ASSERT_TRUE(memory.ok()) << memory.status().message();
        auto* const send = static_cast<float*>(*memory);
        const auto call = [&] {
          ASSERT_OK(
              tutti_allreduce(send, send + kCount, kCount, TUTTI_FLOAT32, TUTTI_SUM, on.view));
        };
        call();
        const long before = copies();
        call();
        (*copied)[static_cast<size_t>(on.rank)] = copies() > before;
        ASSERT_OK(tutti_barrier(on.comm));
        EXPECT_TRUE(on.queue.context().free(*memory).ok());
      });
  EXPECT_EQ((*copied)[0], (*copied)[1]);
  return (*copied)[0];
}

TEST(DeviceFiguresOfAFile, DecideForAllRanks) {
  const std::string why = why_no_device(*tutti::devices::device_api("level-zero"));
  if (!why.empty()) GTEST_SKIP() << why;
  EXPECT_FALSE(copies_from_its_peer("none")) << "by the assumed figures";
  const DeviceFile quick(
      {.launch_s = 1e-9, .tick_s = 1e-9, .copy_s = 1e-12, .reduce_s = 1e-9, .host_copy_s = 1e-9});
  EXPECT_TRUE(copies_from_its_peer(quick.path()));
}

}  // namespace
}  // namespace tutti_test
#endif
