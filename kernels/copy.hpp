// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies between the memory of ranks.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/tuned.hpp"

namespace tutti {

enum class CopyHint {
  kToOthers,    // what others are going to read, or nobody
  kToRing,      // the same, in a ring that is longer than what is written, or in a ping-pong buffer
  kFromOthers,  // what another rank has written: copy.cpp says how
  kLongFromOthers,  // a piece of something so long that caches do not hold its destination
  kFromMemory,      // what another rank has written past the caches
  kNonTemporal,
};

// What a rank receives may be written past the caches from so many bytes on: less is worth having
// in them anywhere.
inline constexpr size_t kLeastReceivedNonTemporal = tuned::kLeastReceivedNonTemporal;

// From so many bytes on the way matters; copies past the caches may be shorter.
inline constexpr size_t kLeastLongCopy = tuned::kLeastLongCopy;
void copy_long(void* dst, const void* source, size_t bytes, CopyHint hint);
// Backwards, and never by string instructions; at least kLeastLongCopy.
void copy_by_vectors(void* dst, const void* source, size_t bytes);

// To two places that do not overlap, each by its hint; one of them may be where the source lies.
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
