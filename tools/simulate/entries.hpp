// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ticks of the ranks of a host in one phase: when each was published, and which streams wait
// for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/schedule.hpp"
#include "tools/simulate/cause.hpp"

namespace tutti::simulate {

class Entries {
 public:
  explicit Entries(size_t ranks) : published_(ranks) {}

  void publish(size_t rank, uint32_t tick, double at, const Cause& cause) {
    std::vector<Published>& own = published_[rank];
    for (; own.size() < tick; own.push_back({at, cause})) {
      if (all_.size() == own.size()) all_.emplace_back();
      Tick& all = all_[own.size()];
      if (at >= all.latest) all = {all.ranks, at, static_cast<int>(rank)};
      ++all.ranks;
    }
  }
  // When `peer` (a place, or all but `own`) had published the tick; negative: not yet.
  [[nodiscard]] double when(int own, int peer, uint32_t tick) const {
    if (peer == kAllPeers) {
      const Tick all = all_.size() >= tick ? all_[tick - 1] : Tick{};
      const size_t self = published_[static_cast<size_t>(own)].size() >= tick ? 1 : 0;
      return all.ranks - self + 1 == published_.size() ? all.latest : -1;
    }
    const std::vector<Published>& theirs = published_[static_cast<size_t>(peer)];
    return theirs.size() >= tick ? theirs[tick - 1].at : -1;
  }
  // Why a rank published a tick when it did.
  [[nodiscard]] Cause cause(int rank, uint32_t tick) const {
    const std::vector<Published>& theirs = published_[static_cast<size_t>(rank)];
    return theirs.size() >= tick ? theirs[tick - 1].cause : Cause{.rank = rank};
  }
  // The last to publish a tick that all but `own` have published.
  [[nodiscard]] int last(int own, uint32_t tick) const {
    return all_.size() >= tick ? all_[tick - 1].last : own;
  }

  std::vector<uint32_t> waiting;  // streams, by their numbers
  size_t done = 0;                // ranks that have left the phase

 private:
  struct Published {
    double at = 0;
    Cause cause;
  };
  struct Tick {
    size_t ranks = 0;
    double latest = 0;
    int last = 0;
  };
  std::vector<std::vector<Published>> published_;
  std::vector<Tick> all_;
};

}  // namespace tutti::simulate
