// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// JSON that others have written, and that others read, besides what its library does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

// Whether arrays and objects lie in one another deeper than any file of ours has them. To copy or
// print such a value would take more stack than there is.
inline bool nests_too_deep(std::string_view json) {
  constexpr size_t kMost = 100;
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kMost) return true;
    } else if (!in_string && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}
inline constexpr const char* kNestsTooDeep = "its arrays and objects nest deeper than 100";

// JSON as text, whatever bytes its strings have: names of files and values of variables need not be
// UTF-8.
template <typename Json>
std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tutti
