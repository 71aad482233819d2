// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A picture as SVG, and how the command writes times and sizes for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

std::string time_text(double seconds);      // "1.5 us", "12 ms"
std::string bytes_text(uint64_t bytes);     // "96 B", "1.5 KiB"
std::string escaped(std::string_view xml);  // text for an element

class Svg {
 public:
  // In pixels, on white.
  Svg(double width, double height);

  template <typename... Args>
  void add(fmt::format_string<Args...> element, Args&&... args) {
    text_ += fmt::format(element, std::forward<Args>(args)...) + "\n";
  }
  // `style` are further attributes.
  void text(double x, double y, std::string_view content, std::string_view style = "") {
    add(R"(<text x="{:.1f}" y="{:.1f}" {}>{}</text>)", x, y, style, escaped(content));
  }
  std::string finish() && { return std::move(text_) + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace tutti
