// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/stack.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <sstream>

namespace tutti::tools {
namespace {

constexpr const char* kMostSeconds = "0.6";
constexpr size_t kMostFrames = 5;
constexpr size_t kMostBytes = 1 << 16;

// The output of a program until it ends or its time is over.
std::string output_of(const std::string& program) {
  const std::string command =
      fmt::format("exec timeout -s KILL {} {} 2>/dev/null", kMostSeconds, program);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "re"), pclose);
  std::string output;
  char part[4096];
  while (pipe != nullptr && output.size() < kMostBytes) {
    const size_t count = std::fread(part, 1, sizeof part, pipe.get());
    if (count == 0) break;
    output.append(part, count);
  }
  return output;
}

}  // namespace

std::string python_stack(int pid) {
  std::istringstream output(output_of(fmt::format("py-spy dump --nonblocking --pid {}", pid)));
  std::string frames;
  size_t count = 0;
  bool in_thread = false;
  for (std::string line; std::getline(output, line) && count < kMostFrames;) {
    if (line.starts_with("Thread")) {
      if (in_thread) break;
      in_thread = true;
    } else if (in_thread && line.starts_with("    ")) {
      frames += fmt::format("  {} {}\n", count++ == 0 ? "in" : "by", line.substr(4));
    }
  }
  return frames;
}

}  // namespace tutti::tools
