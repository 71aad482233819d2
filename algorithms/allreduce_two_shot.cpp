// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Two-shot allreduce: rank j owns slice j. Everyone stages what others own, reduces its own slice
// in rank order, and copies the other slices' results out. DeepSpeed's "distributed" form, with
// staging that stays in the cache: a message that fits a slot passes at once, a longer one in
// chunks through the windows. Own data is never staged; a slice's result lies where its owner's
// input would. T = (2 or chunks+2) sigma + 2n(p-1)/p handover + n gamma: moves the fewest bytes
// that private buffers permit.
#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {
namespace {

// Chunks and slices have the same place in every part of the window; only the last are shorter.
// Otherwise a chunk's inputs could lie where an earlier one's results are still being read.
struct Layout {
  uint64_t slice;
  int chunks;
};

bool fits_a_slot(const Problem& q) { return q.bytes() <= q.limits.slot_bytes; }

Layout layout_of(const Problem& q) {
  const auto ranks = static_cast<uint64_t>(q.ranks);
  if (fits_a_slot(q)) return {whole_lines((q.bytes() + ranks - 1) / ranks), 1};
  const uint64_t longest_chunk = chunk_limit(q) / (64 * ranks) * (64 * ranks);
  const auto slices = static_cast<uint64_t>(parts_of_at_most(q.bytes(), longest_chunk)) * ranks;
  const uint64_t slice = whole_lines((q.bytes() + slices - 1) / slices);
  return {slice, parts_of_at_most(q.bytes(), slice * ranks)};
}

class TwoShot {
 public:
  TwoShot(const Problem& q, Builder& b)
      : q_(q),
        b_(b),
        space_(fits_a_slot(q) ? Space::kSlot : Space::kWindow),
        layout_(layout_of(q)) {}

  void put(int chunk) {
    stage(chunk, 0, q_.rank);
    stage(chunk, q_.rank + 1, q_.ranks);
  }
  void work(int chunk) {
    const Range mine = slices(chunk, q_.rank, q_.rank + 1);
    b_.reduce(place(chunk, q_.rank, q_.rank),
              one_of_each_rank(q_, send_at(mine.offset), space_, place(chunk, 0, q_.rank).offset),
              mine.bytes, true);
  }
  void take(int chunk) {
    for (int i = 0; i < q_.ranks; ++i) {
      const int owner = rank_after(q_, i);  // not all from one rank at a time
      const Range slice = slices(chunk, owner, owner + 1);
      b_.copy(recv_at(slice.offset), place(chunk, owner, owner), slice.bytes,
              streams(q_, q_.bytes()));
    }
  }

 private:
  // Of the message.
  [[nodiscard]] Range slices(int chunk, int first, int end) const {
    const auto before = static_cast<uint64_t>(chunk) * static_cast<uint64_t>(q_.ranks);
    const uint64_t from = (before + static_cast<uint64_t>(first)) * layout_.slice;
    const uint64_t to = (before + static_cast<uint64_t>(end)) * layout_.slice;
    return {std::min(from, q_.bytes()), std::min(to, q_.bytes()) - std::min(from, q_.bytes())};
  }
  [[nodiscard]] Ref place(int chunk, int rank, int slice) const {
    const uint64_t part = space_ == Space::kSlot ? 0 : part_at(q_, chunk);
    return Ref::of(space_, part + static_cast<uint64_t>(slice) * layout_.slice, rank);
  }
  void stage(int chunk, int first, int end) {
    const Range range = slices(chunk, first, end);
    b_.copy(place(chunk, q_.rank, first), send_at(range.offset), range.bytes);
  }

  const Problem& q_;
  Builder& b_;
  Space space_;
  Layout layout_;
};

Applies applies(const Problem& q) { return fits_window(q, 64 * static_cast<uint64_t>(q.ranks)); }

double seconds(const Problem& q, const Machine& m) {
  const uint64_t others = all_but_own(q, q.bytes());
  const int syncs = fits_a_slot(q) ? 2 : layout_of(q).chunks + 2;
  return syncs * sync_s(q, m) + stage_s(q.bytes(), m) + 2 * fetch_s(others, m) +
         combine_s(q.bytes() - others, m) + copy_s(q.bytes() - others, m) + buffers_s(q, m) +
         q.ranks * m.step_s;
}

void build(const Problem& q, Builder& b) {
  TwoShot way(q, b);
  if (!fits_a_slot(q)) {
    return exchange_results(
        b, layout_of(q).chunks, [&](int i) { way.put(i); }, [&](int i) { way.work(i); },
        [&](int i) { way.take(i); });
  }
  way.put(0);
  b.publish(1);
  b.await_all(1);
  way.work(0);
  b.publish(2);
  b.await_all(2);
  way.take(0);
}

}  // namespace

const Algorithm allreduce_two_shot = {"two_shot",
                                      "each rank reduces a slice for all, pipelined",
                                      Collective::kAllreduce,
                                      true,
                                      applies,
                                      seconds,
                                      build};

}  // namespace tutti
