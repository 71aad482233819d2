// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions by handle: the constants of tutti.h, and those that the application has made.
#pragma once

#include <memory>

#include "exec/call.hpp"

namespace tutti {

struct BoundOp {
  ReduceOp op = ReduceOp::kSum;
  std::shared_ptr<const ReduceBinding> binding;
};

// The meaning of `op` for `type`, or an error that names both.
Result<BoundOp> bind_op(tutti_op op, DataType type);

}  // namespace tutti
