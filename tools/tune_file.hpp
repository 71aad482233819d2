// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The file that tutti tune writes.
#pragma once

#include <functional>
#include <string>

#include "comm/tuning_file.hpp"
#include "core/status.hpp"

namespace tutti::tune {

struct Output {
  std::string path;
  bool dry_run = false;  // nothing is written
};

// The file given, or, if that is empty, the one in the user's cache folder.
tutti::Result<std::string> output_path(const std::string& given, const tutti::MachineKey& key);

// Changes what the file has already, if it is of this machine, else a new one with the `usual`
// figures; and says so.
tutti::Status change_file(const Output& output, const tutti::Machine& usual,
                          const std::function<void(tutti::Tuning&)>& change);

}  // namespace tutti::tune
