// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The work that a call on a device has under way: commands of the device, calls and messages of the
// host. Each stays in place until it is over. A call that has failed waits for that before its
// scopes end. If the device does not end in time, the call's memory leaks, since the device may
// still use it.
#pragma once

#include "views/task.hpp"

namespace tutti {

class InFlight;

class Activity {
 public:
  Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  // Begins anew, with nothing under way.
  void reset() { leaks_ = host_failed_ = false; }
  // Whether nothing is under way. If `late`, what the device has not done by now is given up.
  bool at_rest(bool late);
  // The device may use memory of the call for ever: it is not given back (BorrowedMemory).
  void leak() { leaks_ = true; }
  [[nodiscard]] const bool& leaks() const { return leaks_; }
  // A part of it that the host ran has failed, and its error says so (views/host_part.hpp).
  void note_host_failed() { host_failed_ = true; }
  [[nodiscard]] bool host_failed() const { return host_failed_; }

 private:
  friend class InFlight;
  InFlight* first_ = nullptr;
  bool leaks_ = false;
  bool host_failed_ = false;
};

// A part of an activity: something that may be under way.
class InFlight : public Awaited {
 public:
  explicit InFlight(Activity& activity)
      : activity_(activity), next_(activity.first_), link_(&activity.first_) {
    if (next_ != nullptr) next_->link_ = &next_;
    activity.first_ = this;
  }

  // See Activity.
  virtual bool at_rest(bool late) = 0;

 protected:
  ~InFlight() {
    if (next_ != nullptr) next_->link_ = link_;
    *link_ = next_;
  }

  Activity& activity_;

 private:
  friend class Activity;
  InFlight* next_;
  InFlight** link_;  // what points here
};

inline bool Activity::at_rest(bool late) {
  for (InFlight* one = first_; one != nullptr; one = one->next_) {
    if (!one->at_rest(late)) return false;
  }
  return true;
}

}  // namespace tutti
