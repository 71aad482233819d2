// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lists that signal an event once all is done that is in a command queue of the application.
// Each has a barrier, and is made once for each event. A list runs again only when its fence has
// told that it has ended, which may be later than its event does.
#pragma once

#include <optional>
#include <vector>

#include "devices/level_zero/inventory.hpp"

namespace tutti::devices::level_zero {

// Used by one thread at a time.
class BarrierLists {
 public:
  BarrierLists(const Library& ze, const Device& device, ze_context_handle_t context)
      : ze_(ze), device_(device), context_(context) {}
  BarrierLists(const BarrierLists&) = delete;
  BarrierLists& operator=(const BarrierLists&) = delete;

  // `queue` is the same each time.
  Status execute(ze_command_queue_handle_t queue, ze_event_handle_t event);
  [[nodiscard]] bool at_rest() const;
  // Destroys the lists, once they are at rest.
  void destroy();

 private:
  struct Barrier {
    ze_event_handle_t event = nullptr;
    ze_command_list_handle_t list = nullptr;
    ze_fence_handle_t fence = nullptr;
  };

  Status make(Barrier& barrier, ze_command_queue_handle_t queue, uint32_t ordinal) const;
  Status append(const Barrier& barrier) const;
  Status execute(ze_command_queue_handle_t queue, const Barrier& barrier) const;
  void destroy(const Barrier& barrier) const;
  // The groups of queues in which the application's may be, the likeliest first.
  [[nodiscard]] std::vector<uint32_t> groups() const;

  const Library& ze_;
  const Device& device_;
  ze_context_handle_t const context_;
  // Group of the queue, once it is found; the driver does not tell it.
  std::optional<uint32_t> group_;
  std::vector<Barrier> barriers_;
};

}  // namespace tutti::devices::level_zero
