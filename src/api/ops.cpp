// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/ops.hpp"

#include <cstring>
#include <map>
#include <mutex>

#include "api/guard.hpp"

namespace tutti {
namespace {

// Handles of created reductions begin here; numbers are not used again.
constexpr tutti_op kFirstCreated = 1000;

struct Table {
  std::mutex mutex;
  std::map<tutti_op, BoundOp> ops;
  tutti_op next = kFirstCreated;
};

Table& table() {
  static Table& instance = *new Table;  // outlives threads that still run at exit
  return instance;
}

tutti_op add(BoundOp op) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.ops[all.next] = std::move(op);
  return all.next++;
}

Result<BoundOp> find_created(tutti_op op) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.ops.find(op);
  if (found != all.ops.end()) return found->second;
  return Status::format(Code::kInvalidArgument,
                        "op {} is neither one of TUTTI_SUM ... TUTTI_BXOR nor a handle from "
                        "tutti_op_create_* that is not destroyed",
                        op);
}

}  // namespace

Result<BoundOp> bind_op(tutti_op op, DataType type) {
  if (op < 0 || op >= kBuiltinReduceOps) {
    Result<BoundOp> created = find_created(op);
    if (created.ok() && created->op == ReduceOp::kPremulSum &&
        created->binding->scalar_type != type) {
      return Status::format(Code::kInvalidArgument,
                            "op {} multiplies by a scalar of {}, the data is {}", op,
                            type_name(created->binding->scalar_type), type_name(type));
    }
    return created;
  }
  const auto kind = static_cast<ReduceOp>(op);
  if (!op_supports(kind, type)) {
    return Status::format(Code::kInvalidArgument, "{} is for {}, the data is {}", op_name(kind),
                          types_of_op(kind), type_name(type));
  }
  return BoundOp{kind, nullptr};
}

}  // namespace tutti

using namespace tutti;

extern "C" {

tutti_status tutti_op_create_user(tutti_reduce_fn function, void* context, tutti_op* op) {
  return guard([&]() -> Status {
    if (function == nullptr)
      return {Code::kInvalidArgument, "tutti_op_create_user: function is NULL"};
    TUTTI_RETURN_IF_ERROR(expect_not_null(op, "tutti_op_create_user", "op"));
    ReduceBinding binding;
    binding.function = function;
    binding.context = context;
    *op = add({ReduceOp::kUser, std::make_shared<const ReduceBinding>(binding)});
    return {};
  });
}

tutti_status tutti_op_create_premul_sum(const void* scalar, tutti_type type, tutti_op* op) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_not_null(scalar, "tutti_op_create_premul_sum", "scalar"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(op, "tutti_op_create_premul_sum", "op"));
    if (tutti_type_size(type) == 0) {
      return Status::format(Code::kInvalidArgument, "tutti_op_create_premul_sum: {} is no type",
                            static_cast<int>(type));
    }
    ReduceBinding binding;
    binding.scalar_type = static_cast<DataType>(type);
    std::memcpy(binding.scalar.data(), scalar, tutti_type_size(type));
    *op = add({ReduceOp::kPremulSum, std::make_shared<const ReduceBinding>(binding)});
    return {};
  });
}

tutti_status tutti_op_destroy(tutti_op op) {
  return guard([&]() -> Status {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    if (all.ops.erase(op) == 1) return {};
    return Status::format(Code::kInvalidArgument,
                          "tutti_op_destroy: {} is not a handle from tutti_op_create_*", op);
  });
}

}  // extern "C"
