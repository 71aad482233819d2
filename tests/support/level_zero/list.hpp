// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Command queues, command lists and fences.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <memory>
#include <vector>

#include "support/level_zero/engine.hpp"
#include "support/level_zero/object.hpp"

struct _ze_command_queue_handle_t : tutti_test::ze::Object {
  _ze_command_queue_handle_t(ze_context_handle_t context_, ze_device_handle_t device_,
                             const ze_command_queue_desc_t& desc)
      : Object("command queue"),
        context(context_),
        device(device_),
        ordinal(desc.ordinal),
        waits(desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS) {}
  const ze_context_handle_t context;
  const ze_device_handle_t device;
  const uint32_t ordinal;
  const bool waits;  // until what it was given has ended
  tutti_test::ze::Engine engine;
};

struct _ze_command_list_handle_t : tutti_test::ze::Object {
  _ze_command_list_handle_t(ze_context_handle_t context_, ze_device_handle_t device_,
                            uint32_t ordinal_)
      : Object("command list"), context(context_), device(device_), ordinal(ordinal_) {}
  const ze_context_handle_t context;
  const ze_device_handle_t device;
  const uint32_t ordinal;
  std::vector<tutti_test::ze::Recorded> commands;
  bool closed = false;
  std::shared_ptr<std::atomic<int>> executions = std::make_shared<std::atomic<int>>(0);
  std::unique_ptr<tutti_test::ze::Engine> immediate;
  bool waits = false;  // an immediate one, until each command has ended
};

struct _ze_fence_handle_t : tutti_test::ze::Object {
  _ze_fence_handle_t(ze_command_queue_handle_t queue_, bool signaled)
      : Object("fence"), queue(queue_), done(std::make_shared<std::atomic<bool>>(signaled)) {}
  const ze_command_queue_handle_t queue;
  const std::shared_ptr<std::atomic<bool>> done;
};

namespace tutti_test::ze {

// A command with its events, checked.
Command make_command(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                     ze_event_handle_t* waits);
// Records it, or executes it if the list is an immediate one.
void append(ze_command_list_handle_t list, Command command);

}  // namespace tutti_test::ze
