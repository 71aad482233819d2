// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/stack.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/fd.hpp"
#include "core/wait.hpp"

extern char** environ;

namespace tutti_tools {
namespace {

constexpr int64_t kMostMs = 600;
constexpr size_t kMostFrames = 5;
constexpr size_t kMostBytes = 1 << 16;

// What a program prints until it ends or its time is over.
std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const tutti::Fd from(ends[0]);
  tutti::Fd to(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return "";
  to.reset();
  std::string output;
  const int64_t deadline_ms = tutti::now_ms() + kMostMs;
  for (bool more = true; more && output.size() < kMostBytes;) {
    pollfd ready{from.get(), POLLIN, 0};
    const auto left_ms = static_cast<int>(std::max<int64_t>(deadline_ms - tutti::now_ms(), 0));
    if (poll(&ready, 1, left_ms) <= 0) break;
    char part[4096];
    const ssize_t count = read(from.get(), part, sizeof part);
    more = count > 0;
    if (more) output.append(part, static_cast<size_t>(count));
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return output;
}

}  // namespace

std::string python_stack(int pid) {
  std::istringstream output(
      output_of({"py-spy", "dump", "--nonblocking", "--pid", std::to_string(pid)}));
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

}  // namespace tutti_tools
