// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Events of a context, which the host sees and which are used again.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "devices/level_zero/library.hpp"

namespace tutti::devices::level_zero {

class Events {
 public:
  Events(const Library& ze, ze_context_handle_t context) : ze_(ze), context_(context) {}
  ~Events() { destroy(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // An event that is not signalled. Any thread.
  Result<ze_event_handle_t> take();
  // Takes back an event that was seen signalled; or, `pending`, one that will be. Any thread.
  void give_back(ze_event_handle_t event, bool pending);
  // Whether none that was given back will still be signalled.
  bool at_rest();
  // Destroys the events, which nothing signals or awaits any more.
  void destroy();
  // Leaves the events to the process: a device uses them for ever.
  void abandon() { abandoned_ = true; }

 private:
  Result<ze_event_handle_t> make();
  Status make_pool();
  ze_event_handle_t find_pending();

  const Library& ze_;
  ze_context_handle_t const context_;
  std::atomic<bool> abandoned_{false};
  std::mutex mutex_;  // guards what follows
  std::vector<ze_event_pool_handle_t> pools_;
  uint32_t events_of_pool_ = 0;
  uint32_t used_of_pool_ = 0;
  std::vector<ze_event_handle_t> all_;
  std::vector<ze_event_handle_t> free_;
  std::vector<ze_event_handle_t> pending_;
};

}  // namespace tutti::devices::level_zero
