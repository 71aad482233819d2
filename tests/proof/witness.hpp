// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the ranks of a model know of one another, and when each has touched which shared memory. A
// rank learns the clock of a peer only from the entry or tick that it has to wait for, not from
// what it happens to see. So a run finds a byte that is read before it is written, or written again
// before it is read, even where its own order of steps hides that: one run stands for all orders in
// which the lanes see the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proof/watched_memory.hpp"
#include "transports/transport.hpp"

namespace tutti {

class Witness {
 public:
  Witness(int ranks, const LaneMemorySizes& sizes);
  Witness(const Witness&) = delete;

  // The memory that the ranks share.
  [[nodiscard]] std::span<const LaneMemory::Rank> shared() const { return shared_; }
  [[nodiscard]] int ranks() const { return static_cast<int>(ranks_.size()); }
  // Addresses of a rank's own buffers, at which there is nothing.
  [[nodiscard]] static std::byte* buffers_of(int rank);

  // What a rank does: it starts its next call, whose number is that of its lane,
  void starts(int rank, uint32_t call);
  // makes known that it is at a tick (1: its entry), and all that it knows with it,
  void releases(int rank, uint32_t tick);
  // has waited for a peer to be at a tick of a call,
  void learns(int rank, int peer, uint32_t call, uint32_t tick);
  // touches memory, which may be none that is shared,
  void writes(int rank, const void* at, uint64_t bytes);
  void reads(int rank, const void* at, uint64_t bytes);
  // reads a buffer of a peer, which is there from its entry into the call to its end,
  void pulls(int rank, int peer, uint64_t from, uint64_t bytes);
  // and ends the call.
  void ends(int rank);

  // The first thing that was wrong, by whom; empty: nothing was.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] int faulty_rank() const { return faulty_rank_; }
  void complain(int rank, const std::string& what);

 private:
  struct Release {
    uint32_t tick;
    Clock clock;
  };
  struct Rank {
    uint32_t call = 0;                           // that it is in, or was in last
    uint32_t ended = 0;                          // the last that it has ended
    Clock clock;                                 // by rank: how far it knows of it
    std::vector<std::vector<Release>> released;  // by call
    std::vector<uint32_t> pulled;                // by rank: when it read buffers of this call
  };
  struct Region {
    const std::byte* begin;
    WatchedMemory memory;
  };
  // What of the shared memory is not watched, for the log keeps it.
  struct Lines {
    std::vector<RecordLine> records = std::vector<RecordLine>(kCallLines);
    ProgressLine progress{};
    Departure departure{};
  };

  [[nodiscard]] Rank& at(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  Region* region_of(const void* at);

  std::vector<Rank> ranks_;
  std::vector<CallLine> memory_;  // of all ranks; lines, slots and windows
  std::vector<Lines> lines_;
  std::vector<LaneMemory::Rank> shared_;
  std::vector<Region> regions_;
  std::string fault_;
  int faulty_rank_ = -1;
};

}  // namespace tutti
