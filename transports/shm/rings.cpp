// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/shm/rings.hpp"

#include <algorithm>

namespace tutti::shm {

Rings::Rings(const Surroundings& surroundings, int rank, int channel)
    : surroundings_(surroundings),
      rank_(rank),
      channel_(channel),
      open_rings_seen_(static_cast<size_t>(surroundings_.layout.ranks() + 63) / 64),
      open_rings_(open_rings_of(rank)) {}

void Rings::prepare(RingPair& pair) const {
  const auto ranks = static_cast<uint64_t>(surroundings_.layout.ranks());
  const DataArea area(ring_first_bytes(ranks), ring_data_bytes(ranks),
                      surroundings_.oversubscribed);
  pair.out = RingWriter(area, pair.ping_pong, surroundings_.store_target);
  pair.in = RingReader(ring_data_bytes(ranks), pair.ping_pong);
}

// Maps both directions in one go.
Status Rings::map(RingPair& pair, int peer) const {
  if (pair.rings.is_open()) return {};
  const Layout& layout = surroundings_.layout;
  auto mapped = surroundings_.region.map(layout.pair(channel_, rank_, peer));
  if (!mapped.ok()) {
    return mapped.status().with_context(
        fmt::format("messages with rank {}", surroundings_.number_of(peer)));
  }
  pair.rings = *std::move(mapped);
  pair.out.lie_in(pair.rings.at<RingMemory>(layout.ring(channel_, rank_, peer)));
  pair.in.lie_in(pair.rings.at<RingMemory>(layout.ring(channel_, peer, rank_)));
  if (surroundings_.oversubscribed) return {};  // caches have the lines of all
  const Extent mine = layout.ping_pong(channel_, rank_, peer);
  auto* const own = pair.rings.at<std::byte>(mine);
  auto* const other = pair.rings.at<std::byte>(layout.ping_pong(channel_, peer, rank_));
  pair.ping_pong = rank_ < peer ? PingPongBuffers(own, other, mine.bytes, 0)
                                : PingPongBuffers(other, own, mine.bytes, 1);
  return {};
}

Status Rings::reserve(RingPair& pair, int peer, uint64_t payload) const {
  TUTTI_RETURN_IF_ERROR(map(pair, peer));
  const auto reserve = [&](Extent extent) {
    const Status reserved = pair.rings.reserve(extent);
    if (reserved.ok()) return reserved;
    return reserved.with_context(fmt::format("sending to rank {}", surroundings_.number_of(peer)));
  };
  const uint64_t reach = payload <= kInlineBytes ? 0 : pair.out.area().reach_for(payload);
  const Extent extent{surroundings_.layout.ring(channel_, rank_, peer).offset,
                      kRingHeadBytes + reach};
  TUTTI_RETURN_IF_ERROR(reserve(extent));
  // This rank's ping-pong buffer is written before the peer's comes.
  const Extent ping_pong = surroundings_.layout.ping_pong(channel_, rank_, peer);
  const bool opens_ping_pong = reach > 0 && !surroundings_.oversubscribed;
  if (opens_ping_pong) TUTTI_RETURN_IF_ERROR(reserve(ping_pong));
  if (!pair.out_open) {
    open_rings_of(peer)[rank_ / 64].fetch_or(uint64_t{1} << (rank_ % 64),
                                             std::memory_order_release);
  }
  pair.out_open = true;
  if (opens_ping_pong) pair.rings.map_in(ping_pong);
  if (reach > 0) {
    pair.rings.map_in(extent);
    pair.out.area().extend(reach);
  }
  return {};
}

// The producer has got memory up to a power of two, and for no less than what is used at first.
void Rings::map_in_data(RingPair& pair, int peer, const RingFrame& frame) const {
  if (frame.bytes <= kInlineBytes || frame.in_ping_pong() ||
      pair.in.end_of(frame) <= pair.in_mapped) {
    return;
  }
  const auto ranks = static_cast<uint64_t>(surroundings_.layout.ranks());
  pair.in_mapped = std::max(std::bit_ceil(pair.in.end_of(frame)), ring_first_bytes(ranks));
  const uint64_t ring = surroundings_.layout.ring(channel_, peer, rank_).offset;
  pair.rings.map_in({ring, kRingHeadBytes + pair.in_mapped});
}

}  // namespace tutti::shm
