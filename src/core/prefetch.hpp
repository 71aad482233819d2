// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tutti {

// Takes a line from whoever has it, to be written soon. GCC knows the instruction only where it may
// assume it; elsewhere on x86-64 it does nothing.
inline void prefetch_to_write(const void* line) {
#ifdef __x86_64__
  asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace tutti
