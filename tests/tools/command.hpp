// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the tutti command as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace tutti_test {

struct CommandResult {
  int exit_status = -1;  // -1: ended by a signal
  std::string output;    // standard output
};

// `line` is a shell's: the arguments, and redirections if wanted. `variables` is put before the
// command: "CCL_WORKER_COUNT=2". What the user's machine was tuned to makes no difference.
inline CommandResult run_tutti(const std::string& line, const std::string& variables = "") {
  const std::string command =
      "TUTTI_TUNING_FILE=none " + variables + " '" TUTTI_COMMAND_PATH "' " + line;
  CommandResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return result;
  }
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

// That the command ends with an error that says `text`.
inline void expect_refusal(const std::string& line, const std::string& text) {
  const CommandResult result = run_tutti(line + " 2>&1");
  EXPECT_NE(result.exit_status, 0) << line;
  EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
}

// The number of a descriptor for redirections, of a pipe that nobody reads.
class ClosedPipe {
 public:
  ClosedPipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    close(ends[0]);
    write_end_ = ends[1];
  }
  ~ClosedPipe() { close(write_end_); }
  ClosedPipe(const ClosedPipe&) = delete;
  [[nodiscard]] std::string number() const { return std::to_string(write_end_); }

 private:
  int write_end_ = -1;
};
// Before a command that is to see that as an error, not as a signal.
inline constexpr const char* kIgnoresSigpipe = "; trap '' PIPE;";

// A file that is gone at the end.
class Picture {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  ~Picture() { std::remove(path_.c_str()); }

 private:
  std::string path_ = testing::TempDir() + "tutti_picture_" + std::to_string(getpid()) + ".svg";
};

}  // namespace tutti_test
