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
  // `folder`: where it is empty, nothing is kept.
  explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}
  // The cache in the folder of this process's user.
  static KernelCache of_user();

  // The binary of a key; none if others could have written it, or it was damaged.
  [[nodiscard]] std::optional<std::vector<unsigned char>> read(std::string_view key) const;
  // A failure goes to the log alone: the cache only saves time.
  void write(std::string_view key, const std::vector<unsigned char>& binary) const;
  // The file of a key, for tests.
  [[nodiscard]] std::string path_of(std::string_view key) const;

 private:
  std::string folder_;
};

}  // namespace tutti::devices
