// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The work that a call on a device has under way: commands of the device, calls and messages of the
// host. Each stays in place until it is over. A call that has failed waits for that before its
// scopes end. If the device does not end in time, the call's memory leaks, since the device may
// still use it.
#pragma once

#include "transports/match/queue.hpp"
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
  // The work in flight, which comes and goes by itself.
  void add(InFlight& work);
  void remove(InFlight& work);
  // Whether nothing is under way. If `late`, what the device has not done by now is given up.
  bool at_rest(bool late);
  // The device may use memory of the call for ever: it is not given back (BorrowedMemory).
  void leak() { leaks_ = true; }
  [[nodiscard]] bool leaks() const { return leaks_; }
  // Work of it that the host did has failed, and its error says so (views/host_work.hpp).
  void note_host_failed() { host_failed_ = true; }
  [[nodiscard]] bool host_failed() const { return host_failed_; }

 private:
  match::Queue<InFlight> in_flight_;  // the latest first
  bool leaks_ = false;
  bool host_failed_ = false;
};

// Work of an activity that may be under way.
class InFlight : public Awaited {
 public:
  explicit InFlight(Activity& activity) : activity_(activity) { activity_.add(*this); }

  // See Activity.
  virtual bool at_rest(bool late) = 0;

  InFlight* previous = nullptr;  // the activity's
  InFlight* next = nullptr;

 protected:
  ~InFlight() { activity_.remove(*this); }

  Activity& activity_;
};

inline void Activity::add(InFlight& work) { in_flight_.push_first(work); }
inline void Activity::remove(InFlight& work) { in_flight_.remove(work); }

inline bool Activity::at_rest(bool late) {
  for (InFlight* work = in_flight_.first(); work != nullptr; work = work->next) {
    if (!work->at_rest(late)) return false;
  }
  return true;
}

}  // namespace tutti
