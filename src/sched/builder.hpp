// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The builder by which algorithms write a schedule.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

// Part `index` of `total` bytes cut into `parts` of nearly equal size. Cuts lie on multiples of a
// cache line (64 bytes, a multiple of every element size), so that no two ranks write one line. The
// last parts may be shorter or empty.
inline Range part_of(uint64_t total, int parts, int index) {
  const uint64_t lines = (total + 63) / 64;
  const auto n = static_cast<uint64_t>(parts);
  const auto i = static_cast<uint64_t>(index);
  const uint64_t begin = std::min(total, (lines * i / n) * 64);
  const uint64_t end = std::min(total, (lines * (i + 1) / n) * 64);
  return {begin, end - begin};
}

// The indices of the parts that are not empty, in ascending order; of many parts most may be empty.
inline std::vector<int> parts_with_data(uint64_t total, int parts) {
  const auto n = static_cast<uint64_t>(parts);
  const uint64_t lines = std::min((total + 63) / 64, n);
  std::vector<int> indices;
  for (uint64_t i = 1; i <= lines; ++i) {
    indices.push_back(static_cast<int>((i * n + lines - 1) / lines) - 1);
  }
  return indices;
}

// Steps without effect are dropped: of zero bytes, a copy onto itself, a fence with nothing to wait
// for. An empty message or block to be shown can have one: the other side may expect more, and must
// learn that it is wrong.
class Builder {
 public:
  explicit Builder(Schedule& schedule) : schedule_(schedule) {}

  void copy(Ref dst, Ref src, uint64_t bytes, bool non_temporal = false);
  // Reads a block from kPeerSend or kPeerRecv.
  void pull(Ref dst, Ref src, uint64_t bytes, bool non_temporal = false);
  // The head of a block of the send buffer, and what its receiver does with it: compares the
  // length.
  void write_head(Ref head, Ref src, uint64_t bytes);
  void expect(Ref head, uint64_t bytes);
  // Sources in the order in which they are to be combined. One source: a copy, but for `finishes`.
  void reduce(Ref dst, std::span<const Ref> sources, uint64_t bytes, bool finishes,
              bool non_temporal = false);
  void reduce(Ref dst, std::initializer_list<Ref> sources, uint64_t bytes, bool finishes,
              bool non_temporal = false) {
    reduce(dst, std::span<const Ref>(sources.begin(), sources.size()), bytes, finishes,
           non_temporal);
  }
  void send(int peer, Ref src, uint64_t bytes);
  void recv(int peer, Ref dst, uint64_t bytes);
  void send_even_empty(int peer, Ref src, uint64_t bytes);
  void recv_even_empty(int peer, Ref dst, uint64_t bytes);
  void fence();
  // The entry of a schedule in which peers pull: publishes tick 1 with the places of the buffers.
  void export_buffers();
  void publish(uint32_t tick);
  void await(int peer, uint32_t tick);
  void await_all(uint32_t tick) { await(kAllPeers, tick); }
  // Private memory on a cache line of its own; returns its place.
  Ref scratch(uint64_t bytes);
  void use_of_slots(uint64_t bytes) { schedule_.slot_extent = bytes; }
  // See "Ping-pong slots" in schedule.hpp; on all ranks, with the same number.
  void use_ping_pong_slots(uint64_t bytes) {
    schedule_.ping_pong_slots = true;
    use_of_slots(whole_lines(bytes));
  }
  // The highest tick of any rank, if this rank's own publishes do not reach it.
  void ticks(uint32_t highest) { schedule_.ticks = std::max(schedule_.ticks, highest); }

 private:
  Schedule& schedule_;
  bool sends_pending_ = false;  // sends are pending since the last fence
};

}  // namespace tutti
