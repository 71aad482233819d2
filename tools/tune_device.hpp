// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune --device: measures what copies and reductions on a device take.
#pragma once

#include <string>

#include "core/status.hpp"
#include "tools/tune_file.hpp"

namespace tutti::tune {

// Prints the figures of the device of that index, and puts them into the file, where they replace
// those of devices of the same name.
tutti::Status tune_device(const std::string& api, int index, const Output& output,
                          const tutti::Machine& usual);

}  // namespace tutti::tune
