// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Commands of one operation for an engine of a device. They count as given from before the first
// one. An engine that fails between two of them may run the first, so their memory stays until the
// engine is known to have ended them.
#pragma once

#include "devices/device.hpp"
#include "views/activity.hpp"
#include "views/view_queue.hpp"

namespace tutti {

// An awaited one is submitted and comes to its end. It is declared after the memory that it uses.
class DeviceWork final : public InFlight {
 public:
  // `patient`: the thread that makes progress in that queue may wait in the driver for the end.
  explicit DeviceWork(Activity& activity, const ViewQueue* patient = nullptr)
      : InFlight(activity), patient_(patient) {}
  ~DeviceWork() {
    if (engine_ != nullptr) activity_.leak();
  }

  // Comes before the first command. Nothing else of it may be under way.
  void begin(devices::DeviceEngine& engine) {
    engine_ = &engine;
    given_ = true;
  }
  // The engine that has its commands; null: all are done.
  [[nodiscard]] devices::DeviceEngine* engine() const { return engine_; }
  // Hands the device what was given.
  Status submit();

  Result<bool> ready() override;
  [[nodiscard]] Waits waits() const override { return Waits::kForDevice; }
  bool at_rest(bool late) override;

 private:
  const ViewQueue* const patient_;
  devices::DeviceEngine* engine_ = nullptr;
  bool given_ = false;  // some of it is not submitted
  uint64_t submission_ = 0;
};

inline Status DeviceWork::submit() {
  if (engine_ == nullptr || !given_) return {};
  TUTTI_ASSIGN_OR_RETURN(submission_, engine_->submit());
  given_ = false;
  return {};
}

inline Result<bool> DeviceWork::ready() {
  if (engine_ == nullptr) return true;
  TUTTI_RETURN_IF_ERROR(submit());
  const devices::Patience patience =
      patient_ == nullptr ? devices::Patience() : patient_->patience();
  Result<bool> over = engine_->done_within(submission_, patience);
  if (over.ok() && *over) engine_ = nullptr;
  return over;
}

inline bool DeviceWork::at_rest(bool late) {
  Result<bool> over = out_of_memory();
  try_to([&] { over = ready(); });
  if (over.ok() && !*over && !late) return false;
  if (engine_ != nullptr) activity_.leak();
  engine_ = nullptr;
  return true;
}

}  // namespace tutti
