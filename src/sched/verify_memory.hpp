// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of a proof: per rank and space, which value lies where, who wrote it when, and who has
// read it since. Kept by runs of bytes, not by bytes: a proof costs the same for any message size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sched/problem.hpp"
#include "sched/schedule.hpp"
#include "sched/verify_values.hpp"

namespace tutti {

// Consecutive bytes of one value: byte i of the run is byte index + i of the send buffers.
struct Run {
  uint64_t bytes;
  uint64_t index;
  ValueId value;
};

// A run in its place, written by step `step` of the owner at its time `epoch`.
struct Piece {
  uint64_t begin;
  uint64_t end;
  uint64_t index;
  ValueId value;
  uint32_t epoch;
  uint32_t step;
};

inline constexpr uint32_t kUnderWay = UINT32_MAX;

// Bytes read by step `step` of `rank` at its time `epoch`; kUnderWay: by a send not yet complete.
struct Reading {
  uint64_t begin;
  uint64_t end;
  int rank;
  uint32_t epoch;
  uint32_t step;
};

class Memory {
 public:
  // Intervals in ascending order; gaps between them are undefined.
  [[nodiscard]] std::span<const Piece> pieces(uint64_t begin, uint64_t end) const;
  // The runs follow one another from `begin`. Forgets who read what is overwritten.
  void write(uint64_t begin, std::span<const Run> runs, uint32_t epoch, uint32_t step);

  void add_reading(const Reading& reading);
  // All readings since the last write of their bytes.
  [[nodiscard]] std::span<const Reading> readings() const { return readings_; }
  // The sends of `rank` have finished reading at `epoch`.
  void end_sends(int rank, uint32_t epoch);

 private:
  void forget_readings(uint64_t begin, uint64_t end);

  std::vector<Piece> pieces_;
  std::vector<Reading> readings_;
  std::vector<Piece> replacement_;
};

// The vector clocks of all ranks. A rank's own time advances with each of its releases.
class Clocks {
 public:
  // Not `enabled`: the ranks share no memory, and everything counts as known.
  Clocks(int ranks, bool enabled);

  [[nodiscard]] bool knows(int rank, int peer, uint32_t epoch) const {
    return !enabled_ || now_[at(rank, peer)] >= epoch;
  }
  [[nodiscard]] uint32_t time(int rank) const { return enabled_ ? now_[at(rank, rank)] : 0; }
  // The present knowledge of `rank`, for acquire(); its own later steps are not part of it.
  size_t release(int rank);
  void acquire(int rank, size_t released);

 private:
  [[nodiscard]] size_t at(int rank, int peer) const {
    return static_cast<size_t>(rank) * ranks_ + static_cast<size_t>(peer);
  }

  size_t ranks_;
  bool enabled_;
  std::vector<uint32_t> now_;
  std::vector<uint32_t> released_;
};

// The problem of each rank: one for all, or one for each.
class Problems {
 public:
  explicit Problems(std::span<const Problem> problems) : problems_(problems) {}
  // Checks what is the same on all ranks.
  [[nodiscard]] const Problem& common() const { return problems_.front(); }
  [[nodiscard]] const Problem& of(int rank) const {
    return problems_.size() == 1 ? problems_.front() : problems_[static_cast<size_t>(rank)];
  }

 private:
  std::span<const Problem> problems_;
};

// A location in memory, where buffers may coincide: bytes from `begin`.
struct Location {
  int owner;
  Space space;
  uint64_t begin;
};
Location location_of(const Problems& problems, int rank, const Ref& ref);

// Whether the bytes lie inside the space as the problem lays it out for that rank, and not in a gap
// between blocks.
bool inside(const Problems& problems, int rank, uint64_t scratch_bytes, const Ref& ref,
            uint64_t bytes);

}  // namespace tutti
