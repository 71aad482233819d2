// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory with guards on both sides, at an address of any alignment.
#pragma once

#include <tutti/tutti.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "support/mirror.hpp"

namespace tutti_test {

class GuardedBuffer {
 public:
  // data() is `skew` bytes past an address that is aligned to 64. The memory is tutti_alloc's, if
  // `allocator` is not null.
  GuardedBuffer(size_t bytes, size_t skew, tutti_comm_t allocator = nullptr)
      : bytes_(bytes), allocator_(allocator) {
    const size_t all = bytes + skew + 2 * kGuard;
    if (allocator == nullptr) {
      memory_ = operator new(all, std::align_val_t{64});
    } else if (tutti_alloc(allocator, all, &memory_) != TUTTI_OK) {
      throw std::bad_alloc();
    }
    data_ = static_cast<std::byte*>(memory_) + kGuard + skew;
    std::fill(data_ - kGuard, data_, kMark);
    std::fill(data_ + bytes_, data_ + bytes_ + kGuard, kMark);
    if (Mirror::current() != nullptr) Mirror::current()->add(data_ - kGuard, bytes + 2 * kGuard);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() {
    if (Mirror::current() != nullptr) Mirror::current()->remove(data_ - kGuard);
    if (allocator_ == nullptr) {
      operator delete(memory_, std::align_val_t{64});
    } else {
      tutti_free(allocator_, memory_);
    }
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
  size_t bytes_;
  tutti_comm_t allocator_;
  void* memory_ = nullptr;
  std::byte* data_;
};

}  // namespace tutti_test
