// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti's engine for Level Zero over the test driver, in processes of their own.
#pragma once

#include <memory>
#include <string>

#include "core/wait.hpp"
#include "devices/device.hpp"
#include "level_zero/client.hpp"

namespace tutti_test {

namespace devices = tutti::devices;
using Context = std::shared_ptr<devices::DeviceContext>;
using Engine = std::unique_ptr<devices::DeviceEngine>;

inline const devices::DeviceApi& level_zero() { return *devices::device_api("level-zero"); }

template <typename T>
T taken(tutti::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(result.status().message()));
  return *std::move(result);
}

inline void must(const tutti::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

inline Context make_context(int index = 0) {
  must(level_zero().open());
  return taken(level_zero().make(index));
}

inline Engine make_engine(const Context& context,
                          devices::EngineKind kind = devices::EngineKind::kCompute) {
  return taken(context->make_engine(kind));
}

template <typename T>
T* allocate(const Context& context, size_t count,
            devices::MemoryKind kind = devices::MemoryKind::kDevice) {
  return static_cast<T*>(taken(context->allocate(kind, count * sizeof(T))));
}

// Until it is done, or fails; a hang is an error.
inline tutti::Status wait_until_done(devices::DeviceEngine& engine, uint64_t submission) {
  constexpr int64_t kHangsMs = 60'000;
  for (const int64_t deadline_ms = tutti::now_ms() + kHangsMs; tutti::now_ms() < deadline_ms;) {
    const tutti::Result<bool> done = engine.done(submission);
    if (!done.ok()) return done.status();
    if (*done) return {};
    tutti::yield_core();
  }
  return {tutti::Code::kTimeout, "the device does not end"};
}

inline tutti::Status finish(devices::DeviceEngine& engine) {
  const tutti::Result<uint64_t> submission = engine.submit();
  return submission.ok() ? wait_until_done(engine, *submission) : submission.status();
}

}  // namespace tutti_test
