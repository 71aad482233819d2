// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/device.hpp"

#include "core/wait.hpp"

namespace tutti::devices {

#define TUTTI_DEVICE_API(name, id, text) extern const DeviceApi name##_device_api;
#include "devices/registry.inc"
#undef TUTTI_DEVICE_API

std::span<const DeviceApi* const> device_apis() {
  static constexpr auto apis = std::to_array<const DeviceApi*>({
#define TUTTI_DEVICE_API(name, id, text) &name##_device_api,
#include "devices/registry.inc"
#undef TUTTI_DEVICE_API
  });
  return apis;
}

const DeviceApi* device_api(int id) {
  switch (id) {
#define TUTTI_DEVICE_API(name, id, text) \
  case id:                               \
    return &name##_device_api;
#include "devices/registry.inc"
#undef TUTTI_DEVICE_API
    default: return nullptr;
  }
}

const DeviceApi* device_api(std::string_view name) {
  for (const DeviceApi* const api : device_apis()) {
    if (api->name == name) return api;
  }
  return nullptr;
}

int device_api_id(const DeviceApi& api) {
#define TUTTI_DEVICE_API(name, id, text) \
  if (&api == &name##_device_api) return id;
#include "devices/registry.inc"
#undef TUTTI_DEVICE_API
  return 0;
}

std::string_view memory_kind_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kHost: return "host";
    case MemoryKind::kPinned: return "pinned";
    case MemoryKind::kShared: return "shared";
    case MemoryKind::kDevice: return "device";
    case MemoryKind::kForeign: return "foreign";
    case MemoryKind::kBeyond: return "another device's";
  }
  return "unknown";
}

bool comes_to_rest(DeviceEngine& engine) {
  constexpr int64_t kMostMs = 1000;
  const int64_t deadline_ms = now_ms() + kMostMs;
  const Result<uint64_t> last = engine.submit();
  while (last.ok() && now_ms() < deadline_ms) {
    const Result<bool> idle = engine.done(*last);
    if (!idle.ok()) return false;
    if (*idle) return true;
    yield_core();
  }
  return false;
}

std::string DeviceContext::name() const {
  return fmt::format("{} device {} ({})", api().name, facts().index, facts().name);
}

}  // namespace tutti::devices
