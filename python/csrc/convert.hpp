// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions from PyTorch's element types, reductions and times to those of the library.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>
#include <tutti/tutti.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <utility>
#include <vector>

namespace tutti_torch {

// Counts of one block for each rank, in elements of the library's type.
using Counts = c10::SmallVector<size_t, 16>;

// How the elements of a tensor are put to the library: each is `parts` elements of `type`.
struct Element {
  tutti_type type;
  size_t parts;

  size_t count(const at::Tensor& tensor) const {
    return static_cast<size_t>(tensor.numel()) * parts;
  }
  Counts counts(const std::vector<at::Tensor>& blocks) const {
    Counts counts;
    for (const at::Tensor& block : blocks) counts.push_back(count(block));
    return counts;
  }
};

// The library counts milliseconds in an int; PyTorch's times may be longer.
inline int as_int_ms(std::chrono::milliseconds time, int lowest) {
  return static_cast<int>(
      std::clamp<int64_t>(time.count(), lowest, std::numeric_limits<int>::max()));
}

// For operations that only move data. Every type has one; those that the library has no name for
// travel as bytes.
Element moved_element(at::ScalarType type);

// An operation made for one call (a pre-multiplied sum), destroyed with this.
class OwnedOp {
 public:
  OwnedOp() = default;
  explicit OwnedOp(tutti_op op) : op_(op), owned_(true) {}
  OwnedOp(OwnedOp&& other) noexcept : op_(other.op_), owned_(std::exchange(other.owned_, false)) {}
  OwnedOp& operator=(OwnedOp&& other) noexcept {
    std::swap(op_, other.op_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~OwnedOp() {
    if (owned_) tutti_op_destroy(op_);
  }
  explicit operator bool() const { return owned_; }

 private:
  tutti_op op_ = TUTTI_SUM;
  bool owned_ = false;
};

struct Reduction {
  Element element;
  tutti_op op;
  OwnedOp owned;
};

// For operations that compute. Throws where the pair has no meaning, such as the maximum of complex
// numbers; what the library itself refuses is left to it.
Reduction reduction_for(const c10d::ReduceOp& op, at::ScalarType type);

}  // namespace tutti_torch
