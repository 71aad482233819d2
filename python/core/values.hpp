// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Arguments that are no buffers. They come as they were given. So errors are told in the words of
// this package: by Python's error, with the argument and what was expected.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "array.hpp"

namespace tutti_core {

// A peer that is no rank, so that programs can leave out a neighbour: nothing is sent to it.
constexpr int kNobody = -3;

int int_of(nb::handle given, Argument argument);
// None is nothing.
std::optional<int> maybe_int_of(nb::handle given, Argument argument);
std::optional<double> maybe_seconds_of(nb::handle given, Argument argument);
std::optional<std::string> maybe_text_of(nb::handle given, Argument argument);
// The reduction of these elements that a constant of the package stands for.
int op_of(nb::handle given, const Array& array, const char* operation);

}  // namespace tutti_core
