// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies past the caches. memcpy does that by itself only beyond three quarters of the last-level
// cache that it believes to have, which on a virtual machine can be hundreds of MiB. Copying 64 MiB
// on one with 2 of a Xeon's cores, this takes two thirds of memcpy's time; at 256 KiB, twice.
#include <cstring>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {

template <>
void stream_copy<HWY_TARGET>(void* dst, const void* source, size_t bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint8_t> d;
  const size_t n = hn::Lanes(d);
  auto* to = static_cast<uint8_t*>(dst);
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t unaligned = (size_t{0} - reinterpret_cast<uintptr_t>(to)) & (n - 1);
  const size_t head = unaligned < bytes ? unaligned : bytes;
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + 4 * n <= bytes; i += 4 * n) {
    const auto v0 = hn::LoadU(d, from + i);
    const auto v1 = hn::LoadU(d, from + i + n);
    const auto v2 = hn::LoadU(d, from + i + 2 * n);
    const auto v3 = hn::LoadU(d, from + i + 3 * n);
    hn::Stream(v0, d, to + i);
    hn::Stream(v1, d, to + i + n);
    hn::Stream(v2, d, to + i + 2 * n);
    hn::Stream(v3, d, to + i + 3 * n);
  }
  std::memcpy(to + i, from + i, bytes - i);
  hwy::FlushStream();
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
