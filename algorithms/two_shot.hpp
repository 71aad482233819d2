// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of the two-shot algorithms: rank j owns slice j, and everyone stages what others
// own. A message that fits a slot passes at once, a longer one in chunks through the windows. Own
// data is never staged; a slice's result lies where its owner's input would.
#pragma once

#include "algorithms/cost.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

class TwoShot {
 public:
  TwoShot(const Problem& q, Builder& b) : q_(q), b_(b), slicing_(slicing_of(q)) {}

  static Applies applies(const Problem& q) {
    return fits_buffers(q, window_buffers(q), 64 * static_cast<uint64_t>(q.ranks));
  }
  // How often all ranks wait for one another.
  static int waits(const Problem& q) { return fits_a_slot(q) ? 2 : slicing_of(q).chunks + 2; }

  // The time of writing the staged data, to slots or windows.
  static double write_s(const Problem& q, uint64_t bytes, const Machine& m) {
    return fits_a_slot(q) ? slot_write_s(q, bytes, m) : window_write_s(q, bytes, m);
  }
  static double read_s(const Problem& q, uint64_t bytes, const Machine& m) {
    return fits_a_slot(q) ? slot_read_s(q, bytes, m) : window_read_s(q, bytes, m);
  }

  // work(chunk) reduces the own slice, take(chunk) reads the results.
  template <typename Work, typename Take>
  void build(Work work, Take take) {
    if (!fits_a_slot(q_)) {
      return exchange_results(
          b_, slicing_.chunks, [&](int chunk) { put(chunk); }, work, take);
    }
    b_.use_ping_pong_slots(q_.bytes());
    put(0);
    b_.publish(1);
    b_.await_all(1);
    work(0);
    b_.publish(2);
    b_.await_all(2);
    take(0);
  }

  // The own slice of a chunk: where it lies in the message, and in the staging.
  [[nodiscard]] uint64_t own_offset(int chunk) const {
    return slices(chunk, q_.rank, q_.rank + 1).offset;
  }
  [[nodiscard]] Ref own_result(int chunk) const { return place(chunk, q_.rank, q_.rank); }

  void reduce_own(int chunk, Ref dst) {
    const Range mine = slices(chunk, q_.rank, q_.rank + 1);
    const Ref staged = place(chunk, 0, q_.rank);
    b_.reduce(dst, one_of_each_rank(q_, send_at(mine.offset), staged.space(), staged.offset),
              mine.bytes, true);
  }
  void copy_result(int chunk, int owner) {
    const Range slice = slices(chunk, owner, owner + 1);
    b_.copy(recv_at(slice.offset), place(chunk, owner, owner), slice.bytes,
            stores_non_temporal(q_, q_.bytes()));
  }

 private:
  // Chunks and slices have the same place in every buffer of the window; only the last are shorter.
  // Otherwise a chunk's inputs could lie where an earlier one's results are still being read.
  struct Slicing {
    uint64_t slice;
    int chunks;
  };

  static bool fits_a_slot(const Problem& q) { return q.bytes() <= q.ping_pong_slot_bytes(); }

  static Slicing slicing_of(const Problem& q) {
    const auto ranks = static_cast<uint64_t>(q.ranks);
    if (fits_a_slot(q)) return {whole_lines((q.bytes() + ranks - 1) / ranks), 1};
    const uint64_t longest_chunk = window_buffers(q).chunk_bytes / (64 * ranks) * (64 * ranks);
    const auto slices = static_cast<uint64_t>(parts_of_at_most(q.bytes(), longest_chunk)) * ranks;
    const uint64_t slice = whole_lines((q.bytes() + slices - 1) / slices);
    return {slice, parts_of_at_most(q.bytes(), slice * ranks)};
  }

  // Slices of the message.
  [[nodiscard]] Range slices(int chunk, int first, int end) const {
    const auto before = static_cast<uint64_t>(chunk) * static_cast<uint64_t>(q_.ranks);
    const uint64_t from = (before + static_cast<uint64_t>(first)) * slicing_.slice;
    const uint64_t to = (before + static_cast<uint64_t>(end)) * slicing_.slice;
    return {std::min(from, q_.bytes()), std::min(to, q_.bytes()) - std::min(from, q_.bytes())};
  }
  [[nodiscard]] Ref place(int chunk, int rank, int slice) const {
    const uint64_t offset = static_cast<uint64_t>(slice) * slicing_.slice;
    if (fits_a_slot(q_)) return Ref::of(Space::kSlot, offset, rank);
    return Ref::of(Space::kWindow, window_buffers(q_).at(chunk) + offset, rank);
  }
  void put(int chunk) {
    stage(chunk, 0, q_.rank);
    stage(chunk, q_.rank + 1, q_.ranks);
  }
  void stage(int chunk, int first, int end) {
    const Range range = slices(chunk, first, end);
    b_.copy(place(chunk, q_.rank, first), send_at(range.offset), range.bytes);
  }

  const Problem& q_;
  Builder& b_;
  Slicing slicing_;
};

}  // namespace tutti
