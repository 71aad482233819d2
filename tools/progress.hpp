// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The progress of long work, for people that wait.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tutti {

// One line on a terminal that is written again and again; empty: none any more.
inline void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

}  // namespace tutti
