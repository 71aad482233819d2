// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Not inline: lanes whose reductions have kernels would pay for it.
#include "exec/function_note.hpp"

#include <unistd.h>

#include "core/wait.hpp"

namespace tutti {

FunctionNote::FunctionNote(WaitNote* note, const CallRecord& record) : note_(note) {
  if (note_ == nullptr) return;
  before_ = note_->read().value_or(Wait{});
  Wait wait;
  wait.kind = WaitKind::kFunction;
  wait.thread = gettid();
  wait.since_ms = rough_host_ms();
  wait.record = record;
  note_->post(wait);
}

FunctionNote::~FunctionNote() {
  if (note_ != nullptr) note_->post(before_);
}

}  // namespace tutti
