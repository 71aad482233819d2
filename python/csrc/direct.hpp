// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The operators of torch.ops.tutti as plain functions of Python.
#pragma once

#include <Python.h>

namespace tutti_torch {

// Adds them to the module, each under the name of its operator. `set_operators(dict)` must be
// called before the first of them is, with what to call where the operator itself is needed.
int add_direct_functions(PyObject* module);

}  // namespace tutti_torch
