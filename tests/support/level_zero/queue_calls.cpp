// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// zeCommandQueue*, zeFence*.
#include "support/level_zero/calls.hpp"
#include "support/level_zero/device.hpp"
#include "support/level_zero/entry.hpp"
#include "support/level_zero/list.hpp"
#include "support/level_zero/wait.hpp"

namespace tutti_test::ze {

namespace {

ze_result_t create_queue(ze_context_handle_t context, ze_device_handle_t device,
                         const ze_command_queue_desc_t* desc, ze_command_queue_handle_t* queue) {
  require(device != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no device");
  require(desc && queue, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  require(desc->ordinal < queue_groups() && desc->index < queues_of_group(),
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device has no such queue");
  *queue = new _ze_command_queue_handle_t(context, device, *desc);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_queue(ze_command_queue_handle_t queue) {
  delete queue;
  return ZE_RESULT_SUCCESS;
}

void check_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list) {
  require(list && is_live(list), ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "no list");
  require(!list->immediate && list->ordinal == queue->ordinal,
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "the list is not for such a queue");
  require(list->closed, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is not closed");
  require(list->context == queue->context && list->device == queue->device,
          ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is of another context or device");
  require(*list->executions == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list executes already");
}

ze_result_t execute(ze_command_queue_handle_t queue, uint32_t count,
                    ze_command_list_handle_t* lists, ze_fence_handle_t fence) {
  require(lists != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no lists");
  require(count > 0, ZE_RESULT_ERROR_INVALID_SIZE, "no lists");
  require(!fence || fence->queue == queue, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
          "the fence is of another queue");
  std::vector<Recorded> commands;
  std::vector<std::shared_ptr<std::atomic<int>>> executions;
  for (uint32_t i = 0; i < count; i++) {
    check_list(queue, lists[i]);
    commands.insert(commands.end(), lists[i]->commands.begin(), lists[i]->commands.end());
    executions.push_back(lists[i]->executions);
  }
  for (const auto& one : executions) ++*one;
  queue->engine.submit(commands, [executions, done = fence ? fence->done : nullptr] {
    for (const auto& one : executions) --*one;
    if (done) *done = true;
  });
  if (queue->waits) queue->engine.wait_idle(UINT64_MAX);
  return ZE_RESULT_SUCCESS;
}

ze_result_t synchronize(ze_command_queue_handle_t queue, uint64_t timeout) {
  return queue->engine.wait_idle(timeout) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t create_fence(ze_command_queue_handle_t queue, const ze_fence_desc_t* desc,
                         ze_fence_handle_t* fence) {
  require(desc && fence, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "no description, or no place");
  check_structure(desc);
  *fence = new _ze_fence_handle_t(queue, (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0);
  return ZE_RESULT_SUCCESS;
}

ze_result_t destroy_fence(ze_fence_handle_t fence) {
  delete fence;
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_fence(ze_fence_handle_t fence) {
  return *fence->done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t wait_fence(ze_fence_handle_t fence, uint64_t timeout) {
  const bool done = wait_for([&] { return fence->done->load(); }, timeout);
  return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t reset_fence(ze_fence_handle_t fence) {
  *fence->done = false;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void fill(ze_command_queue_dditable_t* table) {
  table->pfnCreate = entry<create_queue>("zeCommandQueueCreate");
  table->pfnDestroy = entry<destroy_queue>("zeCommandQueueDestroy");
  table->pfnExecuteCommandLists = entry<execute>("zeCommandQueueExecuteCommandLists");
  table->pfnSynchronize = entry<synchronize>("zeCommandQueueSynchronize");
}

void fill(ze_fence_dditable_t* table) {
  table->pfnCreate = entry<create_fence>("zeFenceCreate");
  table->pfnDestroy = entry<destroy_fence>("zeFenceDestroy");
  table->pfnHostSynchronize = entry<wait_fence>("zeFenceHostSynchronize");
  table->pfnQueryStatus = entry<query_fence>("zeFenceQueryStatus");
  table->pfnReset = entry<reset_fence>("zeFenceReset");
}

}  // namespace tutti_test::ze
