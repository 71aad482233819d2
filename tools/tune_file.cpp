// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace tutti::tune {
namespace {

tutti::Tuning existing(const std::string& path, const tutti::MachineKey& key,
                       const tutti::Machine& usual) {
  tutti::Tuning fresh;
  fresh.key = key;
  fresh.machine = usual;
  if (access(path.c_str(), F_OK) != 0) return fresh;
  auto old = tutti::read_tuning_file(path);
  if (old.ok() && old->key == key) return *std::move(old);
  fmt::print("\n{} cannot be added to, it will be replaced: {}\n", path,
             old.ok() ? "it is of " + to_string(old->key) : std::string(old.status().message()));
  return fresh;
}

}  // namespace

tutti::Result<std::string> output_path(const std::string& given, const tutti::MachineKey& key) {
  if (!given.empty()) return given;
  auto path = tutti::default_tuning_path(key, tutti::process_environment());
  if (path) return *std::move(path);
  return tutti::Status(tutti::Code::kInvalidArgument,
                       "neither XDG_CACHE_HOME nor HOME is set: say where with --output FILE");
}

tutti::Status change_file(const Output& output, const tutti::Machine& usual,
                          const std::function<void(tutti::Tuning&)>& change) {
  if (output.dry_run) {
    fmt::print("Not written (--dry-run): {}\n", output.path);
    return {};
  }
  tutti::Tuning tuning = existing(output.path, tutti::this_machine(), usual);
  change(tuning);
  TUTTI_RETURN_IF_ERROR(write_tuning_file(output.path, tuning));
  fmt::print("Written: {}\n", output.path);
  return {};
}

}  // namespace tutti::tune
