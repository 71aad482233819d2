// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/barrier_lists.hpp"

#include <algorithm>

namespace tutti::devices::level_zero {

bool BarrierLists::at_rest() const {
  return std::ranges::none_of(barriers_, [this](const Barrier& one) {
    return ze_.zeFenceHostSynchronize(one.fence, 0) == ZE_RESULT_NOT_READY;
  });
}

void BarrierLists::destroy(const Barrier& barrier) const {
  if (barrier.fence != nullptr) ze_.zeFenceDestroy(barrier.fence);
  if (barrier.list != nullptr) ze_.zeCommandListDestroy(barrier.list);
}

void BarrierLists::destroy() {
  for (const Barrier& barrier : barriers_) destroy(barrier);
  barriers_.clear();
}

// ---- one of them -------------------------------------------------------------------------------

Status BarrierLists::append(const Barrier& barrier) const {
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListAppendBarrier, barrier.list, barrier.event, 0, nullptr);
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListClose, barrier.list);
  return {};
}

Status BarrierLists::make(Barrier& barrier, ze_command_queue_handle_t queue,
                          uint32_t ordinal) const {
  const ze_command_list_desc_t of_list{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, ordinal, 0};
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandListCreate, context_, device_.id, &of_list, &barrier.list);
  TUTTI_RETURN_IF_ERROR(append(barrier));
  const ze_fence_desc_t of_fence{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  TUTTI_LEVEL_ZERO_CALL(ze_, zeFenceCreate, queue, &of_fence, &barrier.fence);
  return {};
}

Status BarrierLists::execute(ze_command_queue_handle_t queue, const Barrier& barrier) const {
  ze_command_list_handle_t list = barrier.list;
  TUTTI_LEVEL_ZERO_CALL(ze_, zeCommandQueueExecuteCommandLists, queue, 1, &list, barrier.fence);
  return {};
}

// ---- in the queue ------------------------------------------------------------------------------

// A queue takes lists of its own group alone. The group that runs kernels is the likeliest.
std::vector<uint32_t> BarrierLists::groups() const {
  if (group_) return {*group_};
  std::vector<uint32_t> all{device_.compute_ordinal};
  for (uint32_t ordinal = 0; ordinal < device_.queue_groups; ++ordinal) {
    if (ordinal != device_.compute_ordinal) all.push_back(ordinal);
  }
  return all;
}

Status BarrierLists::execute(ze_command_queue_handle_t queue, ze_event_handle_t event) {
  const auto made = std::ranges::find_if(barriers_, [&](const Barrier& one) {
    return one.event == event && ze_.zeFenceHostSynchronize(one.fence, 0) == ZE_RESULT_SUCCESS;
  });
  if (made != barriers_.end()) {
    TUTTI_LEVEL_ZERO_CALL(ze_, zeFenceReset, made->fence);
    return execute(queue, *made);
  }
  Status status;
  for (const uint32_t ordinal : groups()) {
    Barrier barrier{.event = event};
    status = make(barrier, queue, ordinal);
    if (status.ok()) status = execute(queue, barrier);
    if (status.ok()) {
      group_ = ordinal;
      barriers_.push_back(barrier);
      return {};
    }
    destroy(barrier);
  }
  return status;
}

}  // namespace tutti::devices::level_zero
