// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared memory of a communicator: an anonymous file (memfd) mapped whole. It has no name, is
// not limited by the size of /dev/shm, and is gone when the last process that maps it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fd.hpp"
#include "core/status.hpp"
#include "transports/shm/layout.hpp"

namespace tutti::shm {

class Region {
 public:
  // A new one, all zero, whose size nobody can change.
  static Result<Region> create(uint64_t bytes);
  // The one behind a descriptor that another process made with create().
  static Result<Region> map(Fd file, uint64_t bytes);

  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) = delete;
  ~Region();

  // Gets memory for a part, so that a lack of it is an error here and not a SIGBUS at the first
  // touch. By the rank that is to use the part most: its pages are then near that rank. Cheap
  // enough to repeat, but it is a system call.
  [[nodiscard]] Status reserve(Span part) const;

  [[nodiscard]] int file() const { return file_.get(); }
  template <typename T>
  [[nodiscard]] T* at(Span part) const {
    return reinterpret_cast<T*>(base_ + part.offset);
  }

 private:
  Region(Fd file, std::byte* base, uint64_t bytes)
      : file_(std::move(file)), base_(base), bytes_(bytes) {}

  Fd file_;
  std::byte* base_;
  uint64_t bytes_;
};

}  // namespace tutti::shm
