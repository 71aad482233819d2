// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hashes that are the same in every process, unlike std::hash.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

// A power of two over the golden ratio, odd. A multiple of it has the bits of small numbers spread.
inline constexpr uint32_t kGoldenRatio32 = 0x9e3779b1u;

// FNV-1a, 64 bits.
inline uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace tutti
