// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The environment, read once: every variable of env/variables.inc as a field of an immutable
// snapshot that is passed down. getenv() occurs in env.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace tutti {

// The types a variable can have.
using Text = std::string;
using Integer = int64_t;  // decimal; the table gives its range
using Boolean = bool;     // 0/1, on/off, yes/no, true/false
using Bytes = uint64_t;   // decimal with an optional suffix k, m, g (powers of 1024), or "max"
enum class LogLevel : uint8_t { kError, kWarn, kInfo, kDebug, kTrace };
// "auto", or a list of cores such as "0,1,4-6", in the order given.
struct CoreList {
  bool automatic = true;
  std::vector<int> cores;
};

struct Environment {
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, help) \
  type field = default_value;
#include "env/variables.inc"
#undef TUTTI_VARIABLE
};

// Reads one variable: nullopt if it is not set. Tests bring their own.
using Getter = std::function<std::optional<std::string>(const std::string& name)>;
Getter process_environment();

// The snapshot, or an error naming the variable, its value and what was expected.
Result<Environment> read_environment(const Getter& getter);

}  // namespace tutti
