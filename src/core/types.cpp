// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/types.hpp"

#include <array>

namespace tutti {
namespace {

struct TypeInfo {
  std::string_view name;
  bool integer;
};
constexpr std::array<TypeInfo, kDataTypes> kTypeInfo = {{
    {"int8", true},
    {"uint8", true},
    {"int16", true},
    {"uint16", true},
    {"int32", true},
    {"uint32", true},
    {"int64", true},
    {"uint64", true},
    {"float16", false},
    {"bfloat16", false},
    {"float32", false},
    {"float64", false},
    {"float8_e4m3", false},
    {"float8_e5m2", false},
    {"complex64", false},
    {"complex128", false},
}};

constexpr std::array<std::string_view, 10> kOpNames = {
    "sum", "prod", "min", "max", "avg", "band", "bor", "bxor", "premul_sum", "user"};

bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::kBand || op == ReduceOp::kBor || op == ReduceOp::kBxor;
}

}  // namespace

std::string_view type_name(DataType type) { return kTypeInfo[static_cast<size_t>(type)].name; }
bool is_integer(DataType type) { return kTypeInfo[static_cast<size_t>(type)].integer; }

std::string_view op_name(ReduceOp op) { return kOpNames[static_cast<size_t>(op)]; }

bool op_supports(ReduceOp op, DataType type) {
  if (is_bitwise(op)) return is_integer(type);
  return !is_complex(type) || (op != ReduceOp::kMin && op != ReduceOp::kMax);
}

std::string_view types_of_op(ReduceOp op) {
  if (is_bitwise(op)) return "integer types";
  const bool compares = op == ReduceOp::kMin || op == ReduceOp::kMax;
  return compares ? "types that have an order" : "all types";
}

bool needs_rank_order(ReduceOp op, DataType type) {
  if (op == ReduceOp::kUser) return true;
  const bool rounds = op == ReduceOp::kSum || op == ReduceOp::kProd || op == ReduceOp::kAvg ||
                      op == ReduceOp::kPremulSum;
  return rounds && !is_integer(type) && type_size(type) < sizeof(float);
}

}  // namespace tutti
