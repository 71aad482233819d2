// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The border between C and C++: every entry of tutti.h runs inside guard().
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <variant>

#include "comm/allocations.hpp"
#include "comm/communicator.hpp"
#include "core/status.hpp"
#include "exec/completion.hpp"

struct tutti_comm {
  tutti::Allocations memory;  // outlives what may still use it
  std::unique_ptr<tutti::Communicator> inside;
  std::atomic<int> grouped{0};  // calls recorded in groups that have not ended
};

struct tutti_request {
  tutti_comm* comm = nullptr;
  std::variant<std::monostate, tutti::Operation, tutti::Message> what;
  tutti::Completion* inside = nullptr;  // the same
  bool persistent = false;
  bool started = false;  // at least once
  bool grouped = false;  // recorded in a group that has not ended
};

namespace tutti {

// Keeps the text for tutti_last_error() and returns the code.
tutti_status report(const Status& status) noexcept;
// The same, when there is no memory for a text.
tutti_status report_out_of_memory() noexcept;

template <typename Body>
tutti_status guard(Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? TUTTI_OK : report(status);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  } catch (const std::exception& error) {
    return report({Code::kInternal, error.what()});
  }
}

inline Status expect_not_null(const void* pointer, std::string_view function,
                              std::string_view argument) {
  if (pointer != nullptr) [[likely]]
    return {};
  return Status::format(Code::kInvalidArgument, "{}: {} is NULL", function, argument);
}

}  // namespace tutti
