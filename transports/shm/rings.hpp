// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The rings between this rank and all others on one channel: each is mapped and gets memory when it
// is first used. A rank that opens its ring to a peer sets its bit in the peer's map of open rings,
// in shared memory.
#pragma once

#include <atomic>
#include <bit>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "transports/shm/arena.hpp"
#include "transports/shm/layout.hpp"
#include "transports/shm/notifier.hpp"
#include "transports/shm/ping_pong.hpp"
#include "transports/shm/region.hpp"
#include "transports/shm/ring_reader.hpp"
#include "transports/shm/ring_writer.hpp"

namespace tutti::shm {

// The surroundings of an endpoint, which outlive it.
struct Surroundings {
  const Region& region;
  const Layout& layout;
  const Notifier& notifier;
  const Arenas& arenas;
  std::span<const PeerProcess> processes = {};  // by rank
  bool can_pull = false;                        // whether peers' memory can be read
  std::span<const int> numbers = {};            // TransportConfig::numbers
  StoreTarget store_target = StoreTarget::kAuto;
  bool oversubscribed = false;  // SharedMemoryConfig::oversubscribed

  // The number of a rank in texts and as a source.
  [[nodiscard]] int number_of(int rank) const {
    return numbers.empty() ? rank : numbers[static_cast<size_t>(rank)];
  }
};

// The rings to and from one peer.
struct RingPair {
  Mapping rings;  // both, with ping-pong buffers: not open before the first word between us
  PingPongBuffers ping_pong;
  RingWriter out;
  RingReader in;
  bool out_open = false;   // the ring to it has memory, and it knows
  uint64_t in_mapped = 0;  // bytes of the incoming ring's data area that are mapped in

  // Whether the ring to it has memory for a frame with so many bytes of payload.
  [[nodiscard]] bool open_for(uint64_t payload) const {
    return payload <= kInlineBytes ? out_open : out.area().reaches(payload);
  }
};

class Rings {
 public:
  Rings(const Surroundings& surroundings, int rank, int channel);

  // Prepares a pair that has not been used. It stays where it is.
  void prepare(RingPair& pair) const;
  // Maps both rings.
  Status map(RingPair& pair, int peer) const;
  // Gets memory for the ring to that peer, up to what a frame with so many bytes of payload needs.
  Status open(RingPair& pair, int peer, uint64_t payload) const {
    return pair.open_for(payload) ? Status() : reserve(pair, peer, payload);
  }
  // Maps in the data area up to a frame's payload, before the first look at it.
  void map_in_data(RingPair& pair, int peer, const RingFrame& frame) const;

  // Calls `opened(peer)` for those that have opened a ring to this rank since the last call;
  // returns whether any did.
  bool find_new(const auto& opened) {
    bool found = false;
    for (size_t word = 0; word < open_rings_seen_.size(); ++word) {
      uint64_t fresh = open_rings_[word].load(std::memory_order_acquire) & ~open_rings_seen_[word];
      open_rings_seen_[word] |= fresh;
      for (; fresh != 0; fresh &= fresh - 1) {
        const int peer = static_cast<int>(word) * 64 + std::countr_zero(fresh);
        if (peer >= surroundings_.layout.ranks() || peer == rank_) continue;
        found = true;
        opened(peer);
      }
    }
    return found;
  }

 private:
  Status reserve(RingPair& pair, int peer, uint64_t payload) const;
  [[nodiscard]] std::atomic<uint64_t>* open_rings_of(int rank) const {
    return surroundings_.region.at<std::atomic<uint64_t>>(
        surroundings_.layout.open_rings(channel_, rank));
  }

  const Surroundings surroundings_;
  const int rank_;
  const int channel_;
  std::vector<uint64_t> open_rings_seen_;
  std::atomic<uint64_t>* open_rings_;
};

}  // namespace tutti::shm
