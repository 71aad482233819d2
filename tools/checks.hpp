// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of options that several subcommands have, made before any work begins.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace tutti {

namespace checks {

inline std::string number(const std::string& text, const char* expected, bool (*fits)(double)) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && fits(value)) return {};
  return fmt::format("expected {}, got '{}'", expected, text);
}

// Asks before what takes long, so that it does not end in an error.
inline std::string writable(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code none;
  const bool there = std::filesystem::exists(file, none);
  if (std::filesystem::is_directory(file, none)) {
    return fmt::format("cannot write {}: it is a folder", path);
  }
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : ".";
  if (access(there ? file.c_str() : parent.c_str(), W_OK) == 0) return {};
  return fmt::format("cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace checks

inline CLI::Validator above_zero() {
  return {[](const std::string& text) {
            return checks::number(text, "a number above 0", [](double value) { return value > 0; });
          },
          "POSITIVE"};
}

inline CLI::Validator zero_or_more() {
  return {[](const std::string& text) {
            return checks::number(text, "0 or more", [](double value) { return value >= 0; });
          },
          "NONNEGATIVE"};
}

// Turns "64kb" into bytes. (CLI11's own takes -1 for the largest number that there is.)
inline CLI::Validator size_in_bytes() {
  return {[](std::string& text) -> std::string {
            const std::string given = text;
            const size_t digits = text.find_first_not_of("0123456789");
            try {
              const bool number = digits != 0 && std::min(digits, text.size()) <= 18;
              if (number && CLI::AsSizeValue(false)(text).empty()) return {};
            } catch (const CLI::ValidationError&) {  // a wrong unit, or wrong text
            }
            return fmt::format("expected a size such as 4096, 64kb or 1mb, got '{}'", given);
          },
          "SIZE"};
}

inline CLI::Validator writable_file() { return {&checks::writable, "FILE"}; }

}  // namespace tutti
