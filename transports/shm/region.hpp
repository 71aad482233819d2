// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared memory of a communicator: an anonymous file (memfd). It has no name, is not limited by
// the size of /dev/shm, and is gone when the last process that maps it is.
//
// Descriptors and addresses are limited, too (ulimit -n, -v), and communicators may be many. So the
// extents that every communicator needs are mapped at the start, the rest extent by extent when it
// is first used. The file need not stay open for that (drop_file).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fd.hpp"
#include "core/status.hpp"
#include "transports/shm/layout.hpp"

namespace tutti::shm {

// An extent of a region, mapped to be read and written; the region outlives it.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* base, Extent extent, int file) : base_(base), extent_(extent), file_(file) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] bool is_open() const { return base_ != nullptr; }
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] uint64_t bytes() const { return extent_.bytes; }

  // Spans are those of the region, within this extent of it.
  template <typename T>
  [[nodiscard]] T* at(Extent span) const {
    return reinterpret_cast<T*>(base_ + (span.offset - extent_.offset));
  }
  // Gets memory, so that a lack of it is an error here and not a SIGBUS at the first touch. The
  // rank that is to use it most calls this: the pages are then near that rank. Cheap enough to
  // repeat, but it is a system call.
  [[nodiscard]] Status reserve(Extent span) const;
  // Enters a reserved extent into this process's page tables in one go, if the system can. Page by
  // page it would take far longer, and copies would look slow.
  void map_in(Extent span) const;
  // Gives memory back; it reads as zeros from then on.
  void release(Extent span) const;
  // Does all that with the mapping alone.
  void forget_file() { file_ = -1; }

 private:
  std::byte* base_ = nullptr;
  Extent extent_;
  int file_ = -1;  // the region's if it is open
};

// An empty file without a name: memfd_create(2), or what comes nearest to it.
Result<Fd> anonymous_file();

class Region {
 public:
  // A new region, all zero, whose size nobody can change. Its file goes on to `whole` bytes if this
  // process may make such long files. The first layout.near_bytes() are mapped.
  static Result<Region> create(const Layout& layout);
  // The region behind a descriptor that another process made with create().
  static Result<Region> map(Fd file, const Layout& layout);

  // A further extent, whole pages.
  [[nodiscard]] Result<Mapping> map(Extent extent) const;
  // An extent that begins at a huge page, mapped at the address of one.
  [[nodiscard]] Result<Mapping> map_huge(Extent extent) const;
  // Closes the file once all ranks have it. It stays open if the system cannot do without.
  void drop_file();

  // The extent that is mapped from the start.
  [[nodiscard]] const Mapping& near() const { return near_; }
  template <typename T>
  [[nodiscard]] T* at(Extent span) const {
    return near_.at<T>(span);
  }
  // Whether the file goes on to the end of all arenas.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] int file() const { return file_.get(); }

 private:
  Region(Fd file, Mapping near, bool whole)
      : file_(std::move(file)), near_(std::move(near)), whole_(whole) {}

  Fd file_;
  Mapping near_;
  bool whole_;
};

}  // namespace tutti::shm
