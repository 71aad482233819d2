// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms whose blocks differ in size.
#pragma once

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {

// If every rank knows only its own sizes, a message goes even if it is empty: the other side may
// think otherwise.
inline void send_block_to(int peer, const Range& block, Builder& b) {
  b.send_even_empty(peer, block.bytes > 0 ? at_send(block) : send_at(0), block.bytes);
}
inline void recv_block_from(int peer, const Range& block, Builder& b) {
  b.recv_even_empty(peer, block.bytes > 0 ? at_recv(block) : recv_at(0), block.bytes);
}
inline void recv_block_from(int peer, const Range& block, Arrivals& arrivals, Builder& b) {
  b.recv_even_empty(peer, block.bytes > 0 ? arrivals.place_for(block) : recv_at(0), block.bytes);
}

// The time of a call in which every rank knows the sizes of its own blocks only (count 0). It is
// the mean over a short and a long block, for an algorithm must do for both.
template <double (*seconds)(const Problem&, const Machine&)>
double over_sizes(const Problem& q, const Machine& m) {
  if (q.count > 0) return seconds(q, m);
  const auto of_blocks = [&](uint64_t bytes) {
    Problem known = q;
    known.count = bytes / q.element_bytes;
    return seconds(known, m);
  };
  return (of_blocks(1 << 10) + of_blocks(64 << 10)) / 2;
}

}  // namespace tutti
