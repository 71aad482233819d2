// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ends the waits of a thread before their time. The user's interrupt check does so
// (tutti_set_interrupt_check), and the failure of communicators from which another is made. A wait
// asks in its slow part, without locks. The first yes stays until the call of the C API has taken
// it as its end.
#pragma once

#include <tutti/tutti.h>

#include <cstdint>
#include <functional>

#include "core/status.hpp"

namespace tutti {

// Sets the check of this thread; null: none.
void set_interrupt_check(tutti_interrupt_fn check, void* context);

// A wait begins: the user is not asked at once.
void begin_to_ask();
// Whether there is anything to ask.
[[nodiscard]] bool may_end_waits();
// Asks, the user every 50 ms at most. True: to wait no longer.
[[nodiscard]] bool must_end_wait();
// The failure for which waits of this thread end (EndsWaits); fine if it is the user's wish, or
// none has to.
[[nodiscard]] Status end_of_waits();
// The awaited event has come in the meantime.
void forget_end_of_wait();
// Whether the user's check has ended a wait; the second forgets it.
[[nodiscard]] bool interrupted();
bool take_interrupt();

// While it lives, waits of this thread end as soon as why() gives an error. When the user's check
// ends one, tell() of all scopes is called before the wait returns. So nobody sees this rank leave
// without having been told why.
class EndsWaits {
 public:
  explicit EndsWaits(std::function<Status()> why, std::function<void()> tell);
  ~EndsWaits();
  EndsWaits(const EndsWaits&) = delete;
  EndsWaits& operator=(const EndsWaits&) = delete;

  // The cause that ended them, or would have, in place of an error that followed from it. It may be
  // on its way for so long.
  Status instead_of(Status error, int64_t delay_ms);

 private:
  friend bool must_end_wait();
  friend Status end_of_waits();
  bool ask_why();

  const std::function<Status()> why_;
  const std::function<void()> tell_;
  EndsWaits* const outer_;
  Status reason_;
};

}  // namespace tutti
