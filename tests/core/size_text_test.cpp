// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/size_text.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(SizeText, IsReadAsItIsPrinted) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1} << 10,
                              uint64_t{3} << 20, uint64_t{5} << 30, UINT64_MAX - 1, UINT64_MAX}) {
    EXPECT_EQ(parse_size(print_size(size)), size) << print_size(size);
  }
  EXPECT_EQ(print_size(96 << 10), "96k");
  EXPECT_EQ(print_size(UINT64_MAX), "max");
  EXPECT_EQ(parse_size("2G"), uint64_t{2} << 30);
}

TEST(SizeText, ThatIsNoneIsNotRead) {
  for (const char* text : {"", "k", "max1", "1kb", "-1", "+1", " 1", "1 ", "1.5k", "0x10",
                           "18446744073709551616", "18014398509481984k", "99999999999g"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace tutti
