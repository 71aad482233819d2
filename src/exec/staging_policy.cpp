// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Times loads of lines that peers have just written, and decides by them.
#include "exec/staging_policy.hpp"

#include "core/log.hpp"
#include "core/tuned.hpp"

namespace tutti {
namespace {

// So many calls lie between looks at one peer: prefetchers bring the records beside the one that is
// looked at, which may be written already if the peer is ahead.
constexpr uint32_t kCallsBetweenLooks = tuned::kCallsBetweenLooks;
// Calls that stage so much watch the ticks of their peers as well.
constexpr uint64_t kLeastWatched = tuned::kLeastWatched;

}  // namespace

StagingPolicy::StagingPolicy(int rank, int ranks, Staging setting, const RankNames& names)
    : rank_(rank),
      ranks_(ranks),
      setting_(setting),
      names_(names),
      distances_(static_cast<size_t>(ranks)),
      non_temporal_(setting == Staging::kMemory),
      peers_non_temporal_(non_temporal_) {}

// The look itself comes when a peer is seen to have entered the call: what it has just written is
// still in its caches. A rank that waits for nobody looks at once.
void StagingPolicy::plan_look(const Traits& traits, const CallLog& log) {
  if (ranks_ == 1) return;
  watches_ = traits.staged >= kLeastWatched;
  next_look_ = looked_at(log.call(), rank_, ranks_);
  looks_ = distances_[static_cast<size_t>(next_look_)].due(traits.staged);
  if (looks_ && traits.first_wait == 0) look(log, log.last_seen_entry(next_look_));
}

// At the peer's record of the call, which nobody reads but on an error.
void StagingPolicy::look(const CallLog& log, uint32_t call) {
  looks_ = false;
  Distance& distance = distances_[static_cast<size_t>(next_look_)];
  if (call - distance.mark() < kCallsBetweenLooks) return;
  distance.saw(load_ticks(&log.record_at(next_look_, call)), call);
  choose(next_look_);
}

// The rank has waited for this tick, so its line is here until the peer writes it, and the load
// that finds another tick is the one that brings it. (The first look at a tick may stand in line
// behind non-temporal stores.) A long call learns so within itself how far its peers are.
uint32_t StagingPolicy::watched_tick(int peer, CallLog& log) {
  const std::atomic<uint32_t>& tick = log.tick_of(peer);
  const uint32_t ticks = load_ticks(&tick);
  const uint32_t now = tick.load(std::memory_order_acquire);
  if (now != log.seen_tick(peer)) {
    distances_[static_cast<size_t>(peer)].saw_new(ticks);
    choose(peer);
  }
  return now;
}

void StagingPolicy::choose(int peer) {
  // Staging is written the same for all who read it.
  const DistancesKnown peers(distances_);
  // Where ranks share cores, some looks find a line in memory that is near when its writer runs. To
  // be misled by those at one peer costs a reader more than a writer.
  peers_non_temporal_ = 2 * peers.far > ranks_ - 1;
  const bool non_temporal = peers.mostly_far();
  if (non_temporal == non_temporal_) return;
  non_temporal_ = non_temporal;
  // Within a small call, which allocates nothing: so the number alone.
  log::debug(
      "{} of {} peers are far (a line of rank {} takes {} ticks, of memory {}): staging is {}",
      peers.far, peers.known, names_.number_of(peer), distances_[static_cast<size_t>(peer)].ticks(),
      memory_ticks(), non_temporal ? "written past the caches" : "left in the caches");
}

}  // namespace tutti
