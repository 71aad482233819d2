// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeEventPool*, zeEvent*: what the host does with events.
#include "support/level_zero/event.hpp"

#include <fcntl.h>

#include <cstring>

#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/switches.hpp"
#include "support/level_zero/wait.hpp"

namespace tutti_test::ze {

namespace {

struct Handle {
  int fd;
  uint32_t mark;
  uint32_t count;
  uint32_t flags;
};
constexpr uint32_t kMark = 0x747a6532;

ze_result_t create_pool(ze_context_handle_t context, const ze_event_pool_desc_t* desc, uint32_t,
                        ze_device_handle_t*, ze_event_pool_handle_t* pool) {
  require(desc && pool, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  require(desc->count > 0, ZE_RESULT_ERROR_INVALID_SIZE, "a pool of no events");
  require(desc->count <= static_cast<uint64_t>(switches().most_events),
          ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "the pool is too large");
  auto memory = std::make_shared<const EventMemory>(desc->count, -1);
  *pool = new _ze_event_pool_handle_t(context, desc->flags, std::move(memory), false);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_pool(ze_event_pool_handle_t pool) {
  require(!pool->opened, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the pool was opened, not made");
  for (const bool used : pool->used) {
    require(!used, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "events of the pool live");
  }
  delete pool;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_handle(ze_event_pool_handle_t pool, ze_ipc_event_pool_handle_t* handle) {
  require(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the handle");
  require((pool->flags & ZE_EVENT_POOL_FLAG_IPC) != 0, ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pool was not made for other processes");
  const Handle made{pool->memory->fd(), kMark, pool->memory->count(), pool->flags};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &made, sizeof made);
  return ZE_RESULT_SUCCESS;
}

ze_result_t open_handle(ze_context_handle_t context, ze_ipc_event_pool_handle_t given,
                        ze_event_pool_handle_t* pool) {
  require(pool != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the pool");
  Handle handle{};
  std::memcpy(&handle, &given, sizeof handle);
  const int fd = handle.mark == kMark ? fcntl(handle.fd, F_DUPFD_CLOEXEC, 0) : -1;
  require(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "no handle with its descriptor");
  auto memory = std::make_shared<const EventMemory>(handle.count, fd);
  *pool = new _ze_event_pool_handle_t(context, handle.flags, std::move(memory), true);
  return ZE_RESULT_SUCCESS;
}

ze_result_t close_handle(ze_event_pool_handle_t pool) {
  require(pool->opened, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the pool was made, not opened");
  delete pool;
  return ZE_RESULT_SUCCESS;
}

ze_result_t create_event(ze_event_pool_handle_t pool, const ze_event_desc_t* desc,
                         ze_event_handle_t* event) {
  require(desc && event, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  require(desc->index < pool->memory->count(), ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "the pool has fewer events");
  require(!pool->used[desc->index], ZE_RESULT_ERROR_INVALID_ARGUMENT,
          "an event with this index lives");
  pool->used[desc->index] = true;
  if (!pool->opened) pool->memory->at(desc->index).signaled = 0;
  *event = new _ze_event_handle_t(pool, desc->index);
  return ZE_RESULT_SUCCESS;
}

void check_unused(ze_event_handle_t event, const char* otherwise) {
  if (event->signal.state().commands != 0) complain(otherwise);
}

ze_result_t destroy_event(ze_event_handle_t event) {
  check_unused(event, "an event is destroyed while commands need it");
  event->pool->used[event->signal.index] = false;
  delete event;
  return ZE_RESULT_SUCCESS;
}

void require_visible(ze_event_handle_t event) {
  require((event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) != 0,
          ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "the host cannot see events of the pool");
}

ze_result_t host_signal(ze_event_handle_t event) {
  event->signal.state().signaled = 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t host_reset(ze_event_handle_t event) {
  check_unused(event, "an event is reset while commands need it");
  event->signal.state().signaled = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_status(ze_event_handle_t event) {
  require_visible(event);
  return event->signal.state().signaled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t host_synchronize(ze_event_handle_t event, uint64_t timeout) {
  require_visible(event);
  const bool signaled = wait_for([&] { return event->signal.state().signaled != 0; }, timeout);
  return signaled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t query_times(ze_event_handle_t event, ze_kernel_timestamp_result_t* times) {
  require(times != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no place for the times");
  const EventState& state = event->signal.state();
  if (!state.signaled) return ZE_RESULT_NOT_READY;
  times->global.kernelStart = times->context.kernelStart = state.begun;
  times->global.kernelEnd = times->context.kernelEnd = state.ended;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_event_pool_dditable_t* table) {
  table->pfnCreate = entry<create_pool>("zeEventPoolCreate");
  table->pfnDestroy = entry<destroy_pool>("zeEventPoolDestroy");
  table->pfnGetIpcHandle = entry<get_handle>("zeEventPoolGetIpcHandle");
  table->pfnOpenIpcHandle = entry<open_handle>("zeEventPoolOpenIpcHandle");
  table->pfnCloseIpcHandle = entry<close_handle>("zeEventPoolCloseIpcHandle");
}

void fill(ze_event_dditable_t* table) {
  table->pfnCreate = entry<create_event>("zeEventCreate");
  table->pfnDestroy = entry<destroy_event>("zeEventDestroy");
  table->pfnHostSignal = entry<host_signal>("zeEventHostSignal");
  table->pfnHostReset = entry<host_reset>("zeEventHostReset");
  table->pfnQueryStatus = entry<query_status>("zeEventQueryStatus");
  table->pfnHostSynchronize = entry<host_synchronize>("zeEventHostSynchronize");
  table->pfnQueryKernelTimestamp = entry<query_times>("zeEventQueryKernelTimestamp");
}

}  // namespace tutti_test::ze
