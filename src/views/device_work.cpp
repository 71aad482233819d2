// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_work.hpp"

namespace tutti {

Status DeviceWork::submit() {
  if (engine_ == nullptr || !given_) return {};
  const Result<uint64_t> submission = engine_->submit();
  if (!submission.ok()) return submission.status();
  submission_ = *submission;
  given_ = false;
  return {};
}

Result<bool> DeviceWork::done(uint32_t microseconds) {
  if (engine_ == nullptr) return true;
  TUTTI_RETURN_IF_ERROR(submit());
  Result<bool> over = engine_->done_within(submission_, microseconds);
  if (over.ok() && *over) engine_ = nullptr;
  return over;
}

DeviceWork::Rest DeviceWork::wind_up(bool late) {
  const Result<bool> over = done();
  if (over.ok() && *over) return Rest::kOver;
  return over.ok() && !late ? Rest::kNotYet : Rest::kLeft;
}

}  // namespace tutti
