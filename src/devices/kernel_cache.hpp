// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Compiled kernels in the user's cache folder, $XDG_CACHE_HOME/tutti or ~/.cache/tutti. There is
// one file for each driver, device and module, for its owner alone (0600), that appears there
// whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"

namespace tutti::devices {

// Binaries by a key of everything that they depend on.
class KernelCache {
 public:
  // Nothing is kept where `folder` is empty.
  explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}
  // In the folder of this process's user.
  static KernelCache of_user();

  // Nothing if there is none, or one that others could have written, or that was damaged.
  [[nodiscard]] std::optional<std::vector<unsigned char>> read(std::string_view key) const;
  // A failure goes to the log alone: the cache only saves time.
  void write(std::string_view key, const std::vector<unsigned char>& binary) const;
  // For tests.
  [[nodiscard]] std::string path_of(std::string_view key) const;

 private:
  std::string folder_;
};

}  // namespace tutti::devices
