// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/size_text.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tutti {
namespace {

// How many binary digits a suffix shifts by: "k" 10, "m" 20, "g" 30, anything else 0.
int suffix_shift(char suffix) {
  switch (suffix) {
    case 'k': return 10;
    case 'm': return 20;
    case 'g': return 30;
    default: return 0;
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "max") return UINT64_MAX;
  const int shift = word.empty() ? 0 : suffix_shift(word.back());
  const char* const end = word.data() + word.size() - (shift != 0 ? 1 : 0);
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end || number > (UINT64_MAX >> shift)) return std::nullopt;
  return number << shift;
}

std::string print_size(uint64_t size) {
  if (size == UINT64_MAX) return "max";
  for (const char suffix : {'g', 'm', 'k'}) {
    const uint64_t unit = uint64_t{1} << suffix_shift(suffix);
    if (size != 0 && size % unit == 0) return fmt::format("{}{}", size / unit, suffix);
  }
  return fmt::format("{}", size);
}

}  // namespace tutti
