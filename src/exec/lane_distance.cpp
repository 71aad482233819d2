// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How far the peers of a lane are: see core/distance.hpp.
#include "core/log.hpp"
#include "exec/lane.hpp"

namespace tutti {
namespace {

// So many calls lie between looks at one peer: prefetchers bring the records beside the one that is
// looked at, which may be written already if the peer is ahead.
constexpr uint32_t kCallsBetweenLooks = 5;
// Calls that stage so much watch the ticks of their peers as well.
constexpr uint64_t kLeastWatched = 1 << 20;

}  // namespace

// At the beginning of a call that stages something. The look itself comes when a peer is seen to
// have entered this call: what it has just written is still in its caches. Who waits for nobody
// looks at once.
void Lane::plan_look() {
  if (ranks_ == 1) return;
  watches_ = part_->traits.staged >= kLeastWatched;
  next_look_ = looked_at(call_, rank_, ranks_);
  looks_ = distances_[static_cast<size_t>(next_look_)].due(part_->traits.staged);
  if (looks_ && part_->traits.first_wait == 0) {
    look(entered_[static_cast<size_t>(next_look_)]);
  }
}

// At the peer's record of the call, which nobody reads but on an error.
void Lane::look(uint32_t call) {
  looks_ = false;
  Distance& distance = distances_[static_cast<size_t>(next_look_)];
  if (call - distance.mark() < kCallsBetweenLooks) return;
  distance.saw(load_ticks(&record_at(next_look_, call)), call);
  choose_staging(next_look_);
}

// At the tick of a peer that the rank has waited for, so that its line is here until the peer
// writes it, and the load that finds another tick is the one that has brought it. (The first look
// at a tick may stand in line behind stores past the caches.) A call that is long learns so within
// itself how far its peers are.
uint32_t Lane::watched_tick(int peer) {
  const std::atomic<uint32_t>& tick = shared(peer).progress->tick;
  const uint32_t ticks = load_ticks(&tick);
  const uint32_t now = tick.load(std::memory_order_acquire);
  if (now != seen_[static_cast<size_t>(peer)]) {
    distances_[static_cast<size_t>(peer)].saw_new(ticks);
    choose_staging(peer);
  }
  return now;
}

void Lane::choose_staging(int peer) {
  // Staging is written the same for all who read it.
  const DistancesKnown peers(distances_);
  // Where ranks share cores, some looks find a line in memory that is near when its writer runs; to
  // be misled by those at one peer costs a reader more than a writer.
  peers_past_caches_ = 2 * peers.far > ranks_ - 1;
  const bool past_caches = peers.mostly_far();
  if (past_caches == past_caches_) return;
  past_caches_ = past_caches;
  // Within a small call, which allocates nothing: so no name_of().
  log::debug(
      "{} of {} peers are far (a line of rank {} takes {} ticks, of memory {}): staging is {}",
      peers.far, peers.known, number_of(peer), distances_[static_cast<size_t>(peer)].ticks(),
      memory_ticks(), past_caches ? "written past the caches" : "left in the caches");
}

}  // namespace tutti
