// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// With which stores a rank writes to staging: ordinary ones, or non-temporal ones, which go past
// the caches. These pay where most peers are far (adapt/distance.hpp). That is found out while
// calls run: now and then a rank times the load of a line that a peer has just written. One thread
// at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "adapt/distance.hpp"

namespace tutti {

class StorePolicy {
 public:
  // Any setting but kAuto is final. `memory`: how many cycles a load from memory takes.
  StorePolicy(int rank, int ranks, StoreTarget setting, uint32_t memory = memory_cycles());

  // A call begins, in which so many bytes are staged.
  void start(uint32_t call, uint64_t staged_bytes) {
    probes_ = watches_ = false;
    if (staged_bytes > 0 && setting_ == StoreTarget::kAuto) plan_probe(call, staged_bytes);
  }
  // Whether the rank is to time a load in this call, and of which peer's line. That line must be
  // one that the peer has just written and that no other rank reads.
  [[nodiscard]] bool probes() const { return probes_; }
  [[nodiscard]] bool probes_peer(int peer) const { return probes_ && peer == next_probed_; }
  [[nodiscard]] int next_probed() const { return next_probed_; }
  void probe(const void* line, uint32_t call);
  // Whether to time loads of a peer's tick: the rank waits for it, so it has the line until the
  // peer writes it again. In this way a long call finds out how far its peers are while it runs.
  [[nodiscard]] bool watches(int peer) const { return watches_ && awaited_ == peer; }
  // The last look at the tick of `peer` found that it was there, or not yet.
  void note_awaited(int peer, bool there) { awaited_ = there ? -1 : peer; }
  // The load that brought another tick of the peer took so many cycles.
  void saw_load(int peer, uint32_t cycles);

  [[nodiscard]] bool writes_non_temporal() const { return non_temporal_; }

 private:
  void plan_probe(uint32_t call, uint64_t staged_bytes);
  void choose(int peer);

  const int rank_;
  const int ranks_;
  const StoreTarget setting_;
  std::vector<Distance> distances_;  // of the peers, by rank
  int next_probed_ = 0;              // the peer that may be probed in this call
  bool probes_ = false;              // this call probes
  bool watches_ = false;             // whether ticks tell how far peers are
  int awaited_ = -1;                 // the peer, if the last look at its tick was in vain
  bool non_temporal_;
};

}  // namespace tutti
