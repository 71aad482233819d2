// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/reduce_in_parts.hpp"

#include <algorithm>

namespace tutti::devices {
namespace {

constexpr uint64_t kMostBytesBetween = 4 << 20;

size_t bytes_passed(ReduceOp op, DataType type) {
  return device_passes_floats(op, type) ? sizeof(float) : type_size(type);
}

// `count` elements from `first` on.
Status reduce_some(DeviceEngine& engine, const Reduction& whole, std::byte* between, uint64_t first,
                   uint64_t count) {
  const uint64_t offset = first * type_size(whole.type);
  std::array<const void*, kMostSources> sources{};
  for (size_t next = 0; next < whole.sources.size();) {
    Reduction part = whole;
    part.part = next == 0 ? DevicePart::kBegins : DevicePart::kGoesOn;
    size_t k = 0;
    if (next > 0) sources[k++] = between;
    while (k < kMostSources && next < whole.sources.size()) {
      sources[k++] = static_cast<const std::byte*>(whole.sources[next++]) + offset;
    }
    part.dst = between;
    if (next == whole.sources.size()) {
      part.part = DevicePart::kEnds;
      part.dst = static_cast<std::byte*>(whole.dst) + offset;
    }
    part.sources = std::span(sources.data(), k);
    part.count = count;
    TUTTI_RETURN_IF_ERROR(engine.reduce(part));
  }
  return {};
}

}  // namespace

size_t bytes_between_parts(ReduceOp op, DataType type, size_t sources, uint64_t count) {
  if (sources <= kMostSources) return 0;
  return std::min(count * bytes_passed(op, type), kMostBytesBetween);
}

Status reduce_in_parts(DeviceEngine& engine, const Reduction& whole, std::span<std::byte> between) {
  if (whole.sources.size() <= kMostSources) return engine.reduce(whole);
  const uint64_t most = between.size() / bytes_passed(whole.op, whole.type);
  for (uint64_t first = 0; first < whole.count; first += most) {
    const uint64_t count = std::min(most, whole.count - first);
    TUTTI_RETURN_IF_ERROR(reduce_some(engine, whole, between.data(), first, count));
  }
  return {};
}

}  // namespace tutti::devices
