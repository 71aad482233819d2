// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes errors of exceptions: those of the user's callbacks, and those of a lack of memory.
#pragma once

#include "core/status.hpp"

namespace tutti {

// The error for the exception that is being handled, in a catch block. Needs no memory if there is
// none.
Status caught_exception() noexcept;
// Made beforehand.
const Status& out_of_memory() noexcept;

// Tries what a destructor still has to tell others. A lack of memory there costs that, and not the
// process.
template <typename Body>
void try_to(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace tutti
