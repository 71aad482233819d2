// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The driver, its devices (cards) and their sub-devices (tiles), and contexts.
#pragma once

#include <level_zero/ze_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/level_zero/object.hpp"
#include "support/level_zero/structures.hpp"

struct _ze_driver_handle_t : tutti_test::ze::Object {
  _ze_driver_handle_t(ze_device_type_t type, int cards);
  std::vector<std::unique_ptr<_ze_device_handle_t>> devices;
};

struct _ze_device_handle_t : tutti_test::ze::Object {
  _ze_device_handle_t(ze_device_type_t type, int card, int tile, _ze_device_handle_t* parent);
  const ze_device_type_t type;
  const int card;
  const int tile;                   // -1: the whole card
  _ze_device_handle_t* const root;  // itself, if it is a card
  std::vector<std::unique_ptr<_ze_device_handle_t>> tiles;
  std::atomic<uint64_t> bytes_used{0};  // of a card
};

struct _ze_context_handle_t : tutti_test::ze::Object {
  _ze_context_handle_t() : Object("context") {}
};

namespace tutti_test::ze {

// Never destroyed. Another one has a device that is of no use.
_ze_driver_handle_t& the_driver();
_ze_driver_handle_t& other_driver();
// By its numbers.
ze_device_handle_t find_device(int card, int tile);

// Groups of queues, as a device numbers them.
uint32_t queue_groups();
uint32_t queues_of_group();
uint32_t compute_group();  // the other only copies
bool group_copies(uint32_t ordinal);

inline constexpr uint32_t kMostItemsInGroup = 256;
uint64_t memory_of_device();
// Whether a device reaches what lies in the memory of another.
bool reaches(const _ze_device_handle_t& device, const _ze_device_handle_t& other);

// How the specification wants lists to be returned: a count of zero asks how many there are.
template <typename Element, typename Make>
void return_list(uint32_t available, uint32_t* count, Element* elements, Make make) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the count");
  if (*count == 0 || !elements) {
    *count = available;
    return;
  }
  *count = std::min(*count, available);
  for (uint32_t i = 0; i < *count; i++) make(elements[i], i);
}

// What not every driver has.
void require_full(const char* otherwise);

// Of a structure that the caller has typed, and that has no others linked to it.
template <typename Properties>
void return_properties(Properties* properties, Properties made) {
  check_structure(properties);
  made.stype = properties->stype;
  made.pNext = properties->pNext;
  *properties = made;
}

}  // namespace tutti_test::ze
