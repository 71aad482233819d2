// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels with arguments that stay set: a call like one before sets none again.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "devices/level_zero/context.hpp"

namespace tutti::devices::level_zero {

// A value, a pointer or nothing, as a kernel is given it.
struct Argument {
  std::array<unsigned char, 8> bytes{};
  uint8_t size = 0;  // 0: the null pointer
  // Allocation of a pointer: the same address may belong to another one later.
  uint64_t allocation = 0;
  bool operator==(const Argument&) const = default;
};

inline Argument value_argument(uint64_t bits, size_t bytes) {
  Argument argument;
  std::memcpy(argument.bytes.data(), &bits, bytes);
  argument.size = static_cast<uint8_t>(bytes);
  return argument;
}

// The kernels of one engine.
class Kernels {
 public:
  explicit Kernels(Context& context) : context_(context) {}
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  struct Ready {
    ze_kernel_handle_t kernel;
    uint32_t group_size;
  };
  // The kernel with these arguments, in groups of as many work-items as it takes.
  Result<Ready> get(const DeviceKernel& name, const std::vector<Argument>& arguments);
  // Leaves the kernels to the process.
  void abandon() { sets_.clear(); }

 private:
  struct Prepared {
    Ready ready{};
    std::vector<Argument> arguments;  // one that was never set equals none
    std::vector<bool> set;
    uint64_t used = 0;  // count of the last use
  };
  using Set = std::vector<Prepared>;

  Result<Prepared*> choose(const DeviceKernel& name, Set& set,
                           const std::vector<Argument>& arguments);
  Result<Ready> make(const DeviceKernel& name);
  Status give(Prepared& prepared, const std::vector<Argument>& arguments);

  Context& context_;
  std::map<DeviceKernel, Set> sets_;
  uint64_t calls_ = 0;
};

}  // namespace tutti::devices::level_zero
