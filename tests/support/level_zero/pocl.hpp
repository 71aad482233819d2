// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels executed on the CPU by PoCL, which is opened when the first module is built: it starts
// threads, which a process that will fork must not have.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti_test::ze {

class Program;  // a module that PoCL has built

struct Argument {
  enum class Kind { kUnset, kValue, kPointer, kLocal };
  Kind kind = Kind::kUnset;
  std::vector<uint8_t> value;
  void* pointer = nullptr;
  size_t local_bytes = 0;
};

struct Launch {
  std::string kernel;
  std::vector<Argument> arguments;
  std::array<size_t, 3> groups{1, 1, 1};
  std::array<size_t, 3> size{1, 1, 1};  // of a group
};

// Null if it failed; `why` says so. One for each content, in the whole process.
std::shared_ptr<Program> build_program(std::span<const uint8_t> spirv, std::string* why);
bool has_kernel(Program& program, const std::string& name);
// Returns when it is done. Any thread, one at a time.
bool run_kernel(Program& program, const Launch& launch);

}  // namespace tutti_test::ze
