// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Errors at the border to oneCCL's C API: codes, texts, and the guard around every entry.
#pragma once

#include <oneapi/ccl.h>
#include <tutti/tutti.h>

#include <new>
#include <string>

namespace tutti_oneccl {

// Keeps the text for onecclGetLastError and returns the code.
onecclResult_t fail(onecclResult_t code, const std::string& text) noexcept;
// The code for a status of the library, whose text is kept if it is an error.
onecclResult_t result_of(tutti_status status) noexcept;

// No exception leaves the library.
template <typename Body>
onecclResult_t guard(const char* function, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(onecclAllocFailureCPU, "");
  } catch (const std::exception& error) {
    return fail(onecclInternalError, std::string(function) + ": " + error.what());
  } catch (...) {
    return fail(onecclInternalError, function);
  }
}

inline onecclResult_t null_argument(const char* function, const char* argument) {
  return fail(onecclInvalidArgument,
              std::string(function) + ": " + argument + " cannot be nullptr");
}

}  // namespace tutti_oneccl
