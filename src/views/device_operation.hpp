// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective or a message that was started on a view: a task, which is polled by the thread that
// makes progress (views/view_queue.hpp).
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "comm/communicator.hpp"
#include "views/activity.hpp"
#include "views/device_side.hpp"

namespace tutti {

class ViewQueue;

class DeviceOperation : public Completion {
 public:
  // `side`: null for a call on the communicator itself that has to wait for those on its views.
  DeviceOperation(ViewQueue& queue, DeviceSide* side);

  // The operation's name in texts.
  [[nodiscard]] virtual std::string what() const = 0;
  // The message that a done receive has got; null for anything else.
  [[nodiscard]] virtual const tutti_recv_info* received() const { return nullptr; }
  // An event of the device's API that is signalled when this activation is complete. It is valid
  // until the next one or the end of this object.
  Result<void*> event();

  // ---- for its queue
  // Whether it goes on beside others, as messages do; collectives run one after the other.
  [[nodiscard]] virtual bool is_message() const { return false; }
  // Whether this is a send that later sends may not overtake: it has not been handed over.
  [[nodiscard]] virtual bool unsent() const { return false; }
  // Runs the operation on, whatever fails in it. Returns whether it has ended.
  bool run();
  // Ends this activation; the operation may be gone then.
  void end();

 protected:
  // The whole operation. The thread that starts it runs the part before the first await, which
  // touches no engine.
  virtual Task carry_out() = 0;
  // Whether an error of this breaks the communicator, as its peers wait.
  [[nodiscard]] virtual bool breaks() const { return false; }
  // Whether its error names the call already.
  [[nodiscard]] virtual bool is_named() const { return activity_.host_failed(); }

  Status wait_inside(int64_t timeout_ms) override;
  // Begins an activation: what is in the application's queue comes first.
  Status begin(StartedFor whom);
  // The operation's turn: the first poll by the thread that makes progress.
  [[nodiscard]] static auto its_turn() {
    return Until(Waits::kForPeers, []() -> Result<bool> { return true; });
  }
  // Makes the next submission to the engine wait for the marker, unless another one does already.
  Status after_marker(devices::DeviceEngine& engine);
  // The end of what the application had enqueued before; `patient` as of DeviceWork.
  [[nodiscard]] auto marker_passed(const ViewQueue* patient = nullptr) {
    return Until(Waits::kForDevice, [this, patient] { return has_passed_marker(patient); });
  }
  [[nodiscard]] Communicator& comm() const;

  ViewQueue& queue_;
  DeviceSide* const side_;
  Activity activity_;

 private:
  bool advance();
  void note_failure();
  void end_at_once(const Status& failed);
  Result<bool> has_passed_marker(const ViewQueue* patient);
  [[nodiscard]] Status named(const Status& error) const;
  [[nodiscard]] Status why_it_cannot_go_on() const;

  Task task_;
  // Written by the thread that makes progress; others read it once it has ended, under
  // event_mutex_.
  Status failure_;
  std::shared_ptr<devices::DeviceEvent> marker_;  // until an engine has it
  int64_t deadline_ms_ = kNever;
  int64_t give_up_ms_ = kNever;  // deadline once it has failed
  uint32_t polls_ = 0;           // polls that it has waited
  std::mutex event_mutex_;
  bool ended_ = false;                              // guarded by event_mutex_
  std::shared_ptr<devices::SignalledEvent> event_;  // guarded by event_mutex_
};

}  // namespace tutti
