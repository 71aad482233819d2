// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Events lie in the shared memory of their pool, so that another process may open the pool.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/level_zero/object.hpp"

namespace tutti_test::ze {

struct EventState {
  std::atomic<uint32_t> signaled;
  std::atomic<int> commands;           // that wait for it or signal it, and are not done
  std::atomic<uint64_t> begun, ended;  // nanoseconds, of the command that signalled it
};

// Of a pool; stays as long as a command refers to it.
class EventMemory {
 public:
  // In a new file, or in that of another process.
  EventMemory(uint32_t count, int fd);
  ~EventMemory();
  EventMemory(const EventMemory&) = delete;
  EventMemory& operator=(const EventMemory&) = delete;
  EventState& at(uint32_t index) const { return states_[index]; }
  int fd() const { return fd_; }
  uint32_t count() const { return count_; }

 private:
  uint32_t count_;
  int fd_;
  EventState* states_;
};

// What a command waits for, or signals.
struct Signal {
  std::shared_ptr<const EventMemory> memory;
  uint32_t index = 0;
  EventState& state() const { return memory->at(index); }
};

}  // namespace tutti_test::ze

struct _ze_event_pool_handle_t : tutti_test::ze::Object {
  _ze_event_pool_handle_t(ze_context_handle_t context_, ze_event_pool_flags_t flags_,
                          std::shared_ptr<const tutti_test::ze::EventMemory> memory_, bool opened_)
      : Object(opened_ ? "opened event pool" : "event pool"),
        context(context_),
        flags(flags_),
        memory(std::move(memory_)),
        used(memory->count()),
        opened(opened_) {}
  const ze_context_handle_t context;
  const ze_event_pool_flags_t flags;
  const std::shared_ptr<const tutti_test::ze::EventMemory> memory;
  std::vector<bool> used;
  const bool opened;
};

struct _ze_event_handle_t : tutti_test::ze::Object {
  _ze_event_handle_t(ze_event_pool_handle_t pool_, uint32_t index)
      : Object("event"), pool(pool_), signal{pool->memory, index} {}
  ze_event_pool_handle_t const pool;
  const tutti_test::ze::Signal signal;
};
