// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The cost model's figures of devices: assumed, or measured by `tutti tune --device`. All ranks of
// a communicator have the same figures, bit for bit, or they would choose different schedules.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti {

// The defaults are assumed: Tutti has run on no GPU. They weigh few launches of much work against
// many of less.
struct DeviceFigures {
  double launch_s = 5e-6;         // a copy or kernel, until it begins
  double tick_s = 5e-6;           // until the host sees the end, and all ranks know
  double copy_s = 1 / 50e9;       // per byte, on the device
  double reduce_s = 1 / 200e9;    // seconds per byte of source
  double host_copy_s = 1 / 20e9;  // per byte between the device and pinned memory of the host
  friend bool operator==(const DeviceFigures&, const DeviceFigures&) = default;
};

// The figures by name, in the order of struct DeviceFigures.
struct DeviceFigure {
  std::string_view name;
  double DeviceFigures::*value;
};
std::span<const DeviceFigure> device_figures();

// A device that was measured.
struct TunedDevice {
  std::string api;   // name in devices/registry.inc
  std::string name;  // device's name, as its driver says; with `api` it tells entries apart
  std::string driver;
  bool ipc = false;  // others can open its memory, so that calls run on it peer-to-peer
  DeviceFigures figures;
};

// The slowest device's value of each figure, for a rank knows only its own device and all have to
// choose alike. It counts the devices with IPC, or all. The defaults if there is
// none.
enum class Of { kWithIpc, kAll };
DeviceFigures slowest_figures(std::span<const TunedDevice> devices, Of which);

}  // namespace tutti
