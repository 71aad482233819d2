// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Commands that copy and fill memory.
#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/list.hpp"

namespace tutti_test::ze {

namespace {

ze_result_t copy_from(ze_command_list_handle_t list, void* target, ze_context_handle_t of_source,
                      const void* source, size_t bytes, ze_event_handle_t signal,
                      uint32_t wait_count, ze_event_handle_t* waits) {
  require(group_copies(list->ordinal), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
          "the list does not copy");
  require(bytes > 0, ZE_RESULT_ERROR_INVALID_SIZE, "nothing to copy");
  const Place to = find_place(list->context, list->device, target, bytes);
  const Place from = find_place(of_source, list->device, source, bytes);
  Command command = make_command(list, signal, wait_count, waits);
  command.memory = {to.memory, from.memory};
  command.run = [to = to.at, from = from.at, bytes] { std::memmove(to, from, bytes); };
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

ze_result_t copy(ze_command_list_handle_t list, void* target, const void* source, size_t bytes,
                 ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t* waits) {
  return copy_from(list, target, list->context, source, bytes, signal, wait_count, waits);
}

ze_result_t fill_bytes(ze_command_list_handle_t list, void* target, const void* pattern,
                       size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                       uint32_t wait_count, ze_event_handle_t* waits) {
  require(pattern != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no pattern");
  const size_t longest = list->ordinal == compute_group() ? 128 : 1;
  require(pattern_bytes > 0 && (pattern_bytes & (pattern_bytes - 1)) == 0 &&
              pattern_bytes <= longest && bytes % pattern_bytes == 0,
          ZE_RESULT_ERROR_INVALID_SIZE, "the queue cannot fill with such a pattern");
  const Place to = find_place(list->context, list->device, target, bytes);
  const auto* const first = static_cast<const char*>(pattern);
  Command command = make_command(list, signal, wait_count, waits);
  command.memory = {to.memory};
  command.run = [to = to.at, value = std::vector<char>(first, first + pattern_bytes), bytes] {
    for (size_t i = 0; i < bytes; i += value.size())
      std::memcpy(to + i, value.data(), value.size());
  };
  append(list, std::move(command));
  return ZE_RESULT_SUCCESS;
}

// Advice, which this driver needs none of.
ze_result_t prefetch(ze_command_list_handle_t list, const void* pointer, size_t bytes) {
  find_place(list->context, list->device, pointer, bytes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t advise(ze_command_list_handle_t list, ze_device_handle_t, const void* pointer,
                   size_t bytes, ze_memory_advice_t) {
  return prefetch(list, pointer, bytes);
}

}  // namespace

void fill_copies(ze_command_list_dditable_t* table) {
  table->pfnAppendMemoryCopy = entry<copy>("zeCommandListAppendMemoryCopy");
  table->pfnAppendMemoryCopyFromContext =
      entry<copy_from>("zeCommandListAppendMemoryCopyFromContext");
  table->pfnAppendMemoryFill = entry<fill_bytes>("zeCommandListAppendMemoryFill");
  table->pfnAppendMemoryPrefetch = entry<prefetch>("zeCommandListAppendMemoryPrefetch");
  table->pfnAppendMemAdvise = entry<advise>("zeCommandListAppendMemAdvise");
}

}  // namespace tutti_test::ze
