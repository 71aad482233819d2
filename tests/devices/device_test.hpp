// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Every device of every API that this machine has, for tests; they are skipped, with the reason,
// where it has none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/wait.hpp"
#include "devices/device.hpp"

namespace tutti::devices {

// A context of the API's first device, or the reason why there is none.
inline Result<std::shared_ptr<DeviceContext>> first_device(const DeviceApi& api) {
  if (Status opened = api.open(); !opened.ok()) return opened;
  return api.make(0);
}

// Until the engine has done all that it was given; an error of the device fails the test.
inline void finish(DeviceEngine& engine) {
  const Result<uint64_t> last = engine.submit();
  ASSERT_TRUE(last.ok()) << last.status().message();
  constexpr int64_t kHangs = 60'000;
  for (const int64_t deadline_ms = now_ms() + kHangs;;) {
    const Result<bool> done = engine.done(*last);
    ASSERT_TRUE(done.ok()) << done.status().message();
    if (*done) return;
    ASSERT_LT(now_ms(), deadline_ms) << "the device does not end";
    yield_core();
  }
}

// Memory of a context.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<DeviceContext> context, MemoryKind kind, size_t bytes)
      : context_(std::move(context)) {
    Result<void*> memory = context_->allocate(kind, bytes);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    if (memory.ok()) memory_ = *memory;
  }
  ~DeviceMemory() {
    if (memory_ == nullptr) return;
    EXPECT_TRUE(context_->free(memory_).ok());
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(memory_); }

 private:
  std::shared_ptr<DeviceContext> context_;
  void* memory_ = nullptr;
};

// A test on the first device of an API.
class OnDevice : public testing::Test {
 protected:
  void set_up(const DeviceApi& api) {
    Result<std::shared_ptr<DeviceContext>> made = first_device(api);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    if ((*made)->facts().kernels.empty()) GTEST_SKIP() << (*made)->name() << " takes no kernels";
    context_ = *std::move(made);
    Result<std::unique_ptr<DeviceEngine>> engine = context_->make_engine(EngineKind::kCompute);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    engine_ = *std::move(engine);
  }
  std::shared_ptr<DeviceContext> context_;  // null: skipped
  std::unique_ptr<DeviceEngine> engine_;
};
class OnEveryApi : public OnDevice, public testing::WithParamInterface<const DeviceApi*> {
 protected:
  void SetUp() override { set_up(*GetParam()); }
};

inline std::string name_of(const DeviceApi& api) {
  std::string name(api.name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

}  // namespace tutti::devices
