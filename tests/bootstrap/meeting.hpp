// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ids for tests in forked processes: all derive the same one, process 0 serves it.
#pragma once

#include <unistd.h>

#include <chrono>
#include <string>

#include "bootstrap/join.hpp"
#include "bootstrap/service.hpp"
#include "core/wait.hpp"

namespace tutti_test {

constexpr int64_t kLongMs = 60000;
constexpr std::chrono::seconds kLimit{240};

// A fresh id per test; made before forking.
inline tutti::UniqueId test_id() {
  static int count = 0;
  return tutti::derive_unique_id("test " + std::to_string(getpid()) + " " +
                                 std::to_string(count++));
}

inline tutti::Result<std::unique_ptr<tutti::Exchange>> meet(const tutti::UniqueId& id, int rank,
                                                            int ranks,
                                                            int64_t timeout_ms = kLongMs) {
  if (rank == 0) {
    if (tutti::Status started = tutti::start_service(id, tutti::now_ms() + kLongMs);
        !started.ok()) {
      return started;
    }
  }
  return tutti::join(id, rank, ranks, tutti::now_ms() + timeout_ms);
}

// The text of an error, "" for success.
template <typename T>
std::string error_of(const tutti::Result<T>& result) {
  return std::string(result.status().message());
}

}  // namespace tutti_test
