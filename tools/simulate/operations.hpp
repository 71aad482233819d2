// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A simulated call as other simulators take it: what each rank computes, sends and receives, and
// which of these waits for which.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "tools/simulate/job.hpp"

namespace tutti::simulate {

// A condition of an operation: that an earlier one has ended, or only that it has begun.
struct Before {
  size_t index = 0;  // in the rank's operations
  bool begun = false;
  auto operator<=>(const Before&) const = default;
};

struct Operation {
  enum class Kind : uint8_t { kCompute, kSend, kRecv };
  Kind kind = Kind::kCompute;
  uint64_t amount = 0;  // nanoseconds, or bytes
  int peer = 0;         // of a message
  size_t tag = 0;       // of a message: with the two ranks it says which messages meet in order
  std::set<Before> before = {};
};

// Operations by rank, each in an order in which it could run. A tick in shared memory is a message
// of one byte to each rank that awaits it.
std::vector<std::vector<Operation>> operations_of(const Job& job);

}  // namespace tutti::simulate
