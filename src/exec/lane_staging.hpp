// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// With which stores a lane writes to staging, as adapt/staging_policy.hpp decides, and the timed
// loads of peers' lines from which the policy learns. One thread at a time.
#pragma once

#include <cstdint>

#include "adapt/staging_policy.hpp"
#include "exec/call_log.hpp"
#include "exec/plan.hpp"
#include "kernels/copy.hpp"

namespace tutti {

class LaneStaging {
 public:
  LaneStaging(int rank, int ranks, Staging setting) : policy_(rank, ranks, setting) {}

  // A rank that waits for nobody times its load at once. Others do so when they see that the peer
  // has entered the call: then the line is still in the caches of its writer.
  void start(const Traits& traits, const CallLog& log) {
    policy_.start(log.call(), traits.staged);
    if (policy_.looks() && traits.first_wait == 0) [[unlikely]]
      look(log, log.last_seen_entry(policy_.next_look()));
  }
  // A new entry or tick of the peer, or of all (kAllPeers), was seen in the current call.
  void saw(int peer, const CallLog& log) {
    if (policy_.looks() && (peer == kAllPeers || policy_.looks_at(peer))) [[unlikely]]
      look(log, log.call());
  }
  // The tick of a peer, which the rank waits for.
  uint32_t tick_of(int peer, CallLog& log) {
    return policy_.watches(peer) ? watched_tick(peer, log)
                                 : log.tick_of(peer).load(std::memory_order_acquire);
  }
  void waits_for(int peer, bool there) { policy_.waits_for(peer, there); }

  [[nodiscard]] bool writes_non_temporal() const { return policy_.writes_non_temporal(); }
  // Whether the step uses non-temporal stores, and the hint for its copy.
  [[nodiscard]] bool is_non_temporal(const Step& step, const ScheduledPlan& part) const {
    return step.streams || (writes_non_temporal() && !part.ping_pong_slots &&
                            step.dst.base >= kPrivateSpaces && step.bytes >= kLeastNonTemporal);
  }
  [[nodiscard]] CopyHint hint_of(const Step& step, const ScheduledPlan& part) const {
    if (is_non_temporal(step, part)) return CopyHint::kNonTemporal;
    if (step.src.base < kPrivateSpaces) {
      return part.ping_pong_slots ? CopyHint::kToRing : CopyHint::kToOthers;
    }
    // Peers are as far from this rank as it is from them, so most of them write alike.
    if (policy_.peers_write_non_temporal() && !part.ping_pong_slots) return CopyHint::kFromMemory;
    return part.is_long ? CopyHint::kLongFromOthers : CopyHint::kFromOthers;
  }

 private:
  // Times a load of the peer's record of the call, which no other rank reads unless a call fails.
  [[gnu::noinline]] void look(const CallLog& log, uint32_t call) {
    policy_.look(&log.record_at(policy_.next_look(), call), call);
  }
  // The load that finds a new tick is the one that has fetched its line from the writer.
  [[gnu::noinline]] uint32_t watched_tick(int peer, CallLog& log) {
    const std::atomic<uint32_t>& tick = log.tick_of(peer);
    const uint32_t ticks = load_ticks(&tick);
    const uint32_t now = tick.load(std::memory_order_acquire);
    if (now != log.seen_tick(peer)) policy_.saw_tick(peer, ticks);
    return now;
  }

  StagingPolicy policy_;
};

}  // namespace tutti
