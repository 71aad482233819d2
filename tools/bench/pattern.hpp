// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The data that tutti bench sends, and what must come of it. Every value repeats after a period
// that is prime, so that no block, chunk or slot boundary falls on the same value twice. One
// period, made with slow and obvious arithmetic, then fills and checks buffers of any size.
#pragma once

#include <tutti/tutti.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace tutti::bench {

struct Mismatch {
  size_t wrong;  // elements that are not what they must be; the others say which is the first
  size_t index;  // in the buffer that was looked at
  std::string got;
  std::string expected;
};

class Pattern {
 public:
  static constexpr size_t kPeriod = 1021;

  // The input of `rank` to a reduction. Small numbers, such that all intermediate results, in any
  // order, are exact in every type.
  static Pattern reduction_input(tutti_type type, ReduceOp op, int rank, int ranks);
  static Pattern reduction_result(tutti_type type, ReduceOp op, int ranks);
  // The input of `rank` to a call that only copies: arbitrary bits.
  static Pattern copied(tutti_type type, int rank);
  // Values that no right result consists of: put into receive buffers before a check.
  static Pattern poison(tutti_type type);

  // Elements [first, first + count) of the endless pattern.
  void fill(void* buffer, size_t first, size_t count) const;
  [[nodiscard]] std::optional<Mismatch> find_mismatch(const void* buffer, size_t first,
                                                      size_t count) const;

 private:
  explicit Pattern(tutti_type type);

  [[nodiscard]] bool acceptable(const std::byte* got, size_t index) const;

  tutti_type type_;
  size_t width_;                   // bytes of an element
  std::vector<std::byte> period_;  // kPeriod elements
  bool exact_ = true;              // false: one unit in the last place is allowed
};

// An element of `type` from a number, rounded to nearest; for the tests too.
void encode(tutti_type type, double value, std::byte* element);
double decode(tutti_type type, const std::byte* element);

}  // namespace tutti::bench
