// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Words in shared memory that tell of the end of a thread at once, however it ends. The kernel
// frees the memory of a process before it lets anybody know that the process has ended. That takes
// a tenth of a second and more for each gigabyte. But before that it marks the words of the robust
// futexes that each thread holds: see get_robust_list(2). Only if the memory of the thread is
// sound, so somebody has to look for the end of the process as well.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/wait.hpp"

namespace tutti {

// Zeroed at first. Written by the thread that signs it and by the kernel.
struct alignas(2 * kCacheLine) LifeSign {
  robust_list node;              // the kernel's: an address in the process that signs
  std::atomic<uint32_t> signer;  // the number of the thread; 0: none yet, or no longer
};

// Whether the thread that had signed it has ended.
inline bool has_ended(const LifeSign& sign) {
  return (sign.signer.load(std::memory_order_acquire) & FUTEX_OWNER_DIED) != 0;
}

// The signs of one thread. Not for several threads at once.
class LifeSigns {
 public:
  // Signs in the thread, which takes no robust mutexes; while it runs, this stays in place.
  void begin();
  // Any thread may sign and withdraw. Nothing is ever signed if the kernel lacks robust futexes.
  void sign(LifeSign& sign);
  void withdraw(LifeSign& sign);

 private:
  robust_list_head head_{};
  uint32_t thread_ = 0;  // 0: the kernel does not look
  // Own copy of the list: what others write there counts for nothing.
  std::vector<LifeSign*> signed_;
};

}  // namespace tutti
