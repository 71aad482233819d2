// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The variables of scope kJob (env/variables.inc): their values are compared when a communicator is
// made, so they are the same on all of its ranks. They are all that the choice of algorithms and
// the making of plans may see of the environment (tests/layering/layering.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

// Types of variables (env/env.hpp has the others). Words may be in either case.
using Text = std::string;
using Integer = int64_t;                     // decimal; the table gives its range
using Boolean = bool;                        // 0/1, on/off, yes/no, true/false
using AutoBoolean = std::optional<Boolean>;  // Boolean, or "auto": nullopt
using Bytes = uint64_t;  // decimal with an optional suffix k, m, g (powers of 1024), or "max"
using AutoBytes = std::optional<Bytes>;  // Bytes, or "auto": nullopt

struct JobVariables {
#define TUTTI_IF_kJob(type, field, default_value) type field = default_value;
#define TUTTI_IF_kProcess(type, field, default_value)
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) \
  TUTTI_IF_##scope(type, field, default_value)
#include "env/variables.inc"
#undef TUTTI_VARIABLE
#undef TUTTI_IF_kProcess
#undef TUTTI_IF_kJob
};

}  // namespace tutti
