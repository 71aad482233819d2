// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// While it lives, those who look from outside see that this rank runs a function of the user in a
// call (transports/notes.hpp).
#pragma once

#include "transports/notes.hpp"

namespace tutti {

class FunctionNote {
 public:
  // `note` may be null. The thread may have said there that it waits in that call: it will again.
  FunctionNote(WaitNote* note, const CallRecord& record);
  ~FunctionNote();
  FunctionNote(const FunctionNote&) = delete;
  FunctionNote& operator=(const FunctionNote&) = delete;

 private:
  WaitNote* const note_;
  Wait before_;
};

}  // namespace tutti
