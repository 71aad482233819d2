// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeCommandListCreate and what else is done with a whole list; how commands get into one.
#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/list.hpp"

namespace tutti_test::ze {

Command make_command(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                     ze_event_handle_t* waits) {
  require(wait_count == 0 || waits, ZE_RESULT_ERROR_INVALID_SIZE, "events to wait for are missing");
  Command command;
  const auto use = [list, &command](ze_event_handle_t event) {
    require(event && is_live(event), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "no event");
    require(event->pool->context == list->context, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            "the event is of another context");
    command.in_use.emplace_back(event->signal.memory, &event->signal.state().commands);
    return event->signal;
  };
  if (signal) command.signal = use(signal);
  for (uint32_t i = 0; i < wait_count; i++) command.waits.push_back(use(waits[i]));
  return command;
}

void append(ze_command_list_handle_t list, Command command) {
  require(!list->closed, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is closed");
  auto recorded = std::make_shared<const Command>(std::move(command));
  if (!list->immediate) {
    list->commands.push_back(std::move(recorded));
    return;
  }
  list->immediate->submit({std::move(recorded)}, {});
  if (list->waits) list->immediate->wait_idle(UINT64_MAX);
}

namespace {

ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                   const ze_command_list_desc_t* desc, ze_command_list_handle_t* list) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  require(desc && list, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  require(desc->commandQueueGroupOrdinal < queue_groups(), ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the device has no such group of queues");
  *list = new _ze_command_list_handle_t(context, device, desc->commandQueueGroupOrdinal);
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                             const ze_command_queue_desc_t* desc, ze_command_list_handle_t* list) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  require(desc && list, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  require(desc->ordinal < queue_groups() && desc->index < queues_of_group(),
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device has no such queue");
  auto made = std::make_unique<_ze_command_list_handle_t>(context, device, desc->ordinal);
  made->immediate = std::make_unique<Engine>();
  made->waits = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  *list = made.release();
  return ZE_RESULT_SUCCESS;
}

void require_at_rest(ze_command_list_handle_t list) {
  if (*list->executions == 0) return;
  complain("a list is reset or destroyed while it executes");
  throw Refusal{ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the list executes"};
}

ze_result_t destroy(ze_command_list_handle_t list) {
  require_at_rest(list);
  delete list;
  return ZE_RESULT_SUCCESS;
}

ze_result_t close(ze_command_list_handle_t list) {
  require(!list->immediate, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is an immediate one");
  list->closed = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t reset(ze_command_list_handle_t list) {
  require(!list->immediate, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is an immediate one");
  require_at_rest(list);
  list->commands.clear();
  list->closed = false;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_command_list_dditable_t* table) {
  table->pfnCreate = entry<create>("zeCommandListCreate");
  table->pfnCreateImmediate = entry<create_immediate>("zeCommandListCreateImmediate");
  table->pfnDestroy = entry<destroy>("zeCommandListDestroy");
  table->pfnClose = entry<close>("zeCommandListClose");
  table->pfnReset = entry<reset>("zeCommandListReset");
  fill_orders(table);
  fill_copies(table);
  fill_launches(table);
}

}  // namespace tutti_test::ze
