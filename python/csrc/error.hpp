// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// From the library's status and text to the exceptions that PyTorch users see.
#pragma once

#include <c10/util/Exception.h>
#include <tutti/tutti.h>

#include <string>

namespace tutti_torch {

// Throws what `status` means, with the library's text of the last error in this thread.
// What is not there is a NotImplementedError, everything else a torch.distributed.DistBackendError;
// both are RuntimeErrors in Python.
[[noreturn]] inline void throw_status(tutti_status status, const std::string& where) {
  const std::string text =
      where + ": " + tutti_last_error() + " (" + tutti_status_name(status) + ")";
  if (status == TUTTI_ERR_UNSUPPORTED) C10_THROW_ERROR(NotImplementedError, text);
  C10_THROW_ERROR(DistBackendError, text);
}

inline void check(tutti_status status, const char* where) {
  if (status != TUTTI_OK) throw_status(status, where);
}

}  // namespace tutti_torch
