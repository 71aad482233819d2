// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What algorithms share in which one rank, the root, reads what all others give it, or gives them
// what they read.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

inline int parts_of_window(const Problem& q) {
  return static_cast<int>(q.limits.window_bytes / chunk_limit(q));
}

// put(i) writes chunk i to the own window, on all ranks but the root; take(i) reads it from all
// windows, on the root, which keep(i) gives something else to do before it waits for that. Tick
// i+2: chunk i is in the window, or (of the root) no longer needed there.
template <typename Put, typename Keep, typename Take>
void collect_chunks(const Problem& q, Builder& b, int chunks, Put put, Keep keep, Take take) {
  const int parts = parts_of_window(q);
  b.publish(1);
  b.ticks(static_cast<uint32_t>(chunks) + 1);
  if (q.rank != q.root && chunks > 0) b.await_all(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 2;
    if (q.rank != q.root) {
      if (i >= parts) b.await(q.root, tick - static_cast<uint32_t>(parts));
      put(i);
      b.publish(tick);
    } else {
      keep(i);
      b.await_all(tick);
      take(i);
      if (i + parts < chunks) b.publish(tick);  // nobody waits for later ones
    }
  }
}

// The other way: put(i) writes chunk i to the root's window, take(i) reads it on the others.
template <typename Put, typename Take>
void distribute_chunks(const Problem& q, Builder& b, int chunks, Put put, Take take) {
  const int parts = parts_of_window(q);
  b.publish(1);
  b.ticks(static_cast<uint32_t>(chunks) + 1);
  if (q.rank == q.root && chunks > 0) b.await_all(1);
  for (int i = 0; i < chunks; ++i) {
    const auto tick = static_cast<uint32_t>(i) + 2;
    if (q.rank == q.root) {
      if (i >= parts) b.await_all(tick - static_cast<uint32_t>(parts));
      put(i);
      b.publish(tick);
    } else {
      b.await(q.root, tick);
      take(i);
      if (i + parts < chunks) b.publish(tick);
    }
  }
}

}  // namespace tutti
