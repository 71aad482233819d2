// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory with guards on both sides, at an address of any alignment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace tutti_test {

class GuardedBuffer {
 public:
  // data() is `skew` bytes past an address that is aligned to 64.
  GuardedBuffer(size_t bytes, size_t skew)
      : bytes_(bytes), memory_(new(std::align_val_t{64}) std::byte[bytes + skew + 2 * kGuard]) {
    data_ = memory_.get() + kGuard + skew;
    std::fill(data_ - kGuard, data_, kMark);
    std::fill(data_ + bytes_, data_ + bytes_ + kGuard, kMark);
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  // Whether nothing was written outside.
  [[nodiscard]] bool intact() const {
    const auto marked = [](std::byte b) { return b == kMark; };
    return std::all_of(data_ - kGuard, data_, marked) &&
           std::all_of(data_ + bytes_, data_ + bytes_ + kGuard, marked);
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr std::byte kMark{0xA5};
  struct Free {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t{64}); }
  };
  size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
  std::byte* data_;
};

}  // namespace tutti_test
