// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A descriptor that a process keeps for the memory of its first few communicators. Processes of the
// same user open it through /proc to look inside (src/inspect), also where the system lets nobody
// read the memory of another process. There are few, because descriptors are limited.
#pragma once

#include "core/fd.hpp"

namespace tutti::shm {

class InspectorFd {
 public:
  InspectorFd() = default;
  // Duplicates the descriptor of the file, as long as this process keeps few.
  explicit InspectorFd(int file);
  InspectorFd(InspectorFd&& other) noexcept : file_(std::move(other.file_)) {}
  InspectorFd& operator=(InspectorFd&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~InspectorFd();

 private:
  Fd file_;
};

}  // namespace tutti::shm
