// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies between the memory of ranks.
#pragma once

#include <cstddef>
#include <cstring>

namespace tutti {

// Whether a copy leaves what it writes in the caches, or writes it past them.
enum class CopyHint { kTemporal, kNonTemporal };

// Shorter copies take as long as the call of a kernel.
inline constexpr size_t kLeastLongCopy = 256;

// Ways of copying matter from this size on; copies past the caches may be shorter.
void copy_long(void* dst, const void* source, size_t bytes, CopyHint hint);

// Copies to two places that do not overlap, each by its hint; one of them may be where the source
// lies.
void copy_twice(void* dst, CopyHint hint, void* other, CopyHint other_hint, const void* source,
                size_t bytes);

// Like memcpy, but with null pointers allowed for 0 bytes.
inline void copy_bytes(void* dst, const void* source, size_t bytes, CopyHint hint) {
  if (bytes >= kLeastLongCopy || hint == CopyHint::kNonTemporal) {
    copy_long(dst, source, bytes, hint);
  } else if (bytes > 0) {
    std::memcpy(dst, source, bytes);
  }
}

}  // namespace tutti
