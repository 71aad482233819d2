// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/devices.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/folder.hpp"

namespace tutti::ofi {
namespace {

// Folders in which drivers register their devices: InfiniBand, RoCE, EFA, Omni-Path; Slingshot; the
// older Omni-Path. A container may be shown the devices alone.
constexpr auto kClasses = std::to_array<std::string_view>(
    {"sys/class/infiniband", "sys/class/cxi", "sys/class/hfi1", "dev/infiniband", "dev/cxi0"});

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::filesystem::exists(path, error);
  return !entries_of(path.string()).empty();
}

}  // namespace

bool may_have_fast_network(const std::string& root) {
  const std::filesystem::path top(root);
  if (!is_there(top / "sys/class/net")) return true;  // nothing is shown here
  return std::ranges::any_of(kClasses, [&](std::string_view one) { return is_there(top / one); });
}

}  // namespace tutti::ofi
