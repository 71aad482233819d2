// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Plain values as they travel between ranks: their bytes, and texts in fields of fixed length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// As much of the text as there is room for, with a NUL after it.
inline void put_text(std::span<char> field, std::string_view text) {
  const size_t length = std::min(text.size(), field.size() - 1);
  std::copy_n(text.begin(), length, field.begin());
  field[length] = '\0';
}
inline std::string text_of(std::span<const char> field) {
  return {field.data(), strnlen(field.data(), field.size())};
}

}  // namespace tutti
