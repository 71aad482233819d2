// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts a reduction into launches: so many elements and sources at once as the device and its
// kernels take. Several kernels for one reduction follow one another in rank order, and give the
// bits of one.
#include <algorithm>
#include <cstring>

#include "devices/device.hpp"

namespace tutti::devices {
namespace {

constexpr uint64_t kMostBytesBetween = 4 << 20;

size_t bytes_passed(ReduceOp op, DataType type) {
  return device_passes_floats(op, type) ? sizeof(float) : type_size(type);
}

DeviceVariant variant_for(std::span<const DeviceLaunch::Memory> memory) {
  uintptr_t addresses = 0;
  for (const auto& [pointer, bytes] : memory) addresses |= reinterpret_cast<uintptr_t>(pointer);
  return device_variant_for(addresses);
}

}  // namespace

size_t bytes_between_passes(ReduceOp op, DataType type, size_t sources, uint64_t count) {
  if (sources <= kDeviceKernelSources) return 0;
  return std::min(count * bytes_passed(op, type), kMostBytesBetween);
}

bool DeviceEngine::has_kernel(ReduceOp op, DataType type) const {
  return most_work_items() > 0 && device_kernel_name(op, type) != nullptr;
}

Status DeviceEngine::no_kernel(ReduceOp op, DataType type, size_t sources) const {
  return Status::format(Code::kUnsupported, "{}: no kernel for {} of {} {}{}", name(), op_name(op),
                        sources, type_name(type),
                        most_work_items() > 0 ? "" : " on an engine that copies");
}

// The most elements of a launch, so that those after the first are aligned as it is.
uint64_t DeviceEngine::most_elements() const {
  constexpr uint64_t kAligned = 16;
  return std::max(most_work_items() / kAligned * kAligned, kAligned);
}

Status DeviceEngine::prepare(ReduceOp op, DataType type) {
  if (!has_kernel(op, type)) return no_kernel(op, type, 1);
  for (const DeviceVariant variant : {DeviceVariant::kScalar, DeviceVariant::kVector}) {
    TUTTI_RETURN_IF_ERROR(compile({part_type(type), variant, device_kernel_name(op, type)}));
  }
  return {};
}

// Complex numbers, of which there are no modules, are twice as many floats.
Status DeviceEngine::reduce(const Reduction& asked) {
  Reduction whole = asked;
  const bool sums =
      asked.op == ReduceOp::kPremulSum || (asked.op == ReduceOp::kAvg && asked.divisor == 0);
  if (sums) whole.op = ReduceOp::kSum;
  whole.type = part_type(asked.type);
  if (whole.type != asked.type) whole.count *= 2;
  const size_t sources = asked.sources.size();
  uint64_t most = most_elements();
  if (sources > kDeviceKernelSources) {
    most = std::min(most, whole.between.size() / bytes_passed(whole.op, whole.type));
  }
  if (!has_kernel(asked.op, asked.type) || sources == 0 || most == 0) {
    return no_kernel(asked.op, asked.type, sources);
  }
  for (uint64_t first = 0; first < whole.count; first += most) {
    TUTTI_RETURN_IF_ERROR(reduce_piece(whole, first, std::min(most, whole.count - first)));
  }
  return {};
}

Status DeviceEngine::reduce_piece(const Reduction& whole, uint64_t first, uint64_t count) {
  using Memory = DeviceLaunch::Memory;
  const size_t sources = whole.sources.size();
  const bool in_passes = sources > kDeviceKernelSources;
  const bool passes_floats = in_passes && device_passes_floats(whole.op, whole.type);
  // Averages of 16 small integers at once spill on most devices.
  const bool spills = whole.op == ReduceOp::kAvg && type_size(whole.type) == 1;
  const uint64_t offset = first * type_size(whole.type);
  const uint64_t bytes = count * type_size(whole.type);
  const Memory between{whole.between.data(), count * bytes_passed(whole.op, whole.type)};
  for (size_t next = 0; next < sources;) {
    DevicePass pass = next == 0 ? DevicePass::kBegins : DevicePass::kGoesOn;
    std::array<Memory, 1 + kDeviceKernelSources> memory{};
    size_t k = 0;
    if (next > 0) memory[++k] = between;
    while (k < kDeviceKernelSources && next < sources) {
      memory[++k] = {static_cast<const std::byte*>(whole.sources[next++]) + offset, bytes};
    }
    memory[0] = between;
    if (next == sources) {
      memory[0] = {static_cast<std::byte*>(whole.dst) + offset, bytes};
      pass = in_passes ? DevicePass::kEnds : DevicePass::kWhole;
    }
    const bool scalar = spills || passes_floats;
    const DeviceVariant variant = scalar ? DeviceVariant::kScalar : variant_for(memory);
    const DeviceLaunch::Value values[] = {{k, sizeof(uint32_t)},
                                          {count, sizeof count},
                                          {std::max<uint32_t>(whole.divisor, 1), sizeof(uint32_t)}};
    TUTTI_RETURN_IF_ERROR(
        launch({{whole.type, variant, device_kernel_name(whole.op, whole.type, pass)},
                device_work_items(whole.type, variant, count),
                memory,
                values}));
  }
  return {};
}

Status DeviceEngine::scale(DataType type, void* dst, const void* source, const void* scalar,
                           uint64_t count) {
  if (!has_kernel(ReduceOp::kPremulSum, type)) return no_kernel(ReduceOp::kPremulSum, type, 1);
  uint64_t factor = 0;
  std::memcpy(&factor, scalar, type_size(type));
  const uint64_t most = most_elements();
  for (uint64_t first = 0; first < count; first += most) {
    const uint64_t some = std::min(most, count - first);
    const uint64_t offset = first * type_size(type);
    const DeviceLaunch::Memory memory[] = {
        {static_cast<std::byte*>(dst) + offset, some * type_size(type)},
        {static_cast<const std::byte*>(source) + offset, some * type_size(type)}};
    const DeviceLaunch::Value values[] = {{some, sizeof some}, {factor, sizeof factor}};
    const DeviceVariant variant = variant_for(memory);
    TUTTI_RETURN_IF_ERROR(launch({{type, variant, kDeviceScaleKernel},
                                  device_work_items(type, variant, some),
                                  memory,
                                  values}));
  }
  return {};
}

}  // namespace tutti::devices
