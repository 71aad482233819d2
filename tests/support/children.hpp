// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Children that a rank forks, and what they are refused.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace tutti_test {

// Runs `body` in a forked child, which then ends as it says; what body finds wrong is a failure.
inline void in_child(const std::function<std::string()>& body,
                     const std::function<void(int)>& end = _exit) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string wrong = body();
    if (!wrong.empty()) std::fprintf(stderr, "in the child: %s\n", wrong.c_str());
    end(wrong.empty() ? 0 : 1);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Empty if so.
inline std::string is_refused(const char* call, tutti_status status, pid_t parent) {
  const std::string text = status == TUTTI_OK ? "" : tutti_last_error();
  const bool named = text.find("process " + std::to_string(getpid())) != std::string::npos &&
                     text.find("process " + std::to_string(parent)) != std::string::npos;
  if (status == TUTTI_ERR_INVALID_USAGE && named) return "";
  return std::string(call) + " gave " + tutti_status_name(status) + ": " + text + "\n";
}

#define IS_REFUSED(call) is_refused(#call, call, parent)

}  // namespace tutti_test
