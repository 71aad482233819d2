// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/device.hpp"

#include "support/level_zero/switches.hpp"

using tutti_test::ze::switches;

// Of no kind that is listed: these live as long as the process.
_ze_driver_handle_t::_ze_driver_handle_t() : Object("") {
  for (int card = 0; card < switches().devices; card++) {
    devices.push_back(std::make_unique<_ze_device_handle_t>(card, -1, nullptr));
  }
}

_ze_device_handle_t::_ze_device_handle_t(int card_, int tile_, _ze_device_handle_t* parent)
    : Object(""), card(card_), tile(tile_), root(parent ? parent : this) {
  for (int i = 0; !parent && i < switches().subdevices; i++) {
    tiles.push_back(std::make_unique<_ze_device_handle_t>(card, i, this));
  }
}

namespace tutti_test::ze {

_ze_driver_handle_t& the_driver() {
  static auto* const driver = new _ze_driver_handle_t;
  return *driver;
}

uint32_t queue_groups() { return switches().copy_engine ? 2 : 1; }
uint32_t compute_group() { return switches().copy_engine && switches().copy_first ? 1 : 0; }
bool group_copies(uint32_t ordinal) { return ordinal != compute_group() || !switches().no_copies; }

uint64_t memory_of_device() { return static_cast<uint64_t>(switches().memory_mb) << 20; }

bool reaches(const _ze_device_handle_t& device, const _ze_device_handle_t& other) {
  return device.root == other.root || !switches().no_peers;
}

}  // namespace tutti_test::ze
