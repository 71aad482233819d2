// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The entries of a folder. The iterators of std::filesystem are not used: they end the process if
// there is no memory for an entry's name.
#pragma once

#include <dirent.h>

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tutti {

// The names of a folder's entries; none if the folder cannot be read.
inline std::vector<std::string> entries_of(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  std::vector<std::string> names;
  while (const dirent* const entry = folder == nullptr ? nullptr : readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

// The entries that are whole numbers, as of processes, threads and descriptors in /proc.
inline std::vector<int> numbers_in(const std::string& path) {
  std::vector<int> numbers;
  for (const std::string& name : entries_of(path)) {
    int number = 0;
    const char* const end = name.data() + name.size();
    const auto [behind, error] = std::from_chars(name.data(), end, number);
    if (error == std::errc() && behind == end) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace tutti
