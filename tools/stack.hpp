// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The stack of a Python program, if py-spy is installed, which looks without stopping it.
#pragma once

#include <string>

namespace tutti::tools {

// Some lines, indented; empty if nothing is to be found out within a moment.
std::string python_stack(int pid);

}  // namespace tutti::tools
