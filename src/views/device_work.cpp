// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_work.hpp"

#include "views/view_queue.hpp"

namespace tutti {

Status DeviceWork::submit() {
  if (engine_ == nullptr || !given_) return {};
  TUTTI_ASSIGN_OR_RETURN(submission_, engine_->submit());
  given_ = false;
  return {};
}

Result<bool> DeviceWork::ready() {
  if (engine_ == nullptr) return true;
  TUTTI_RETURN_IF_ERROR(submit());
  const devices::Patience patience =
      patient_ == nullptr ? devices::Patience() : patient_->patience();
  Result<bool> over = engine_->done_within(submission_, patience);
  if (over.ok() && *over) engine_ = nullptr;
  return over;
}

bool DeviceWork::at_rest(bool late) {
  Result<bool> over = out_of_memory();
  try_to([&] { over = ready(); });
  if (over.ok() && !*over && !late) return false;
  if (engine_ != nullptr) activity_.leak();
  engine_ = nullptr;
  return true;
}

}  // namespace tutti
