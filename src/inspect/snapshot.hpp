// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A communicator at one moment, as its shared memory tells it. It has the ranks on this host, the
// last calls of each, and what it waits for. All of it is copied before it is looked at. It may be
// nonsense, for a faulty process may have written there.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/stamp.hpp"
#include "core/status.hpp"
#include "inspect/source.hpp"
#include "transports/notes.hpp"

namespace tutti::inspect {

struct PastCall {
  CallRecord record{};
  uint32_t number = 0;  // on its lane
  uint64_t begun = 0;   // stamps; 0: not known
  uint64_t ended = 0;
};

struct RankSnapshot {
  int place = 0;  // on this host
  int rank = 0;   // in the communicator
  int global_rank = -1;
  int pid = 0;  // number that the process calls itself
  uint64_t started = 0;
  uint64_t inquiries = 0;  // the socket of its process for these (inspect/inquiry.hpp); 0: none
  // The host of a rank that is not on the snapshot's. Also whether anybody there has told of it, or
  // else for how long it has been silent.
  std::string host = {};
  bool answers = true;
  double silent_s = 0;
  bool present = false;        // it has introduced itself
  bool left = false;           // it has destroyed the communicator
  uint32_t entered = 0;        // how many calls, on all lanes, and other signs that it gets on
  bool moved = false;          // changed since the first look
  std::vector<PastCall> past;  // on the first lane or among hosts, the oldest first
  std::vector<Wait> waits;
  std::optional<Demand> demand;  // of rank 0 of the communicator
  std::optional<Jam> jam;        // since the communicator was made
  Jam jam_since = {};            // jam since the first look

  // The rank's number in the job, else in the communicator.
  [[nodiscard]] int number() const { return global_rank < 0 ? rank : global_rank; }
  // Null: none that is known.
  [[nodiscard]] const PastCall* last() const { return past.empty() ? nullptr : &past.back(); }
  [[nodiscard]] uint64_t last_sequence() const {
    return past.empty() ? 0 : past.back().record.sequence;
  }
  [[nodiscard]] const PastCall* call(uint64_t sequence) const;
};

struct CommunicatorSnapshot {
  std::string name;
  std::string job;
  std::string host;
  uint64_t key = 0;  // equal on all its hosts and in no other communicator; 0: it has none
  int all_ranks = 0;
  Moment made;
  bool stopped = false;
  std::string cause;                // of a failure
  uint32_t cause_code = 0;          // a tutti_status; 0: not known here
  std::vector<RankSnapshot> ranks;  // of this host, and of others that have been asked for

  // Whether it has ranks on several hosts; and whether some of these are unknown here.
  [[nodiscard]] bool across_hosts() const {
    return lacks_ranks() ||
           std::ranges::any_of(ranks, [](const RankSnapshot& rank) { return !rank.host.empty(); });
  }
  [[nodiscard]] bool lacks_ranks() const { return all_ranks > static_cast<int>(ranks.size()); }
  [[nodiscard]] const RankSnapshot* find(int rank) const;
  [[nodiscard]] const std::string& host_of(const RankSnapshot& rank) const {
    return rank.host.empty() ? host : rank.host;
  }
};

// Whether what others tell may be so: their times are far from where sums of them overflow, and a
// wait is of a kind that is known.
bool makes_sense(const Moment& moment);
bool makes_sense(const Wait& wait);

// An error if it is not the memory of a communicator of this version of Tutti, or makes no sense.
Result<CommunicatorSnapshot> take_snapshot(const Source& source);

}  // namespace tutti::inspect
