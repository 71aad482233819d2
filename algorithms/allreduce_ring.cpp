// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ring allreduce (Patarasuk & Yuan, JPDC 2009): a reduce-scatter around the ring, then an allgather
// around it, in rounds. Any number of ranks; adds in the order of the ring. T = 2(p-1) alpha +
// 2n(p-1)/p beta + n(p-1)/p gamma; n bytes, p ranks. It is optimal in bandwidth, but latency grows
// with p, so it suits large n.
#include <algorithm>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

// Between two, longer slices take less time; around a ring, what is asked for waits at each rank
// behind what that rank sends itself.
uint64_t slice_bytes(const Problem& q) { return q.ranks > 2 ? kUnaskedBytes : kSegmentBytes; }

double seconds(const Problem& q, const Machine& m) {
  const uint64_t block = q.bytes() / static_cast<uint64_t>(q.ranks);
  return 2 * (q.ranks - 1) *
             (start_s(std::min(block, slice_bytes(q)), m) +
              static_cast<double>(block) * m.message_byte_s) +
         combine_s(2 * all_but_own(q, q.bytes()), m) + buffers_s(q, m);
}

// The data that goes around the ring at once: a part of the buffer, a slice of it per rank.
class Round {
 public:
  Round(const Problem& q, Range range) : q_(q), range_(range) {}

  // Step 0 to p-1 of the reduce-scatter, after which this rank has the result of the next rank's
  // slice.
  void reduce_around(int step, Places& places, Builder& b) const {
    const Range slice = slice_of(rank_after(q_, -step));
    if (step == 0) return b.send(rank_after(q_, 1), send_at(slice.offset), slice.bytes);
    const bool last = step == q_.ranks - 1;
    const Ref sum = recv_at(slice.offset);
    const Ref arrived = places.next();
    b.recv(rank_after(q_, -1), arrived, slice.bytes);
    b.reduce(sum, {arrived, send_at(slice.offset)}, slice.bytes, last);
    if (!last) b.send(rank_after(q_, 1), sum, slice.bytes);
  }

  // Step 0 to p-1 of the allgather.
  void gather_around(int step, Builder& b) const {
    const Range slice = slice_of(rank_after(q_, 1 - step));
    if (step > 0) b.recv(rank_after(q_, -1), recv_at(slice.offset), slice.bytes);
    if (step < q_.ranks - 1) b.send(rank_after(q_, 1), recv_at(slice.offset), slice.bytes);
  }

 private:
  [[nodiscard]] Range slice_of(int rank) const {
    const Range slice = part_of(range_.bytes, q_.ranks, rank);
    return {range_.offset + slice.offset, slice.bytes};
  }

  const Problem& q_;
  const Range range_;
};

// The steps of a round in which some rank has a slice to pass on to this one, or this one to the
// next.
std::vector<int> steps_with_data(const Problem& q, const Range& range) {
  std::vector<int> steps;
  for (const int slice : parts_with_data(range.bytes, q.ranks)) {
    for (const int step : {q.rank - slice, q.rank + 1 - slice}) {  // slices to reduce and to gather
      steps.push_back((step + q.ranks) % q.ranks);
    }
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// The reduce-scatter of a round and the allgather of the one before take turns. So the ring is
// never idle, and data under way is still in the cache.
void build(const Problem& q, Builder& b) {
  const uint64_t most = slice_bytes(q);
  const int rounds = parts_of_at_most(q.bytes(), most * static_cast<uint64_t>(q.ranks));
  Places places(b, std::min(q.bytes(), most));
  const std::vector<int> steps = steps_with_data(q, part_of(q.bytes(), std::max(rounds, 1), 0));
  for (int i = 0; i <= rounds; ++i) {
    for (const int step : steps) {
      if (i < rounds) Round(q, part_of(q.bytes(), rounds, i)).reduce_around(step, places, b);
      if (i > 0) Round(q, part_of(q.bytes(), rounds, i - 1)).gather_around(step, b);
    }
    b.fence();  // sent data is about to be overwritten
  }
}

}  // namespace

const Algorithm allreduce_ring = {.name = "ring",
                                  .summary = "messages around a ring, in rounds",
                                  .collective = Collective::kAllreduce,
                                  .rank_order = false,
                                  .applies = always,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
