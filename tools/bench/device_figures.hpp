// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The times of copies and reductions on a device, for `tutti tune --device`.
#pragma once

#include "core/status.hpp"
#include "select/device_figures.hpp"

namespace tutti::devices {
class DeviceContext;
}  // namespace tutti::devices

namespace tutti::bench {

// Measures on one rank alone, by copies and sums of float32 in memory of the device: the least of
// several times each. Peers' memory may cost more than the device's own; that is not in it.
Result<DeviceFigures> measure_device(devices::DeviceContext& context);

}  // namespace tutti::bench
