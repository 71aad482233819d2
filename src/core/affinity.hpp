// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Cores by number, and which of them the worker threads of a process run on. A "core" here is what
// the operating system numbers: a hardware thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// "auto", or a list of cores such as "0,1,4-6", in the order given.
struct CoreList {
  bool automatic = true;
  std::vector<int> cores;
};

// nullopt if `text` is neither "auto" nor a list of numbers and ascending ranges.
std::optional<CoreList> parse_core_list(std::string_view text);
// "0-2,5": runs of consecutive numbers become ranges; the order is kept. Empty: "none".
std::string format_cores(std::span<const int> cores);

}  // namespace tutti
