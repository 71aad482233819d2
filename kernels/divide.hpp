// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The end of an average of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tutti {

// Truncates toward zero. Divides magnitudes, so that the most negative number is no exception.
template <class T>
T divide(T sum, uint32_t divisor) {
  using Wide = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;
  if constexpr (std::is_signed_v<T>) {
    const auto bits = static_cast<Wide>(int64_t{sum});
    const Wide quotient = (sum < 0 ? Wide{0} - bits : bits) / divisor;
    return static_cast<T>(sum < 0 ? Wide{0} - quotient : quotient);
  } else {
    return static_cast<T>(static_cast<Wide>(sum) / divisor);
  }
}

// Each of `count` elements, which need no alignment.
template <class T>
void divide_elements(void* elements, size_t count, uint32_t divisor) {
  auto* bytes = static_cast<unsigned char*>(elements);
  for (size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    element = divide(element, divisor);
    std::memcpy(bytes + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace tutti
