// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pipelined broadcast through the root's window: the root fills its pieces in turn, all others copy
// them out and tell when they have. Any length.
// T = 2 sigma + (n + piece) handover: filling overlaps copying out, but for the first piece.
#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {
namespace {

// Pieces in the window at once. Short ones, because nobody copies out while the root fills the
// first.
constexpr int kDepth = 4;
constexpr uint64_t kShortest = 64;

uint64_t piece_limit(const Problem& q) {
  const uint64_t piece = std::min(q.limits.chunk_bytes / 2, q.limits.window_bytes / kDepth);
  return std::max(piece / kShortest * kShortest, kShortest);
}

int pieces_of(const Problem& q) { return parts_of_at_most(q.bytes(), piece_limit(q)); }

Ref place(const Problem& q, int piece) {
  return Ref::of(Space::kWindow, static_cast<uint64_t>(piece % kDepth) * piece_limit(q), q.root);
}

Applies applies(const Problem& q) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (q.limits.window_bytes < kDepth * kShortest) {
    return {false, "the window is too small (TUTTI_SHM_WINDOW_BYTES)"};
  }
  return {};
}

double seconds(const Problem& q, const Machine& m) {
  const uint64_t piece = std::min(q.bytes(), piece_limit(q));
  return 2 * sync_s(q, m) + stage_s(piece, m) + fetch_s(q.bytes(), m) + buffers_s(q, m) +
         pieces_of(q) * m.line_s;
}

// Tick i+2: piece i is in the window (root), or no longer needed there (others).
void build_root(const Problem& q, Builder& b) {
  const int pieces = pieces_of(q);
  b.await_all(1);
  for (int i = 0; i < pieces; ++i) {
    const Range piece = part_of(q.bytes(), pieces, i);
    if (i >= kDepth) b.await_all(static_cast<uint32_t>(i - kDepth) + 2);
    b.copy(place(q, i), recv_at(piece.offset), piece.bytes);
    b.publish(static_cast<uint32_t>(i) + 2);
  }
}

void build_other(const Problem& q, Builder& b) {
  const int pieces = pieces_of(q);
  for (int i = 0; i < pieces; ++i) {
    const Range piece = part_of(q.bytes(), pieces, i);
    const auto tick = static_cast<uint32_t>(i) + 2;
    b.await(q.root, tick);
    b.copy(recv_at(piece.offset), place(q, i), piece.bytes, streams(q, q.bytes()));
    if (i + kDepth < pieces) b.publish(tick);  // the root waits for no more than these
  }
}

void build(const Problem& q, Builder& b) {
  b.publish(1);
  b.ticks(static_cast<uint32_t>(pieces_of(q)) + 1);
  if (q.rank == q.root) return build_root(q, b);
  build_other(q, b);
}

}  // namespace

const Algorithm broadcast_flat = {"flat",
                                  "everyone copies from the root's window, pipelined",
                                  Collective::kBroadcast,
                                  true,
                                  applies,
                                  seconds,
                                  build};

}  // namespace tutti
