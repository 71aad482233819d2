// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Copies between caches, and past them.
//
// Copies go backwards. Forwards, a prefetcher would run on beyond the end, into lines that another
// core is about to write or read next. It would take each of those from that core, which must fetch
// it back (docs/notes/04).
//
// memcpy goes past the caches by itself only beyond three quarters of the last-level cache that it
// believes to have. On a virtual machine that can be hundreds of MiB, far too late for long copies.
// Short copies are slower past the caches.
#include <cstring>
#include <optional>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {

namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Copies four vectors by `store`.
template <typename D, typename Store>
HWY_INLINE void copy_four(D d, uint8_t* to, const uint8_t* from, Store&& store) {
  const size_t n = hn::Lanes(d);
  const auto v0 = hn::LoadU(d, from);
  const auto v1 = hn::LoadU(d, from + n);
  const auto v2 = hn::LoadU(d, from + 2 * n);
  const auto v3 = hn::LoadU(d, from + 3 * n);
  store(v0, d, to);
  store(v1, d, to + n);
  store(v2, d, to + 2 * n);
  store(v3, d, to + 3 * n);
}

// Longer vectors are slower here.
using Bytes = hn::CappedTag<uint8_t, 32>;

template <typename D>
HWY_INLINE void store_four_non_temporal(D d, uint8_t* to, const uint8_t* from) {
  copy_four(d, to, from,
            [](auto vector, auto tag, uint8_t* at) HWY_ATTR { hn::Stream(vector, tag, at); });
}
HWY_INLINE void copy_four_anywhere(uint8_t* to, const uint8_t* from) {
  copy_four(Bytes(), to, from,
            [](auto vector, auto d, uint8_t* at) HWY_ATTR { hn::StoreU(vector, d, at); });
}
HWY_INLINE void copy_four_aligned(uint8_t* to, const uint8_t* from) {
  copy_four(Bytes(), to, from,
            [](auto vector, auto d, uint8_t* at) HWY_ATTR { hn::Store(vector, d, at); });
}

}  // namespace HWY_NAMESPACE

// The ends, which need not be aligned, overlap with what is copied in between.
template <>
void backward_copy<HWY_TARGET>(void* dst, const void* source, size_t bytes) {
  const size_t lanes = hwy::HWY_NAMESPACE::Lanes(HWY_NAMESPACE::Bytes());
  const size_t four = 4 * lanes;
  auto* const to = static_cast<uint8_t*>(dst);
  const auto* const from = static_cast<const uint8_t*>(source);
  HWY_NAMESPACE::copy_four_anywhere(to + bytes - four, from + bytes - four);
  size_t left = bytes - (reinterpret_cast<uintptr_t>(to) + bytes) % lanes;
  for (; left > four; left -= four) {
    HWY_NAMESPACE::copy_four_aligned(to + left - four, from + left - four);
  }
  HWY_NAMESPACE::copy_four_anywhere(to, from);
}

// Backwards, as backward_copy; the source comes to the second place from the first-level cache.
template <>
void twin_copy<HWY_TARGET>(void* dst, bool non_temporal, void* other, bool non_temporal_other,
                           const void* source, size_t bytes) {
  const size_t lanes = hwy::HWY_NAMESPACE::Lanes(HWY_NAMESPACE::Bytes());
  const size_t four = 4 * lanes;
  auto* const to = static_cast<uint8_t*>(dst);
  auto* const to_other = static_cast<uint8_t*>(other);
  const auto* const from = static_cast<const uint8_t*>(source);
  const bool alike =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(to_other)) % lanes == 0;
  const auto copy_both_anywhere = [&](size_t at) HWY_ATTR {
    HWY_NAMESPACE::copy_four_anywhere(to + at, from + at);
    HWY_NAMESPACE::copy_four_anywhere(to_other + at, from + at);
  };
  copy_both_anywhere(bytes - four);
  size_t left = bytes - (reinterpret_cast<uintptr_t>(to) + bytes) % lanes;
  for (; left > four; left -= four) {
    const size_t at = left - four;
    if (non_temporal) {
      HWY_NAMESPACE::store_four_non_temporal(HWY_NAMESPACE::Bytes(), to + at, from + at);
    } else {
      HWY_NAMESPACE::copy_four_aligned(to + at, from + at);
    }
    if (non_temporal_other && alike) {
      HWY_NAMESPACE::store_four_non_temporal(HWY_NAMESPACE::Bytes(), to_other + at, from + at);
    } else {
      HWY_NAMESPACE::copy_four_anywhere(to_other + at, from + at);
    }
  }
  if (non_temporal || non_temporal_other) hwy::FlushStream();
  copy_both_anywhere(0);
}

template <>
void non_temporal_copy<HWY_TARGET>(void* dst, const void* source, size_t bytes) {
  namespace hn = HWY_NAMESPACE::hn;
  const hn::ScalableTag<uint8_t> d;
  const size_t n = hn::Lanes(d);
  auto* to = static_cast<uint8_t*>(dst);
  const auto* from = static_cast<const uint8_t*>(source);
  const size_t unaligned = (size_t{0} - reinterpret_cast<uintptr_t>(to)) & (n - 1);
  const size_t head = unaligned < bytes ? unaligned : bytes;
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + 4 * n <= bytes; i += 4 * n) {
    HWY_NAMESPACE::store_four_non_temporal(d, to + i, from + i);
  }
  std::memcpy(to + i, from + i, bytes - i);
  hwy::FlushStream();
}

}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET

#if HWY_ONCE
namespace tutti {
namespace {

struct CopyKernels {
  CopyKernel backward;
  CopyKernel non_temporal;
  TwinCopyKernel twin;
};

void plain_copy(void* dst, const void* source, size_t bytes) { std::memcpy(dst, source, bytes); }

void plain_copies(void* dst, bool, void* other, bool, const void* source, size_t bytes) {
  std::memmove(dst, source, bytes);
  std::memmove(other, dst, bytes);
}

// The kernels of the best target.
const CopyKernels& kernels() {
  static const CopyKernels best = [] {
    std::optional<CopyKernels> first;
    for_each_target([&]<int64_t kTarget>() {
      if (!first) first = {backward_copy<kTarget>, non_temporal_copy<kTarget>, twin_copy<kTarget>};
    });
    return first.value_or(CopyKernels{plain_copy, plain_copy, plain_copies});
  }();
  return best;
}

}  // namespace

void copy_long(void* dst, const void* source, size_t bytes, CopyHint hint) {
  if (bytes == 0) return;  // the pointers may be null
  if (hint == CopyHint::kNonTemporal) {
    kernels().non_temporal(dst, source, bytes);
  } else {
    kernels().backward(dst, source, bytes);
  }
}

void copy_twice(void* dst, CopyHint hint, void* other, CopyHint other_hint, const void* source,
                size_t bytes) {
  const bool non_temporal = hint == CopyHint::kNonTemporal;
  const bool non_temporal_other = other_hint == CopyHint::kNonTemporal;
  if (bytes < kLeastLongCopy) {
    copy_bytes(dst, source, bytes, hint);
    copy_bytes(other, source, bytes, other_hint);
  } else {
    kernels().twin(dst, non_temporal, other, non_temporal_other, source, bytes);
  }
}

}  // namespace tutti
#endif  // HWY_ONCE
