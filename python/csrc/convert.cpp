// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <ATen/Functions.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <optional>

#include "error.hpp"
#include "torch_versions.hpp"

namespace tutti_torch {
namespace {

using c10d::ReduceOp;

std::optional<tutti_type> named_type(at::ScalarType type) {
  switch (type) {
    case at::kChar: return TUTTI_INT8;
    case at::kByte: return TUTTI_UINT8;
    case at::kShort: return TUTTI_INT16;
    case at::kUInt16: return TUTTI_UINT16;
    case at::kInt: return TUTTI_INT32;
    case at::kUInt32: return TUTTI_UINT32;
    case at::kLong: return TUTTI_INT64;
    case at::kUInt64: return TUTTI_UINT64;
    case at::kHalf: return TUTTI_FLOAT16;
    case at::kBFloat16: return TUTTI_BFLOAT16;
    case at::kFloat: return TUTTI_FLOAT32;
    case at::kDouble: return TUTTI_FLOAT64;
    case at::kFloat8_e4m3fn: return TUTTI_FLOAT8_E4M3;
    case at::kFloat8_e5m2: return TUTTI_FLOAT8_E5M2;
    case at::kComplexFloat: return TUTTI_COMPLEX64;
    case at::kComplexDouble: return TUTTI_COMPLEX128;
    default: return std::nullopt;
  }
}

const char* op_name(ReduceOp::RedOpType op) {
  constexpr std::array kNames = {"SUM",  "AVG", "PRODUCT", "MIN",        "MAX",
                                 "BAND", "BOR", "BXOR",    "PREMUL_SUM", "UNUSED"};
  return kNames.at(op);
}

[[noreturn]] void refuse(ReduceOp::RedOpType op, at::ScalarType type, const char* expected) {
  C10_THROW_ERROR(NotImplementedError, std::string("ccl: ReduceOp.") + op_name(op) + " of " +
                                           c10::toString(type) + " is not defined; expected " +
                                           expected);
}

tutti_op plain_op(ReduceOp::RedOpType op, at::ScalarType type) {
  switch (op) {
    case ReduceOp::SUM: return TUTTI_SUM;
    case ReduceOp::AVG: return TUTTI_AVG;
    case ReduceOp::PRODUCT: return TUTTI_PROD;
    case ReduceOp::MIN: return TUTTI_MIN;
    case ReduceOp::MAX: return TUTTI_MAX;
    case ReduceOp::BAND: return TUTTI_BAND;
    case ReduceOp::BOR: return TUTTI_BOR;
    case ReduceOp::BXOR: return TUTTI_BXOR;
    default: refuse(op, type, "SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR or PREMUL_SUM");
  }
}

// A bool is a byte that is 0 or 1, and must stay one: sums become "any", products "all".
tutti_op bool_op(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::MAX:
    case ReduceOp::BOR: return TUTTI_BOR;
    case ReduceOp::PRODUCT:
    case ReduceOp::MIN:
    case ReduceOp::BAND: return TUTTI_BAND;
    case ReduceOp::BXOR: return TUTTI_BXOR;
    default: refuse(op, at::kBool, "SUM, PRODUCT, MIN, MAX, BAND, BOR or BXOR");
  }
}

// The factor as one element of the type that is reduced, which is what the library reads.
OwnedOp premultiplied_sum(const ReduceOp& op, at::ScalarType type, tutti_type element,
                          tutti_op* made) {
  const auto* factor = dynamic_cast<const PremultipliedSum*>(op.supplement_.get());
  if (factor == nullptr)
    refuse(op.op_, type, "a factor, see torch.distributed._make_nccl_premul_sum");
  const at::ScalarType wide = at::isComplexType(type) ? at::kComplexDouble : at::kDouble;
  const at::Tensor given =
      factor->tensor_factor.defined()
          ? factor->tensor_factor.to(at::kCPU, wide)
          : at::full({1}, factor->double_factor, at::TensorOptions().dtype(wide));
  const at::Tensor scalar = given.to(type);
  if (at::isIntegralType(type, false) && !scalar.to(at::kDouble).equal(given))
    refuse(op.op_, type, "a whole factor, for a fraction would become 0, or a type of floats");
  check(tutti_op_create_premul_sum(scalar.contiguous().const_data_ptr(), element, made),
        "ccl: ReduceOp.PREMUL_SUM");
  return OwnedOp(*made);
}

}  // namespace

Element moved_element(at::ScalarType type) {
  if (const auto named = named_type(type)) return {*named, 1};
  return {TUTTI_UINT8, c10::elementSize(type)};
}

Reduction reduction_for(const ReduceOp& op, at::ScalarType type) {
  if (type == at::kBool) return {{TUTTI_UINT8, 1}, bool_op(op.op_), {}};
  const bool is_halves = type == at::kComplexHalf;
  const bool sums = op.op_ == ReduceOp::SUM || op.op_ == ReduceOp::AVG;
  const bool multiplies = op.op_ == ReduceOp::PRODUCT || op.op_ == ReduceOp::PREMUL_SUM;
  if (is_halves && !sums) refuse(op.op_, type, "SUM or AVG");
  if (at::isComplexType(type) && !sums && !multiplies) {
    refuse(op.op_, type, "SUM, AVG, PRODUCT or PREMUL_SUM");
  }
  // Two halves are a number to PyTorch alone.
  const auto named = named_type(is_halves ? at::kHalf : type);
  if (!named) refuse(op.op_, type, "a type of numbers");
  Reduction result{{*named, is_halves ? 2u : 1u}, TUTTI_SUM, {}};
  if (op.op_ == ReduceOp::PREMUL_SUM) {
    result.owned = premultiplied_sum(op, type, *named, &result.op);
  } else {
    result.op = plain_op(op.op_, type);
  }
  return result;
}

}  // namespace tutti_torch
