// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// While it lives, those who look from outside see that this rank runs a function of the user in a
// call (transports/notes.hpp).
#pragma once

#include <unistd.h>

#include "core/wait.hpp"
#include "transports/notes.hpp"

namespace tutti {

class FunctionNote {
 public:
  // `note` may be null. The thread may have said there that it waits in that call: it will again.
  FunctionNote(WaitNote* note, const CallRecord& record) : note_(note) {
    if (note_ == nullptr) return;
    before_ = note_->read().value_or(Wait{});
    Wait wait;
    wait.kind = WaitKind::kFunction;
    wait.thread = gettid();
    wait.since_ms = rough_host_ms();
    wait.record = record;
    note_->post(wait);
  }
  ~FunctionNote() {
    if (note_ != nullptr) note_->post(before_);
  }
  FunctionNote(const FunctionNote&) = delete;
  FunctionNote& operator=(const FunctionNote&) = delete;

 private:
  WaitNote* const note_;
  Wait before_;
};

}  // namespace tutti
