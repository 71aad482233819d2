// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Starts the processes of a job on this host, watches them, and ends all when one fails, or lets
// the others go on.
#pragma once

#include <string>
#include <vector>

namespace tutti::run {

struct JobOptions {
  int ranks = 1;
  bool label = false;                    // "[rank] " before each line of output
  std::vector<int> cores;                // rank r is bound to cores[r]; empty: not bound
  int timeout_s = 0;                     // 0: none
  bool keep_going = false;               // a rank that fails does not end the others
  std::vector<std::string> environment;  // VAR=VALUE, on top of what this process has
  std::vector<std::string> program;      // program and its arguments
};

// Returns the exit status for the whole: 0, or that of the first rank to fail (128 + signal if it
// was killed). 124 means the timeout, 126 and 127 that the program cannot be started. A job that
// keeps going returns 0 if any rank has succeeded.
int run_job(const JobOptions& options);

}  // namespace tutti::run
