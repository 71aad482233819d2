// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/reduce_host.hpp"

namespace tutti {
namespace {

TEST(Copy, MovesAllBytesAndNoOthersWhateverTheAlignment) {
  std::vector<uint8_t> source(5000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + 1);
  for (const bool stream : {false, true}) {
    for (const size_t bytes : {0, 1, 31, 63, 64, 65, 255, 256, 300, 4096, 4200}) {
      for (const size_t to : {0, 1, 32, 63}) {
        for (const size_t from : {0, 1, 17}) {
          std::vector<uint8_t> dst(5000, 0);
          std::vector<uint8_t> expected = dst;
          std::copy_n(source.begin() + static_cast<ptrdiff_t>(from), bytes,
                      expected.begin() + static_cast<ptrdiff_t>(to));
          copy_bytes(dst.data() + to, source.data() + from, bytes, stream);
          ASSERT_EQ(dst, expected) << bytes << " bytes from " << from << " to " << to;
        }
      }
    }
  }
}

TEST(Copy, OfNothingAcceptsNull) {
  copy_bytes(nullptr, nullptr, 0, false);
  copy_bytes(nullptr, nullptr, 0, true);
}

}  // namespace
}  // namespace tutti
