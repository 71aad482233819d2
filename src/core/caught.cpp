// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/caught.hpp"

#include <new>

namespace tutti {
namespace {

// Threads may still run when the process exits.
const Status& no_memory =
    *new Status(Code::kOutOfMemory, "out of memory, in the library or in a callback");

Status describe_caught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return no_memory;
  } catch (const std::exception& error) {
    return Status::format(Code::kInternal,
                          "an exception was thrown, by a callback or in the library: {}",
                          error.what());
  } catch (...) {
    return {Code::kInternal, "a callback threw something that is no std::exception"};
  }
}

}  // namespace

const Status& out_of_memory() noexcept { return no_memory; }

Status caught_exception() noexcept {
  try {
    return describe_caught();
  } catch (...) {
    return no_memory;
  }
}

}  // namespace tutti
