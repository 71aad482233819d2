// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/spirv.hpp"

#include <cstring>
#include <map>

namespace tutti_test::ze {

namespace {

// Numbers of the SPIR-V specification.
constexpr uint32_t kMagic = 0x07230203;
enum Op : uint32_t {
  kOpEntryPoint = 15,
  kOpExecutionMode = 16,
  kOpCapability = 17,
  kOpTypeInt = 21,
  kOpTypeFloat = 22,
  kOpTypeVector = 23,
  kOpTypePointer = 32,
  kOpTypeFunction = 33,
  kOpFunction = 54,
};
constexpr uint32_t kLocalSize = 17;                                            // execution mode
constexpr uint32_t kFloat64 = 10, kSubgroupBufferBlockIo = 5569;               // capabilities
constexpr uint32_t kWorkgroup = 4, kCrossWorkgroup = 5, kUniformConstant = 0;  // storage classes

using Words = std::span<const uint32_t>;

class Reader {
 public:
  std::optional<ModuleInfo> read(Words words) {
    if (words.size() < 5 || words[0] != kMagic) return std::nullopt;
    module_.version = words[1];
    for (Words rest = words.subspan(5); !rest.empty();) {
      const uint32_t length = rest[0] >> 16;
      if (length == 0 || length > rest.size()) return std::nullopt;
      take(rest[0] & 0xffff, rest.subspan(1, length - 1));
      rest = rest.subspan(length);
    }
    return std::move(module_);
  }

 private:
  void take(uint32_t op, Words operands) {
    switch (op) {
      case kOpCapability: return capability(operands[0]);
      case kOpEntryPoint: return entry_point(operands);
      case kOpExecutionMode: return execution_mode(operands);
      case kOpTypeInt:
      case kOpTypeFloat: types_[operands[0]] = {Parameter::Kind::kValue, operands[1] / 8}; return;
      case kOpTypeVector: return vector(operands);
      case kOpTypePointer: return pointer(operands);
      case kOpTypeFunction:
        functions_[operands[0]].assign(operands.begin() + 2, operands.end());
        return;
      case kOpFunction: return function(operands);
      default: return;
    }
  }

  void capability(uint32_t number) {
    module_.fp64 |= number == kFloat64;
    module_.subgroup_blocks |= number == kSubgroupBufferBlockIo;
  }

  void entry_point(Words operands) {
    kernel_of_[operands[1]] = module_.kernels.size();
    const auto* name = reinterpret_cast<const char*>(operands.data() + 2);
    module_.kernels.push_back(
        {std::string(name, strnlen(name, (operands.size() - 2) * 4)), {}, {}});
  }

  void execution_mode(Words operands) {
    const auto kernel = kernel_of_.find(operands[0]);
    if (kernel == kernel_of_.end() || operands[1] != kLocalSize) return;
    for (size_t i = 0; i < 3; i++)
      module_.kernels[kernel->second].required_size[i] = operands[2 + i];
  }

  // Three elements take the place of four.
  void vector(Words operands) {
    const size_t elements = operands[2] == 3 ? 4 : operands[2];
    types_[operands[0]] = {Parameter::Kind::kValue, types_[operands[1]].bytes * elements};
  }

  void pointer(Words operands) {
    const uint32_t storage = operands[1];
    Parameter& type = types_[operands[0]];
    if (storage == kWorkgroup) type.kind = Parameter::Kind::kLocal;
    if (storage == kCrossWorkgroup || storage == kUniformConstant) {
      type = {Parameter::Kind::kPointer, sizeof(void*)};
    }
  }

  void function(Words operands) {
    const auto kernel = kernel_of_.find(operands[1]);
    if (kernel == kernel_of_.end()) return;
    for (const uint32_t type : functions_[operands[3]]) {
      module_.kernels[kernel->second].parameters.push_back(types_[type]);
    }
  }

  ModuleInfo module_;
  std::map<uint32_t, Parameter> types_;
  std::map<uint32_t, std::vector<uint32_t>> functions_;  // types of parameters
  std::map<uint32_t, size_t> kernel_of_;                 // by the function's id
};

}  // namespace

const KernelInfo* ModuleInfo::find(const std::string& name) const {
  for (const KernelInfo& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

std::optional<ModuleInfo> read_spirv(std::span<const uint8_t> module) {
  std::vector<uint32_t> words(module.size() / 4);
  std::memcpy(words.data(), module.data(), words.size() * 4);
  return Reader().read(words);
}

}  // namespace tutti_test::ze
