// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Decides by the times of loads of lines that peers have just written.
#include "adapt/store_policy.hpp"

#include "core/log.hpp"

namespace tutti {
namespace {

// Prefetchers bring the lines beside the one that is probed, which may be written already if
// the peer is ahead.
constexpr uint32_t kCallsBetweenProbes = 5;
// Shorter calls are spared the timing of loads.
constexpr uint64_t kLeastWatchedBytes = 1 << 20;

}  // namespace

StorePolicy::StorePolicy(int rank, int ranks, StoreTarget setting, uint32_t memory)
    : rank_(rank),
      ranks_(ranks),
      setting_(setting),
      distances_(static_cast<size_t>(ranks), Distance(memory)),
      non_temporal_(setting == StoreTarget::kMemory) {}

void StorePolicy::plan_probe(uint32_t call, uint64_t staged_bytes) {
  if (ranks_ == 1) return;
  watches_ = staged_bytes >= kLeastWatchedBytes;
  next_probed_ = probed_peer(call, rank_, ranks_);
  probes_ = distances_[static_cast<size_t>(next_probed_)].count_and_ask_if_due(staged_bytes);
}

void StorePolicy::probe(const void* line, uint32_t call) {
  probes_ = false;
  Distance& distance = distances_[static_cast<size_t>(next_probed_)];
  if (call - distance.mark() < kCallsBetweenProbes) return;
  distance.saw(load_cycles(line), call);
  choose(next_probed_);
}

void StorePolicy::saw_load(int peer, uint32_t cycles) {
  distances_[static_cast<size_t>(peer)].saw_new(cycles);
  choose(peer);
}

// Staging is written the same for all who read it.
void StorePolicy::choose(int peer) {
  const DistancesKnown peers(distances_);
  const bool non_temporal = peers.mostly_far();
  if (non_temporal == non_temporal_) return;
  non_temporal_ = non_temporal;
  // Within a small call, which allocates nothing: so numbers alone.
  log::debug(
      "{} of {} peers are far (a line of the last takes {} cycles, of memory {}): staging is {}",
      peers.far, peers.known, distances_[static_cast<size_t>(peer)].cycles(), memory_cycles(),
      non_temporal ? "written past the caches" : "left in the caches");
}

}  // namespace tutti
