// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/affinity.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tutti {
namespace {

// No machine has more; a larger number is a slip of the pen, and must not be expanded.
constexpr int kHighestCore = 65535;
constexpr size_t kLongestList = 65536;

std::optional<int> parse_core(std::string_view text) {
  int core = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (core < 0 || core > kHighestCore) return std::nullopt;
  return core;
}

// Appends the cores of "7" or "4-6"; false if it is neither.
bool append_range(std::string_view text, std::vector<int>& cores) {
  const size_t dash = text.find('-');
  const auto first = parse_core(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_core(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  for (int core = *first; core <= *last; ++core) cores.push_back(core);
  return cores.size() <= kLongestList;
}

}  // namespace

std::optional<CoreList> parse_core_list(std::string_view text) {
  if (text == "auto") return CoreList{};
  CoreList list{.automatic = false, .cores = {}};
  for (;;) {
    const size_t comma = text.find(',');
    if (!append_range(text.substr(0, comma), list.cores)) return std::nullopt;
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

std::string format_cores(std::span<const int> cores) {
  std::string text;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text.push_back(',');
    if (end - i < 2) {
      text += fmt::format("{}", cores[i]);
    } else {
      text += fmt::format("{}-{}", cores[i], cores[end - 1]);
    }
    i = end;
  }
  return text.empty() ? "none" : text;
}

}  // namespace tutti
