// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/layout.hpp"

#include <algorithm>

#include "transports/shm/ping_pong.hpp"

namespace tutti::shm {
namespace {

// Within a lane's pages of lines.
constexpr uint64_t kCallsBytes = kCallLines * sizeof(CallLine);
constexpr uint64_t kProgressAt = kCallsBytes;
constexpr uint64_t kRecordsAt = kProgressAt + kInterferenceBytes;
constexpr uint64_t kRecordsBytes = kCallLines * sizeof(RecordLine);
constexpr uint64_t kFallbackAt = round_up(kRecordsAt + kRecordsBytes, kInterferenceBytes);
constexpr uint64_t kNotesAt = kFallbackAt + sizeof(FallbackLines);
static_assert(kNotesAt % kInterferenceBytes == 0 && kNotesAt + sizeof(Notes) <= kLinesBytes);

constexpr uint64_t unsigned_of(int value) { return static_cast<uint64_t>(value); }

}  // namespace

Layout::Layout(int ranks, int lanes, int channels, LaneMemorySizes sizes)
    : ranks_(unsigned_of(ranks)),
      lanes_(unsigned_of(lanes)),
      channels_(unsigned_of(channels)),
      sizes_(sizes) {
  static_assert(sizeof(Header) <= kInterferenceBytes);
  state_ = round_up(members().end(), kInterferenceBytes);
  sleepers_ = round_up(state_ + sizeof(SharedState), kInterferenceBytes);
  bells_ = round_up(sleepers_ + sizeof(Sleepers), kInterferenceBytes);
  signs_ = bells_ + ranks_ * kInterferenceBytes;
  life_signs_ = signs_ + ranks_ * kInterferenceBytes;
  departures_ = life_signs_ + ranks_ * kInterferenceBytes;
  regroup_ = departure(ranks).offset;
  open_rings_ = regroup_signs().end();
  open_rings_bytes_ = round_up((ranks_ + 63) / 64 * 8, kInterferenceBytes);
  lines_ = round_up(open_rings_ + channels_ * ranks_ * open_rings_bytes_, kPageBytes);

  slot_bytes_ = round_up(sizes.slots.slot_bytes, kPageBytes);
  ping_pong_slot_bytes_ =
      round_up(std::max(sizes.slots.slot_bytes, sizes.slots.ping_pong_bytes), kPageBytes);
  window_bytes_ = round_up(sizes.window_bytes, kPageBytes);
  const uint64_t of_each = ranks_ * lanes_;
  slots_ = lines_ + of_each * kLinesBytes;
  ping_pong_slots_ = slots_ + of_each * 2 * slot_bytes_;
  windows_ = ping_pong_slots_ + of_each * ping_pong_slot_bytes_;
  fallback_buffers_ = windows_ + of_each * window_bytes_;

  rings_ = fallback_buffers_ + of_each * kFallbackBytes;
  ring_bytes_ = kRingHeadBytes + ring_data_bytes(ranks_);
  ping_pong_bytes_ = ping_pong_bytes(ranks_);
  total_ = rings_ + channels_ * ranks_ * (ranks_ - 1) * (ring_bytes_ + ping_pong_bytes_);
}

Extent Layout::bell(int rank) const {
  return {bells_ + unsigned_of(rank) * kInterferenceBytes, sizeof(Bell)};
}

Extent Layout::arena_sign(int rank) const {
  return {signs_ + unsigned_of(rank) * kInterferenceBytes, sizeof(ArenaSign)};
}

Extent Layout::life_sign(int rank) const {
  return {life_signs_ + unsigned_of(rank) * kInterferenceBytes, sizeof(LifeSign)};
}

Extent Layout::departure(int rank) const {
  return {departures().end() + unsigned_of(rank) * sizeof(Departure), sizeof(Departure)};
}

Extent Layout::regroup_decision() const { return {regroup_, sizeof(RegroupDecision)}; }

Extent Layout::regroup_signs() const {
  return {regroup_decision().end(), ranks_ * sizeof(RegroupSign)};
}

Extent Layout::open_rings(int channel, int rank) const {
  return {open_rings_ + (unsigned_of(channel) * ranks_ + unsigned_of(rank)) * open_rings_bytes_,
          open_rings_bytes_};
}

Extent Layout::lines(int rank) const {
  return {lines_ + unsigned_of(rank) * lanes_ * kLinesBytes, lanes_ * kLinesBytes};
}

uint64_t Layout::lane_offset(int rank, int lane) const {
  return lines(rank).offset + unsigned_of(lane) * kLinesBytes;
}

Extent Layout::calls(int rank, int lane) const { return {lane_offset(rank, lane), kCallsBytes}; }

Extent Layout::records(int rank, int lane) const {
  return {lane_offset(rank, lane) + kRecordsAt, kRecordsBytes};
}

Extent Layout::progress(int rank, int lane) const {
  return {lane_offset(rank, lane) + kProgressAt, sizeof(ProgressLine)};
}

Extent Layout::slots(int lane) const {
  const uint64_t bytes = ranks_ * 2 * slot_bytes_;
  return {slots_ + unsigned_of(lane) * bytes, bytes};
}

Extent Layout::slot(int rank, int lane, int which) const {
  const uint64_t before = 2 * unsigned_of(rank) + unsigned_of(which);
  return {slots(lane).offset + before * slot_bytes_, sizes_.slots.slot_bytes};
}

Extent Layout::ping_pong_slots(int lane) const {
  const uint64_t bytes = ranks_ * ping_pong_slot_bytes_;
  return {ping_pong_slots_ + unsigned_of(lane) * bytes, bytes};
}

Extent Layout::ping_pong_slot(int rank, int lane) const {
  return {ping_pong_slots(lane).offset + unsigned_of(rank) * ping_pong_slot_bytes_,
          ping_pong_slot_bytes_};
}

Extent Layout::windows(int lane) const {
  const uint64_t bytes = ranks_ * window_bytes_;
  return {windows_ + unsigned_of(lane) * bytes, bytes};
}

Extent Layout::window(int rank, int lane) const {
  return {windows(lane).offset + unsigned_of(rank) * window_bytes_, sizes_.window_bytes};
}

Extent Layout::fallback_lines(int rank, int lane) const {
  return {lane_offset(rank, lane) + kFallbackAt, sizeof(FallbackLines)};
}

Extent Layout::notes(int rank, int lane) const {
  return {lane_offset(rank, lane) + kNotesAt, sizeof(Notes)};
}

Extent Layout::fallback_buffer(int rank, int lane) const {
  return {fallback_buffers_ + (unsigned_of(lane) * ranks_ + unsigned_of(rank)) * kFallbackBytes,
          kFallbackBytes};
}

Extent Layout::pair(int channel, int a, int b) const {
  const uint64_t bytes = 2 * (ring_bytes_ + ping_pong_bytes_);
  const uint64_t low = unsigned_of(std::min(a, b));
  const uint64_t high = unsigned_of(std::max(a, b));
  const uint64_t pairs = ranks_ * (ranks_ - 1) / 2;
  const uint64_t index = unsigned_of(channel) * pairs + high * (high - 1) / 2 + low;
  return {rings_ + index * bytes, bytes};
}

Extent Layout::ring(int channel, int from, int to) const {
  const uint64_t before = from < to ? 0 : ring_bytes_ + ping_pong_bytes_;
  return {pair(channel, from, to).offset + before, ring_bytes_};
}

Extent Layout::ping_pong(int channel, int from, int to) const {
  return {ring(channel, from, to).end(), ping_pong_bytes_};
}

Extent Layout::arena(int rank) const {
  return {round_up(total_, kHugePage) + unsigned_of(rank) * kArenaBytes, kArenaBytes};
}

}  // namespace tutti::shm
