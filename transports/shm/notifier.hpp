// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Wakes peers that sleep. While nobody does, that is one load of a line that stays in the cache.
#pragma once

#include <atomic>
#include <vector>

#include "core/wait.hpp"

namespace tutti::shm {

struct Notifier {
  Sleepers* sleepers = nullptr;
  std::vector<Bell*> bells;  // by rank
  bool needs_fence = false;

  void all() const {
    if (!anyone_sleeps()) return;
    for (Bell* bell : bells) ring(*bell);
  }
  void one(int rank) const {
    if (anyone_sleeps()) ring(*bells[static_cast<size_t>(rank)]);
  }

 private:
  // Earlier writes must be visible before the look at the sleepers. Either the membarrier of the
  // thread that is about to sleep sees to that, or a fence here.
  [[nodiscard]] bool anyone_sleeps() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // GCC refuses to build std::atomic_thread_fence for ThreadSanitizer.
    if (needs_fence) __sync_synchronize();
    return sleepers->count.load(std::memory_order_relaxed) != 0;
  }
};

}  // namespace tutti::shm
