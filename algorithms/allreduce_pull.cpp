// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce by pulling. Rank j owns slice j, reads it from all send buffers, and reduces it in rank
// order into its receive buffer. It then reads the other slices from their owners' receive buffers.
// Reduce-scatter and allgather as in Rabenseifner (2004), with the single copies of kernel-assisted
// MPI libraries (Chakraborty, Subramoni, Panda, CLUSTER 2017). Ranks that can read one another's
// buffers. T = 3 sigma + 2(p-1) pi + 2n(p-1)/p pull + n gamma, where pi is the start of a pull.
#include "algorithms/cost.hpp"
#include "algorithms/pull.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t slice = q.bytes() / static_cast<uint64_t>(q.ranks);
  // Pulls that are plain copies are part of what is touched.
  const uint64_t touched = q.limits.maps_peers ? 3 * q.bytes() - slice : 2 * slice;
  return 3 * sync_s(q, m) + (q.ranks - 1) * (pull_s(q, slice, m) + pull_fresh_s(q, slice, m)) +
         combine_s(q.bytes(), m) + touch_s(q, touched, m);
}

void build(const Problem& q, Builder& b) {
  const bool non_temporal = pulls_non_temporal(q, q.bytes());
  b.export_buffers();
  b.await_all(1);
  const Range mine = part_of(q.bytes(), q.ranks, q.rank);
  reduce_by_pulling(q, b, recv_at(mine.offset), mine.offset, mine.bytes, non_temporal);
  b.publish(2);
  for_each_peer(q, [&](int owner) {
    const Range slice = part_of(q.bytes(), q.ranks, owner);
    b.await(owner, 2);
    b.pull(recv_at(slice.offset), Ref::of(Space::kPeerRecv, slice.offset, owner), slice.bytes,
           non_temporal);
  });
  b.publish(3);
  b.await_all(3);
}

}  // namespace

const Algorithm allreduce_pull = {
    .name = "pull",
    .summary = "each rank reads and reduces its slice, then reads the others'",
    .collective = Collective::kAllreduce,
    .rank_order = true,
    .applies = can_pull,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
