// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// From exceptions to errors: what callbacks of the user throw, and what lacking memory does.
#pragma once

#include "core/status.hpp"

namespace tutti {

// What is being handled, in a catch block. Needs no memory if there is none.
Status caught_exception() noexcept;
// Made beforehand.
const Status& out_of_memory() noexcept;

}  // namespace tutti
