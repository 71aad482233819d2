// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How far the core of a peer is: how long it takes to load a cache line that the peer has just
// written. Between cores that share a last-level cache that is a third or half of the time of a
// load from memory. From a core of another core complex or socket, or a virtual core that has
// moved, a line comes no faster than from memory. Many lines come much slower, for no prefetcher
// helps. So staging for far peers is better written past the caches (docs/notes/05, 15).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/hash.hpp"

namespace tutti {

// Where a rank's stores to staging go: wherever peers then read them the fastest, or always there.
enum class StoreTarget : uint8_t { kAuto, kCache, kMemory };

// Shorter pieces, of a few lines, stay in the caches, whatever the distance.
inline constexpr uint64_t kLeastStagedNonTemporal = 1 << 10;

// The probes that a distance is worked out from, all but the highest.
inline constexpr uint32_t kDistanceProbes = 5;
// Moving so many bytes takes far longer than a probe.
inline constexpr uint64_t kBytesBetweenProbes = 128 << 10;

// How long one load of a line takes, in cycles of the time-stamp counter; 0 if this processor
// cannot measure it. Peers may be writing there.
uint32_t load_cycles(const void* line);
// How long a load of a line takes that no cache has: measured once.
uint32_t memory_cycles();

// The peer at which a rank may probe in a call. Each rank probes another one: a line that one rank
// has fetched is near for all that share its caches, however far its writer is.
// Programs repeat their calls in a rhythm; the order of the peers must not follow it. At least two
// ranks.
constexpr int probed_peer(uint32_t call, int rank, int ranks) {
  const auto others = static_cast<uint32_t>(ranks) - 1;
  return (rank + 1 + static_cast<int>((call * kGoldenRatio32 >> 16) % others)) % ranks;
}

// What one thread of this process knows of the distance of one peer.
class Distance {
 public:
  explicit Distance(uint32_t memory = memory_cycles()) : memory_(memory) {}

  // Counts bytes that were staged for the peer or read from it; true if it is time for a probe.
  bool count_and_ask_if_due(uint64_t bytes) {
    since_ += bytes;
    if (probes_ >= kDistanceProbes && since_ < kBytesBetweenProbes) [[likely]]
      return false;
    since_ = 0;
    return true;
  }
  // A load of a line of the peer took so long. `mark` changes each time that the peer writes the
  // line: one that has not been written since the last probe says nothing.
  void saw(uint32_t cycles, uint32_t mark) {
    if (mark == mark_) return;
    mark_ = mark;
    saw_new(cycles);
  }
  // Takes a line that the peer is known to have written since. A very short load tells nothing: it
  // found the line in this core's own caches, where a prefetcher has put it, or another rank that
  // shares the core.
  void saw_new(uint32_t cycles);
  [[nodiscard]] uint32_t mark() const { return mark_; }  // the mark at the last probe
  [[nodiscard]] bool known() const { return probes_ == kDistanceProbes; }
  [[nodiscard]] bool far() const { return far_; }
  // What the last probes say; 0 if there were too few.
  [[nodiscard]] uint32_t cycles() const;

 private:
  uint32_t memory_;
  uint32_t probes_ = 0;  // at most kDistanceProbes
  uint32_t next_ = 0;
  uint32_t mark_ = 0;
  uint64_t since_ = 0;
  bool far_ = false;
  std::array<uint32_t, kDistanceProbes> last_{};
};

// How many peers' distances a rank knows, and how many of them are far. It knows nothing of peers
// that it never waits for, as the other senders of a gather.
struct DistancesKnown {
  explicit DistancesKnown(std::span<const Distance> of_peers)
      : known(std::ranges::count_if(of_peers, &Distance::known)),
        far(std::ranges::count_if(of_peers, &Distance::far)) {}
  int64_t known;
  int64_t far;
  [[nodiscard]] bool mostly_far() const { return 2 * far > known; }
};

}  // namespace tutti
