// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "kernels/string_copy.hpp"

#ifdef __x86_64__

#include <vector>

#include "core/least_seconds.hpp"
#include "kernels/copy.hpp"

namespace tutti {
namespace {

constexpr size_t kPiece = 16 << 10;
constexpr size_t kRoom = 128 << 10;  // twice this fits any second-level cache, no first-level one
constexpr int kTimes = 5;

template <typename Copy>
double seconds_of(Copy&& copy) {
  const std::vector<std::byte> from(kRoom, std::byte{1});
  std::vector<std::byte> to(kRoom);
  return least_seconds(kTimes, [&] {
    for (size_t at = 0; at < kRoom; at += kPiece) copy(to.data() + at, from.data() + at, kPiece);
  });
}

}  // namespace

void string_copy(void* dst, const void* source, size_t bytes) {
  asm volatile("rep movsb" : "+D"(dst), "+S"(source), "+c"(bytes) : : "memory");
}

bool string_copies_pay() {
  static const bool pay = seconds_of(string_copy) <= seconds_of(copy_by_vectors);
  return pay;
}

}  // namespace tutti

#else

namespace tutti {

void string_copy(void*, const void*, size_t) {}
bool string_copies_pay() { return false; }

}  // namespace tutti

#endif
