// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti_test {

// Bytes that tell which message they belong to and where they stand in it.
inline std::vector<std::byte> pattern(uint64_t seed, uint64_t bytes) {
  std::vector<std::byte> data(bytes);
  for (uint64_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::byte>((seed * 131 + i * 7 + i / 251) & 0xff);
  }
  return data;
}

}  // namespace tutti_test
