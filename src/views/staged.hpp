// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What was started on a view, a collective or a message, as whoever pushes it sees it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "comm/communicator.hpp"
#include "views/stage.hpp"

namespace tutti {

class ViewQueue;

class Staged : public Completion {
 public:
  // Null `stage`: a call on the communicator itself that has to wait for those on its views.
  Staged(ViewQueue& queue, Stage* stage) : queue_(queue), stage_(stage) {}

  // For texts.
  [[nodiscard]] virtual std::string what() const = 0;
  // Of a receive, once it is done; null for anything else.
  [[nodiscard]] virtual const tutti_recv_info* received() const { return nullptr; }
  // An event of the device's API that comes to pass when this activation is complete, valid until
  // the next one or the end of this object.
  Result<void*> event();

 protected:
  friend class ViewQueue;

  // What is there to wait for.
  enum class Waits { kForNothing, kForDevice, kForPeers };
  // Does what can be done now, and says what is left. An error ends it, once wind_up() is true.
  virtual Result<Waits> push() = 0;
  // Sees to it that nothing of this is under way any more; whether that is so. After `late`, what
  // the device has not done by now is left to it for ever, with the memory that it may touch.
  virtual bool wind_up(bool late) = 0;
  // Of a message that other sends may not overtake: not yet handed over.
  [[nodiscard]] virtual bool unsent() const { return false; }
  // Whether an error of this breaks the communicator, as its peers wait.
  [[nodiscard]] virtual bool breaks() const { return false; }

  [[nodiscard]] HelpedProgress& progress() const override;
  Status wait_inside(int64_t timeout_ms) override;
  // Begins an activation: what is in the application's queue comes first. Returns whether a
  // function is to be called when it completes.
  Result<bool> begin();
  // Has the next submission to the device wait for that, if nothing has yet.
  Status after_mark(devices::DeviceEngine& engine);
  // Whether that is done; waits in the driver for so long at most.
  Result<bool> marked(uint32_t microseconds);
  [[nodiscard]] Communicator& comm() const;

  ViewQueue& queue_;
  Stage* const stage_;
  bool may_send_ = true;  // no earlier send is unsent

 private:
  bool run();
  bool end();
  Status late() const;

  Status failure_;
  std::shared_ptr<devices::DeviceEvent> mark_;  // until an engine has it
  int64_t deadline_ms_ = kNever;
  int64_t give_up_ms_ = kNever;  // of winding up
  std::mutex event_mutex_;
  bool ended_ = false;                              // guarded by event_mutex_
  std::shared_ptr<devices::SignalledEvent> event_;  // guarded by event_mutex_
};

}  // namespace tutti
