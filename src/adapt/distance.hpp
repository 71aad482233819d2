// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How far the core of a peer is: how long a cache line takes that the peer has just written. Cores
// that share a last-level cache hand a line over in a third or half of the time that memory takes;
// from others (another core complex or socket, or a virtual core that the system has moved there)
// it comes no faster than from memory, and many of them much slower, for no prefetcher helps. What
// is staged for far peers is therefore better written past the caches: on two cores of an EPYC (2.6
// GHz, Zen 5), 1 MiB passes from one private buffer to the other's at 7 GB/s through a cache that
// is far and at 45 through a near one; through memory at 27 and 20.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tuned.hpp"

namespace tutti {

// Where what a rank writes for its peers goes: where they read it the fastest, or always there.
enum class Staging : uint8_t { kAuto, kCache, kMemory };

// Shorter pieces stay in the caches, whatever the distance.
inline constexpr uint64_t kLeastNonTemporal = tuned::kLeastStagedNonTemporal;

// How long one load of a line takes, in ticks of a clock that is the same all the time; 0 if it
// cannot be found out on this processor. Peers may be writing there.
uint32_t load_ticks(const void* line);
// The same of a line that no cache has: measured once, some tens of microseconds.
uint32_t memory_ticks();

// At which peer a rank may look in a call: each rank at another, because a line that one has
// fetched is near for those with whom it shares caches, however far its writer is. Calls may follow
// a rhythm, this does not. At least two ranks.
constexpr int looked_at(uint32_t call, int rank, int ranks) {
  constexpr uint32_t kGolden = 0x9E3779B1;  // 2^32 over the golden ratio
  const auto others = static_cast<uint32_t>(ranks) - 1;
  return (rank + 1 + static_cast<int>((call * kGolden >> 16) % others)) % ranks;
}

// What one thread of this process finds out about one peer.
class Distance {
 public:
  explicit Distance(uint32_t memory = memory_ticks()) : memory_(memory) {}

  // Counts what has been staged for the peer or read from it; true if it is time for a look.
  bool due(uint64_t bytes) {
    since_ += bytes;
    if (looks_ >= kLooks && since_ < kBetweenLooks) [[likely]]
      return false;
    since_ = 0;
    return true;
  }
  // A load of a line that the peer writes took so long. Its mark is another after each write: a
  // line that has not been written again since the last look tells nothing.
  void saw(uint32_t ticks, uint32_t mark) {
    if (mark == mark_) return;
    mark_ = mark;
    saw_new(ticks);
  }
  // The same of a line that the peer is known to have written since. A load that was so short found
  // the line in this core's own caches, where a prefetcher has put it, or another rank that shares
  // the core: that tells nothing.
  void saw_new(uint32_t ticks);
  [[nodiscard]] uint32_t mark() const { return mark_; }  // of the last look
  [[nodiscard]] bool known() const { return looks_ == kLooks; }
  [[nodiscard]] bool far() const { return far_; }
  // What the last looks say; 0 if there were too few.
  [[nodiscard]] uint32_t ticks() const;

 private:
  // Prefetchers make some looks shorter, interrupts make a single one long: the second longest
  // counts.
  static constexpr uint32_t kLooks = tuned::kLooks;
  static constexpr uint64_t kBetweenLooks = tuned::kBytesBetweenLooks;

  uint32_t memory_;
  uint32_t looks_ = 0;  // at most kLooks
  uint32_t next_ = 0;
  uint32_t mark_ = 0;
  uint64_t since_ = 0;
  bool far_ = false;
  std::array<uint32_t, kLooks> last_{};
};

// What a rank knows of its peers. Of those that it never waits for it is nothing, as of the others
// that give to a root.
struct DistancesKnown {
  explicit DistancesKnown(std::span<const Distance> of_peers)
      : known(std::ranges::count_if(of_peers, &Distance::known)),
        far(std::ranges::count_if(of_peers, &Distance::far)) {}
  int64_t known;
  int64_t far;
  [[nodiscard]] bool mostly_far() const { return 2 * far > known; }
};

}  // namespace tutti
