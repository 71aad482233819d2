// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The works as Python sees them: handles whose futures keep the order of callbacks.
#pragma once

#include <torch/csrc/utils/pybind.h>

namespace tutti_torch {

// Adds the classes Work, CoalescedWork, ... and Future to the module; they need not be named.
void bind_futures(py::module& module);

}  // namespace tutti_torch
