// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/device/modules.hpp"

#include <fmt/format.h>

extern "C" const char device_kernels_source[];
extern "C" const char device_kernels_source_end[];

namespace tutti {
namespace {

struct Module {
  DataType type{};
  DeviceVariant variant{};
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
};

// The modules that the build has made (cmake/device_kernels.cmake): kModules, the last of which is
// none.
#include "device_modules.inc"

constexpr uint64_t elements_at_once(DataType type, DeviceVariant variant) {
  return variant == DeviceVariant::kScalar ? 1 : 16 / type_size(type);
}

}  // namespace

std::string_view device_source() { return {device_kernels_source, device_kernels_source_end}; }

std::string device_options(DataType type, DeviceVariant variant) {
  return fmt::format("-DTYPE_{} -DWIDTH={}{}", type_name(type), elements_at_once(type, variant),
                     variant == DeviceVariant::kBlock ? " -DBLOCKS" : "");
}

std::span<const uint8_t> device_spirv(DataType type, DeviceVariant variant) {
  for (const Module& module : kModules) {
    if (module.begin != nullptr && module.type == type && module.variant == variant) {
      return {module.begin, module.end};
    }
  }
  return {};
}

bool device_passes_floats(ReduceOp op, DataType type) {
  return op != ReduceOp::kUser && needs_rank_order(op, type);
}

namespace {

const char* name_of_pass(ReduceOp op, DevicePass pass) {
  const bool multiplies = op == ReduceOp::kProd;
  switch (pass) {
    case DevicePass::kBegins: return multiplies ? "prod_begins" : "sum_begins";
    case DevicePass::kGoesOn: return multiplies ? "prod_goes_on" : "sum_goes_on";
    default: break;
  }
  if (op == ReduceOp::kAvg) return "avg_ends";
  return multiplies ? "prod_ends" : "sum_ends";
}

}  // namespace

const char* device_kernel_name(ReduceOp op, DataType type, DevicePass pass) {
  if (op == ReduceOp::kUser || !op_supports(op, type)) return nullptr;
  if (is_complex(type) && op != ReduceOp::kSum && op != ReduceOp::kAvg) return nullptr;
  if (pass != DevicePass::kWhole) {
    if (device_passes_floats(op, type)) return name_of_pass(op, pass);
    if (op == ReduceOp::kAvg && pass != DevicePass::kEnds) op = ReduceOp::kSum;
  }
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return "sum";
    case ReduceOp::kProd: return "prod";
    case ReduceOp::kMin: return "vmin";
    case ReduceOp::kMax: return "vmax";
    case ReduceOp::kAvg: return "avg";
    case ReduceOp::kBand: return "band";
    case ReduceOp::kBor: return "bor";
    case ReduceOp::kBxor: return "bxor";
    case ReduceOp::kUser: break;
  }
  return nullptr;
}

uint64_t device_work_items(DataType type, DeviceVariant variant, uint64_t count) {
  const uint64_t at_once = elements_at_once(type, variant);
  return count / at_once + count % at_once;
}

}  // namespace tutti
