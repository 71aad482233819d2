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
  // A new one, all zero, whose size nobody can change. Its file goes on to `whole` bytes if this
  // process may make such long files; what is beyond `bytes` is not mapped.
  static Result<Region> create(uint64_t bytes, uint64_t whole);
  // The one behind a descriptor that another process made with create().
  static Result<Region> map(Fd file, uint64_t bytes, uint64_t whole);

  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) = delete;
  ~Region();

  // Gets memory for a part, so that a lack of it is an error here and not a SIGBUS at the first
  // touch. By the rank that is to use the part most: its pages are then near that rank. Cheap
  // enough to repeat, but it is a system call.
  [[nodiscard]] Status reserve(Span part) const;

  // Enters a reserved part into this process's page tables in one go, where the system can: later,
  // page by page, that takes ten times as long and looks as if the copies were slow.
  void map_in(Span part) const;

  // Gives memory back; the part reads as zeros from then on.
  void release(Span part) const;

  // Whether the file goes on beyond what is mapped.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] int file() const { return file_.get(); }
  template <typename T>
  [[nodiscard]] T* at(Span part) const {
    return reinterpret_cast<T*>(base_ + part.offset);
  }

 private:
  Region(Fd file, std::byte* base, uint64_t bytes, bool whole)
      : file_(std::move(file)), base_(base), bytes_(bytes), whole_(whole) {}

  Fd file_;
  std::byte* base_;
  uint64_t bytes_;
  bool whole_;
};

}  // namespace tutti::shm
