// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "devices/level_zero/events.hpp"

#include <algorithm>

namespace tutti::devices::level_zero {
namespace {

constexpr uint32_t kEventsOfPool = 64;  // where the driver makes such pools

}  // namespace

void Events::destroy() {
  if (abandoned_) return;
  for (ze_event_handle_t const event : all_) ze_.zeEventDestroy(event);
  for (ze_event_pool_handle_t const pool : pools_) ze_.zeEventPoolDestroy(pool);
  all_.clear();
  pools_.clear();
}

Result<ze_event_handle_t> Events::take() {
  const std::lock_guard lock(mutex_);
  ze_event_handle_t event = nullptr;
  if (!free_.empty()) {
    event = free_.back();
    free_.pop_back();
  } else {
    event = find_pending();
  }
  if (event == nullptr) return make();
  TUTTI_LEVEL_ZERO_CALL(ze_, zeEventHostReset, event);
  return event;
}

// An event of which the device has let go by now.
ze_event_handle_t Events::find_pending() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    ze_event_handle_t const event = pending_[i];
    if (ze_.zeEventHostSynchronize(event, 0) != ZE_RESULT_SUCCESS) continue;
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(i));
    return event;
  }
  return nullptr;
}

Status Events::make_pool() {
  if (events_of_pool_ == 0) events_of_pool_ = kEventsOfPool;
  for (;; events_of_pool_ /= 2) {
    const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                    ZE_EVENT_POOL_FLAG_HOST_VISIBLE, events_of_pool_};
    ze_event_pool_handle_t pool = nullptr;
    const ze_result_t result = ze_.zeEventPoolCreate(context_, &desc, 0, nullptr, &pool);
    if (result == ZE_RESULT_SUCCESS) {
      pools_.push_back(pool);
      used_of_pool_ = 0;
      return {};
    }
    if (events_of_pool_ == 1) return failed(result, "zeEventPoolCreate");
  }
}

Result<ze_event_handle_t> Events::make() {
  if (pools_.empty() || used_of_pool_ == events_of_pool_) TUTTI_RETURN_IF_ERROR(make_pool());
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, used_of_pool_,
                             ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
  ze_event_handle_t event = nullptr;
  TUTTI_LEVEL_ZERO_CALL(ze_, zeEventCreate, pools_.back(), &desc, &event);
  ++used_of_pool_;
  all_.push_back(event);
  return event;
}

bool Events::at_rest() {
  const std::lock_guard lock(mutex_);
  return std::ranges::none_of(pending_, [this](ze_event_handle_t event) {
    return ze_.zeEventHostSynchronize(event, 0) == ZE_RESULT_NOT_READY;
  });
}

void Events::give_back(ze_event_handle_t event, bool pending) {
  const std::lock_guard lock(mutex_);
  (pending ? pending_ : free_).push_back(event);
}

}  // namespace tutti::devices::level_zero
