// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/copy.hpp"

namespace tutti {
namespace {

constexpr CopyHint kWays[] = {CopyHint::kTemporal, CopyHint::kNonTemporal};

TEST(Copy, MovesAllBytesAndNoOthersWhateverTheAlignment) {
  std::vector<uint8_t> source(5000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const CopyHint hint : kWays) {
    for (const size_t bytes : {0u, 1u, 31u, 63u, 64u, 65u, 255u, 256u, 257u, 300u, 383u, 384u,
                               2047u, 2048u, 2049u, 4096u, 4200u}) {
      for (const size_t to : {0u, 1u, 32u, 63u}) {
        for (const size_t from : {0u, 1u, 17u}) {
          std::vector<uint8_t> dst(5000, 0);
          std::vector<uint8_t> expected = dst;
          std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), bytes,
                      expected.begin() + static_cast<ptrdiff_t>(to));
          copy_bytes(dst.data() + to, source.data() + from, bytes, hint);
          ASSERT_EQ(dst, expected) << bytes << " bytes from " << from << " to " << to;
        }
      }
    }
  }
}

TEST(Copy, GoesToTwoPlacesWhateverTheirAlignment) {
  std::vector<uint8_t> source(5000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + 1);
  const auto with_source_at = [&source](size_t to, size_t bytes) {
    std::vector<uint8_t> expected(5000, 0);
    std::copy_n(source.begin() + 3, bytes, expected.begin() + static_cast<ptrdiff_t>(to));
    return expected;
  };
  for (const CopyHint hint : kWays) {
    for (const CopyHint other_hint : kWays) {
      for (const size_t bytes : {0u, 1u, 255u, 256u, 257u, 383u, 384u, 2049u, 4200u}) {
        for (const size_t to : {0u, 1u, 32u}) {
          for (const size_t to_other : {0u, 17u, 32u}) {
            std::vector<uint8_t> dst(5000, 0);
            std::vector<uint8_t> other(5000, 0);
            copy_twice(dst.data() + to, hint, other.data() + to_other, other_hint,
                       source.data() + 3, bytes);
            ASSERT_EQ(dst, with_source_at(to, bytes)) << bytes << " bytes to " << to;
            ASSERT_EQ(other, with_source_at(to_other, bytes)) << bytes << " bytes to " << to_other;
          }
        }
      }
    }
  }
}

TEST(Copy, ToTwoPlacesMayHaveItsSourceInOne) {
  std::vector<uint8_t> source(4200);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const CopyHint other_hint : kWays) {
    std::vector<uint8_t> dst(source.size(), 0);
    std::vector<uint8_t> same = source;
    copy_twice(dst.data(), CopyHint::kTemporal, same.data(), other_hint, same.data(), same.size());
    EXPECT_EQ(dst, source);
    EXPECT_EQ(same, source);
  }
}

TEST(Copy, OfNothingAcceptsNull) {
  for (const CopyHint hint : kWays) copy_bytes(nullptr, nullptr, 0, hint);
}

}  // namespace
}  // namespace tutti
