// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// With which stores a lane writes slots and windows: ordinary ones, or non-temporal ones that go
// past the caches. The latter pay where most peers are far (adapt/distance.hpp), which is found out
// while calls run: now and then a load of a line that a peer has just written is timed. One thread
// at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "adapt/distance.hpp"
#include "exec/call_log.hpp"
#include "exec/plan.hpp"
#include "exec/rank_names.hpp"
#include "kernels/copy.hpp"

namespace tutti {

class StagingPolicy {
 public:
  // Anything but kAuto decides once and for all. `names` outlive the policy.
  StagingPolicy(int rank, int ranks, Staging setting, const RankNames& names);

  // A call begins in which so much is staged.
  void start(const Traits& traits, const CallLog& log) {
    looks_ = watches_ = false;
    if (traits.staged > 0 && setting_ == Staging::kAuto) plan_look(traits, log);
  }
  // The peer, or all (kAllPeers), was seen to have got on in the current call.
  void saw(int peer, const CallLog& log) {
    if (looks_ && (peer == kAllPeers || peer == next_look_)) [[unlikely]]
      look(log, log.call());
  }
  // The tick of a peer, which the rank waits for.
  uint32_t tick_of(int peer, CallLog& log) {
    const bool watches = watches_ && awaited_ == peer;
    return watches ? watched_tick(peer, log) : log.tick_of(peer).load(std::memory_order_acquire);
  }
  // The last look at the tick of `peer` found that it was there, or not yet.
  void waits_for(int peer, bool there) { awaited_ = there ? -1 : peer; }

  [[nodiscard]] bool writes_non_temporal() const { return non_temporal_; }
  // Whether the step writes its destination so, and how it copies.
  [[nodiscard]] bool is_non_temporal(const Step& step, const Plan::Part& part) const {
    return step.streams || (non_temporal_ && !part.ping_pong_slots &&
                            step.dst.base >= kPrivateSpaces && step.bytes >= kLeastNonTemporal);
  }
  [[nodiscard]] CopyHint hint_of(const Step& step, const Plan::Part& part) const {
    if (is_non_temporal(step, part)) return CopyHint::kNonTemporal;
    if (step.src.base < kPrivateSpaces) {
      return part.ping_pong_slots ? CopyHint::kToRing : CopyHint::kToOthers;
    }
    // Peers are as far from this rank as it is from them, so most of them write alike.
    if (peers_non_temporal_ && !part.ping_pong_slots) return CopyHint::kFromMemory;
    return part.is_long ? CopyHint::kLongFromOthers : CopyHint::kFromOthers;
  }

 private:
  void plan_look(const Traits& traits, const CallLog& log);
  void look(const CallLog& log, uint32_t call);
  uint32_t watched_tick(int peer, CallLog& log);
  void choose(int peer);

  const int rank_;
  const int ranks_;
  const Staging setting_;
  const RankNames& names_;
  std::vector<Distance> distances_;  // by peer
  int next_look_ = 0;                // the peer that may be looked at in this call
  bool looks_ = false;               // whether it is
  bool watches_ = false;             // whether ticks tell how far peers are: watched_tick()
  int awaited_ = -1;                 // the peer, if the last look at its tick was in vain
  bool non_temporal_;
  bool peers_non_temporal_;
};

}  // namespace tutti
