// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions of more sources than a kernel takes: several kernels, one after the other, in rank
// order and with the bits of one.
#pragma once

#include "devices/device.hpp"

namespace tutti::devices {

// How much memory of the device reduce_in_parts() uses at most for so many elements; 0 if one
// kernel takes all sources.
size_t bytes_between_parts(ReduceOp op, DataType type, size_t sources, uint64_t count);

// `whole` has any number of sources. `between` is such memory, which no other work uses meanwhile.
Status reduce_in_parts(DeviceEngine& engine, const Reduction& whole, std::span<std::byte> between);

}  // namespace tutti::devices
