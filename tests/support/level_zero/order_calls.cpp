// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Commands that order others: barriers and events.
#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/list.hpp"

namespace tutti_test::ze {

namespace {

// With events to wait for, a barrier does not wait for the commands before it, says the
// specification.
ze_result_t barrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                    ze_event_handle_t* waits) {
  Command command = make_command(list, signal, wait_count, waits);
  command.after_all = wait_count == 0;
  command.blocks = true;
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t ranges_barrier(ze_command_list_handle_t list, uint32_t count, const size_t* sizes,
                           const void** ranges, ze_event_handle_t signal, uint32_t wait_count,
                           ze_event_handle_t* waits) {
  require(sizes && ranges, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no ranges");
  for (uint32_t i = 0; i < count; i++) {
    find_place(list->context, list->device, ranges[i], sizes[i]);
  }
  return barrier(list, signal, wait_count, waits);
}

// Not ordered after what is before it in the list.
ze_result_t signal_event(ze_command_list_handle_t list, ze_event_handle_t event) {
  require(event != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no event");
  append(list, make_command(list, event, 0, nullptr));
  return ZE_RESULT_SUCCESS;
}

ze_result_t wait_on_events(ze_command_list_handle_t list, uint32_t count,
                           ze_event_handle_t* events) {
  require(events != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no events");
  Command command = make_command(list, nullptr, count, events);
  command.blocks = true;
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t reset_event(ze_command_list_handle_t list, ze_event_handle_t event) {
  require(event != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no event");
  Command command = make_command(list, event, 0, nullptr);
  command.run = [signal = std::move(command.signal)] { signal.state().signaled = 0; };
  command.signal = {};
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill_orders(ze_command_list_dditable_t* table) {
  table->pfnAppendBarrier = entry<barrier>("zeCommandListAppendBarrier");
  table->pfnAppendMemoryRangesBarrier =
      entry<ranges_barrier>("zeCommandListAppendMemoryRangesBarrier");
  table->pfnAppendSignalEvent = entry<signal_event>("zeCommandListAppendSignalEvent");
  table->pfnAppendWaitOnEvents = entry<wait_on_events>("zeCommandListAppendWaitOnEvents");
  table->pfnAppendEventReset = entry<reset_event>("zeCommandListAppendEventReset");
}

}  // namespace tutti_test::ze
