// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the driver has to know of a module in SPIR-V: its kernels and what their arguments are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti_test::ze {

struct Parameter {
  enum class Kind { kValue, kPointer, kLocal, kOther };
  Kind kind = Kind::kOther;
  size_t bytes = 0;  // of a value
};

struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  std::array<uint32_t, 3> required_size{};  // of a group; zero: any
};

struct ModuleInfo {
  uint32_t version = 0;  // 0x00010200: 1.2
  bool fp64 = false;
  bool subgroup_blocks = false;
  std::vector<KernelInfo> kernels;
  const KernelInfo* find(const std::string& name) const;
};

// None if it is no SPIR-V.
std::optional<ModuleInfo> read_spirv(std::span<const uint8_t> module);

}  // namespace tutti_test::ze
