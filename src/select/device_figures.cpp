// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/device_figures.hpp"

#include <algorithm>
#include <iterator>

namespace tutti {
namespace {

constexpr DeviceFigure kDeviceFigures[] = {
    {"launch_s", &DeviceFigures::launch_s},       {"tick_s", &DeviceFigures::tick_s},
    {"copy_s", &DeviceFigures::copy_s},           {"reduce_s", &DeviceFigures::reduce_s},
    {"host_copy_s", &DeviceFigures::host_copy_s},
};
static_assert(std::size(kDeviceFigures) * sizeof(double) == sizeof(DeviceFigures));

}  // namespace

std::span<const DeviceFigure> device_figures() { return kDeviceFigures; }

DeviceFigures slowest_figures(std::span<const TunedDevice> devices, Of which) {
  DeviceFigures slowest;
  bool first = true;
  for (const TunedDevice& device : devices) {
    if (which == Of::kWithIpc && !device.ipc) continue;
    for (const DeviceFigure& figure : kDeviceFigures) {
      double& value = slowest.*figure.value;
      const double its = device.figures.*figure.value;
      value = first ? its : std::max(value, its);
    }
    first = false;
  }
  return slowest;
}

}  // namespace tutti
