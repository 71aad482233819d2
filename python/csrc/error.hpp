// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes the exceptions that PyTorch users see from the library's status and text.
#pragma once

#include <c10/util/Exception.h>
#include <tutti/tutti.h>

#include <chrono>
#include <string>

#include "flight_recorder.hpp"
#include "interrupt.hpp"
#include "words.hpp"

namespace tutti_torch {

// A communicator that has met it is of no further use.
inline bool breaks(tutti_status status) {
  return status == TUTTI_ERR_MISMATCH || status == TUTTI_ERR_PEER_FAILED ||
         status == TUTTI_ERR_TIMEOUT || status == TUTTI_ERR_ABORTED;
}

// Throws the exception for `status`, with the library's text of the last error in this thread.
// `limit` is how long the call was to wait, if that is known. After Ctrl-C it is the
// KeyboardInterrupt that Python's handler raised. A function that is not there is a
// NotImplementedError, everything else a torch.distributed.DistBackendError; both are RuntimeErrors
// in Python.
[[noreturn]] inline void throw_status(tutti_status status, const std::string& where,
                                      std::chrono::milliseconds limit = {}) {
  if (status == TUTTI_ERR_INTERRUPTED) raise_interrupt();
  const std::string known = words::of(status, limit);
  const std::string text = where + ": " + known + (known.empty() ? "" : ": ") + tutti_last_error() +
                           " (" + tutti_status_name(status) + ")";
  if (FlightRecorder::on() && breaks(status)) FlightRecorder::failed();
  if (status == TUTTI_ERR_UNSUPPORTED) C10_THROW_ERROR(NotImplementedError, text);
  C10_THROW_ERROR(DistBackendError, text);
}

inline void check(tutti_status status, const char* where, std::chrono::milliseconds limit = {}) {
  if (status != TUTTI_OK) throw_status(status, where, limit);
}

}  // namespace tutti_torch
