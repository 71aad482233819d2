// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies by the processor's own instruction for strings (rep movsb). It takes lines that it writes
// whole without reading them first, be it from another core. How well it does so differs from
// processor to processor. What it writes had better be in the caches: copy_long().
#pragma once

#include <cstddef>

namespace tutti {

// Whether it moves 16 KiB within the second-level cache at least as fast as vectors do, which is
// found out when first asked. False on processors without it.
bool string_copies_pay();
// Copies where string_copies_pay(). The pointers may not be null, nor the memory overlap.
void string_copy(void* dst, const void* source, size_t bytes);

}  // namespace tutti
