// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/device.hpp"

#include "support/level_zero/switches.hpp"

using tutti_test::ze::switches;

// Of no kind that is listed: these live as long as the process.
_ze_driver_handle_t::_ze_driver_handle_t(ze_device_type_t type, int cards) : Object("") {
  for (int card = 0; card < cards; card++) {
    devices.push_back(std::make_unique<_ze_device_handle_t>(type, card, -1, nullptr));
  }
}

_ze_device_handle_t::_ze_device_handle_t(ze_device_type_t type_, int card_, int tile_,
                                         _ze_device_handle_t* parent)
    : Object(""), type(type_), card(card_), tile(tile_), root(parent ? parent : this) {
  for (int i = 0; !parent && i < switches().subdevices; i++) {
    tiles.push_back(std::make_unique<_ze_device_handle_t>(type, card, i, this));
  }
}

namespace tutti_test::ze {

_ze_driver_handle_t& the_driver() {
  static auto* const driver =
      new _ze_driver_handle_t(switches().cpu ? ZE_DEVICE_TYPE_CPU : ZE_DEVICE_TYPE_GPU,
                              static_cast<int>(switches().devices));
  return *driver;
}

_ze_driver_handle_t& other_driver() {
  static auto* const driver = new _ze_driver_handle_t(ZE_DEVICE_TYPE_VPU, 1);
  return *driver;
}

ze_device_handle_t find_device(int card, int tile) {
  _ze_device_handle_t& root = *the_driver().devices.at(static_cast<size_t>(card));
  return tile < 0 ? &root : root.tiles.at(static_cast<size_t>(tile)).get();
}

void require_full(const char* otherwise) {
  require(!switches().bare, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, otherwise);
}

uint32_t queue_groups() { return switches().copy_engine ? 2 : 1; }
uint32_t compute_group() { return switches().copy_engine && switches().copy_first ? 1 : 0; }
uint32_t queues_of_group() { return static_cast<uint32_t>(switches().queues); }
bool group_copies(uint32_t ordinal) { return ordinal != compute_group() || !switches().no_copies; }

uint64_t memory_of_device() { return static_cast<uint64_t>(switches().memory_mb) << 20; }

bool reaches(const _ze_device_handle_t& device, const _ze_device_handle_t& other) {
  if (&device == &other || device.root == &other) return true;
  return device.root == other.root ? !switches().tiles_apart : !switches().no_peers;
}

}  // namespace tutti_test::ze
