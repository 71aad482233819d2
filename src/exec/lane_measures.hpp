// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a lane measures while it runs calls: how long the arms of a call take, and how long lines
// take that a peer has written.
#pragma once

#include "core/clock.hpp"
#include "exec/lane.hpp"

namespace tutti {

template <typename Components>
[[gnu::noinline]] void BasicLane<Components>::start_trial() {
  const Arms& arms = plan_->arms;
  const size_t arm = trials_.start(arms, block_bytes(), trials_.decides(arms) ? now_s() : 0);
  if (arm > 0) lane_plan_ = lane_plan_->other_arms[arm - 1].get();
}

template <typename Components>
[[gnu::noinline]] void BasicLane<Components>::finish_trial() {
  const CallTrials::Ended ended = {
      .collective = arguments_->collective,
      .block_bytes = block_bytes(),
      .ranks = ranks_,
      .reads_peers = lane_plan_->schedule.exports_buffers,
      .slots_are_new = lane_plan_->slot_extent > 0 && slots_.is_new(log_.call()),
      .at_s = trials_.is_timed() ? now_s() : 0};
  const std::byte* payload = log_.line_of(plan_->arms.coordinator, log_.call()).payload;
  trials_.finish(plan_->arms, ended, payload + kBufferAddressesBytes);
}

// Times a load of a peer's record of the call, which no other rank reads unless a call fails.
template <typename Components>
[[gnu::noinline]] void BasicLane<Components>::time_load(uint32_t call) {
  store_policy_.probe(&log_.record_at(store_policy_.next_probed(), call), call);
}

// The load that finds a new tick is the one that has fetched its line from the writer.
template <typename Components>
[[gnu::noinline]] uint32_t BasicLane<Components>::watched_tick(int peer) {
  const std::atomic<uint32_t>& tick = log_.tick_of(peer);
  const uint32_t cycles = load_cycles(&tick);
  const uint32_t now = tick.load(std::memory_order_acquire);
  if (now != log_.seen_tick(peer)) store_policy_.saw_load(peer, cycles);
  return now;
}

}  // namespace tutti
