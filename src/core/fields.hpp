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
#include <type_traits>

namespace tutti {

// Padding would give away what lay in memory before: make it a member. Types with floats, which the
// compiler does not tell from those with padding, have their own answer.
template <typename T>
inline constexpr bool kUnpadded = std::has_unique_object_representations_v<T>;
template <typename T>
concept Unpadded = kUnpadded<T>;

// The compiler may tell where they are kept for longer than the value.
#ifdef __clang__
#define TUTTI_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define TUTTI_LIFETIME_BOUND
#endif
template <Unpadded T>
std::span<const std::byte> bytes_of(const T& value TUTTI_LIFETIME_BOUND) {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// How many bytes of the text its first character takes; 0 if it is a control character, or none in
// UTF-8.
inline size_t character_of(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= ' ' && lead != 0x7f ? 1 : 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Refused are forms longer than needed, halves of a pair, and codes beyond the last. Two bytes
  // may also spell a control character, which some terminals take for the begin of a command.
  const bool wrong = (lead == 0xc2 && byte(1) < 0xa0) || (lead == 0xe0 && byte(1) < 0xa0) ||
                     (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf0 && byte(1) < 0x90) ||
                     (lead == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : length;
}

inline bool is_text(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_of(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// The text, if it is one in UTF-8 without control characters. Else it has a '?' for each byte that
// is not of ASCII's letters, digits and signs.
inline std::string readable(std::string text) {
  if (is_text(text)) return text;
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// Writes as much of the text as the field has room for, with a NUL after it.
inline void put_text(std::span<char> field, std::string_view text) {
  const size_t length = std::min(text.size(), field.size() - 1);
  std::copy_n(text.begin(), length, field.begin());
  field[length] = '\0';
}
// The text in a field that another process wrote, which may be anything: see readable().
inline std::string text_of(std::span<const char> field) {
  return readable({field.data(), strnlen(field.data(), field.size())});
}

}  // namespace tutti
