// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/pictures/svg.hpp"

#include <iterator>

namespace tutti {

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string escaped(std::string_view xml) {
  std::string safe;
  for (const char c : xml) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  }
  return safe;
}

Svg::Svg(double width, double height) {
  add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="12">)",
      width, height);
  add(R"(<rect width="100%" height="100%" fill="white"/>)");
}

}  // namespace tutti
