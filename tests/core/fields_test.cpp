// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that other processes wrote.
#include "core/fields.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tutti {
namespace {

struct Padded {
  int64_t wide;
  int32_t narrow;
};
struct Filled {
  int64_t wide;
  int32_t narrow;
  int32_t reserved;
};
template <typename T>
concept MayTravel = requires(const T& value) { bytes_of(value); };

TEST(BytesOf, WhatHasPaddingDoesNotTravel) {
  static_assert(!MayTravel<Padded>);
  static_assert(MayTravel<Filled>);
  const Filled value{.wide = 1, .narrow = 2, .reserved = 0};
  EXPECT_EQ(bytes_of(value).size(), sizeof value);
}

TEST(TextOf, KeepsTextsInUtf8) {
  for (const std::string text : {"", "rank 2 (pid 7 on h)", "Größe, 大きさ, 🦊"}) {
    std::array<char, 64> field{};
    put_text(field, text);
    EXPECT_EQ(text_of(field), text);
  }
}

TEST(TextOf, MakesTextOfAnyBytes) {
  EXPECT_EQ(readable("a\xff\x01z"), "a??z");
  EXPECT_EQ(readable("cut \xe5\xa4"), "cut ??");
  EXPECT_EQ(readable("\x80"), "?");
  EXPECT_EQ(readable("a\xc2\x9b"
                     "31mz"),
            "a??31mz");  // a control character of terminals
  for (const char* wrong : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(is_text(wrong));
  }
  for (int lead = 0; lead < 256; ++lead) {
    for (int next = 0; next < 256; ++next) {
      const std::string text{static_cast<char>(lead), static_cast<char>(next), 'x'};
      EXPECT_TRUE(is_text(readable(text))) << lead << ' ' << next;
    }
  }
}

}  // namespace
}  // namespace tutti
