// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which process made an object. A forked child inherits it, but none of the threads that serve it.
// Its memory is shared with peers that do not know the child, and its locks may be held by threads
// that are not there.
#pragma once

#include <c10/util/Exception.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace tutti_torch {

class Owner {
 public:
  // False in a forked child of the process that made this. Costs a load.
  bool here() const { return forks_ == forks.load(std::memory_order_relaxed); }
  // Throws in a forked child.
  void check(const char* title) const {
    if (here()) return;
    C10_THROW_ERROR(
        DistBackendError,
        c10::str(title, ": this process (pid ", getpid(), ") was forked from the one (pid ", pid_,
                 ") that made the process group. Only that one can use it; start processes that "
                 "are to use groups by spawn instead of fork"));
  }

  // Forks that this process has come from since the module was loaded; see forked_child() in
  // register.cpp.
  static inline std::atomic<uint32_t> forks = 0;

 private:
  const pid_t pid_ = getpid();
  const uint32_t forks_ = forks.load(std::memory_order_relaxed);
};

}  // namespace tutti_torch
