// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/layout.hpp"

#include <algorithm>

#include "transports/shm/carriers.hpp"

namespace tutti::shm {
namespace {

// Within a lane's pages of lines.
constexpr uint64_t kCallsBytes = kCallLines * sizeof(CallLine);
constexpr uint64_t kProgressAt = kCallsBytes;
constexpr uint64_t kDepartureAt = kProgressAt + kApart;
constexpr uint64_t kRecordsAt = kDepartureAt + kApart;
constexpr uint64_t kRecordsBytes = kCallLines * sizeof(RecordLine);
constexpr uint64_t kWishesAt = round_up(kRecordsAt + kRecordsBytes, kApart);
static_assert(kWishesAt + sizeof(WishLines) <= kLinesBytes);

constexpr uint64_t unsigned_of(int value) { return static_cast<uint64_t>(value); }

}  // namespace

Layout::Layout(int ranks, int lanes, int channels, WindowSizes sizes)
    : ranks_(unsigned_of(ranks)),
      lanes_(unsigned_of(lanes)),
      channels_(unsigned_of(channels)),
      sizes_(sizes) {
  state_ = round_up(sizeof(Header), kApart);
  sleepers_ = round_up(state_ + sizeof(SharedState), kApart);
  bells_ = round_up(sleepers_ + sizeof(Sleepers), kApart);
  signs_ = bells_ + ranks_ * kApart;
  regroup_ = signs_ + ranks_ * kApart;
  doors_ = regroup_signs().end();
  door_bytes_ = round_up((ranks_ + 63) / 64 * 8, kApart);
  ranks_begin_ = round_up(doors_ + channels_ * ranks_ * door_bytes_, kPageBytes);

  slot_bytes_ = round_up(sizes.slot_bytes, kPageBytes);
  traded_bytes_ = round_up(std::max(sizes.slot_bytes, sizes.traded_bytes), kPageBytes);
  slots_bytes_ = 2 * slot_bytes_ + traded_bytes_;
  staging_bytes_ = round_up(sizes.window_bytes, kPageBytes);
  rank_bytes_ = lanes_ * (kLinesBytes + slots_bytes_ + staging_bytes_ + kTrayBytes);

  rings_ = ranks_begin_ + ranks_ * rank_bytes_;
  ring_bytes_ = kRingHeadBytes + ring_data_bytes(ranks_);
  carrier_bytes_ = carrier_bytes(ranks_);
  total_ = rings_ + channels_ * ranks_ * ranks_ * (ring_bytes_ + carrier_bytes_);
}

Span Layout::bell(int rank) const { return {bells_ + unsigned_of(rank) * kApart, sizeof(Bell)}; }

Span Layout::arena_sign(int rank) const {
  return {signs_ + unsigned_of(rank) * kApart, sizeof(ArenaSign)};
}

Span Layout::regroup_decision() const { return {regroup_, sizeof(RegroupDecision)}; }

Span Layout::regroup_signs() const {
  return {regroup_decision().end(), ranks_ * sizeof(RegroupSign)};
}

Span Layout::door(int channel, int rank) const {
  return {doors_ + (unsigned_of(channel) * ranks_ + unsigned_of(rank)) * door_bytes_, door_bytes_};
}

uint64_t Layout::rank_part(int rank) const {
  return ranks_begin_ + unsigned_of(rank) * rank_bytes_;
}

uint64_t Layout::lane_part(int rank, int lane) const {
  return rank_part(rank) + unsigned_of(lane) * kLinesBytes;
}

Span Layout::always(int rank) const { return {rank_part(rank), lanes_ * kLinesBytes}; }

Span Layout::calls(int rank, int lane) const { return {lane_part(rank, lane), kCallsBytes}; }

Span Layout::records(int rank, int lane) const {
  return {lane_part(rank, lane) + kRecordsAt, kRecordsBytes};
}

Span Layout::progress(int rank, int lane) const {
  return {lane_part(rank, lane) + kProgressAt, sizeof(Progress)};
}

Span Layout::departure(int rank, int lane) const {
  return {lane_part(rank, lane) + kDepartureAt, sizeof(Departure)};
}

Span Layout::slot(int rank, int lane, int which) const {
  const uint64_t of_lane = always(rank).end() + unsigned_of(lane) * slots_bytes_;
  return {of_lane + unsigned_of(which) * slot_bytes_, sizes_.slot_bytes};
}

Span Layout::traded_slot(int rank, int lane) const {
  return {slot(rank, lane, 0).offset + 2 * slot_bytes_, traded_bytes_};
}

Span Layout::staging(int rank, int lane) const {
  return {always(rank).end() + lanes_ * slots_bytes_ + unsigned_of(lane) * staging_bytes_,
          sizes_.window_bytes};
}

Span Layout::wishes(int rank, int lane) const {
  return {lane_part(rank, lane) + kWishesAt, sizeof(WishLines)};
}

Span Layout::tray(int rank, int lane) const {
  const uint64_t before = lanes_ * (slots_bytes_ + staging_bytes_);
  return {always(rank).end() + before + unsigned_of(lane) * kTrayBytes, kTrayBytes};
}

Span Layout::ring(int channel, int from, int to) const {
  const uint64_t index =
      (unsigned_of(channel) * ranks_ + unsigned_of(from)) * ranks_ + unsigned_of(to);
  return {rings_ + index * (ring_bytes_ + carrier_bytes_), ring_bytes_};
}

Span Layout::carrier(int channel, int from, int to) const {
  return {ring(channel, from, to).end(), carrier_bytes_};
}

Span Layout::arena(int rank) const {
  return {round_up(total_, kHugePage) + unsigned_of(rank) * kArenaBytes, kArenaBytes};
}

}  // namespace tutti::shm
