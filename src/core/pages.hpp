// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory in whole pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// `bytes` of anonymous memory of this process with such a protection (PROT_...), from the address
// of a huge page on. It is whole pages, which munmap gives back. Null: there are none.
std::byte* map_aligned(uint64_t bytes, int protection);

// Enters all of a mapping into the page tables of this process, with new pages where it has none,
// and changes nothing in it. False: there is not so much memory, or, with EINVAL in errno, the
// system cannot do that in one go.
bool map_in(std::byte* memory, uint64_t bytes);

// Gets pages for all of a mapping now, in memory and in the page tables. A lack of memory is then
// an error here, and not a death or a delay later. False: there is not so much.
bool populate(std::byte* memory, uint64_t bytes);

// Lets huge pages replace the small ones of a mapping that has pages, as far as the system can
// (Linux 6.1). That works even if the system gives shared memory small ones only, which is the
// rule.
void make_huge(std::byte* memory, uint64_t bytes);

}  // namespace tutti
