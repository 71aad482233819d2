// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The entries of a folder. The iterators of std::filesystem are not used: they end the process if
// there is no memory for an entry's name.
#pragma once

#include <dirent.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Their names; none if it cannot be read.
inline std::vector<std::string> entries_of(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  std::vector<std::string> names;
  while (const dirent* const entry = folder == nullptr ? nullptr : readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace tutti
