// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which ranks of a job wait, and for which.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/advice.hpp"
#include "inspect/job.hpp"

namespace tutti::inspect {

// A rank of a communicator that waits.
struct Waiting {
  const Communicator* communicator;
  const RankSnapshot* rank;
  const Wait* wait;
};
// All waits, the longest first.
std::vector<Waiting> all_waits(const Job& job);
// The maker of calls: a process, or one of its threads if several are ranks of a communicator. It
// then has the rank's number in the job, else -1. The process is null if it is not seen.
struct Party {
  const Process* process = nullptr;
  int number = -1;
  auto operator<=>(const Party&) const = default;
};
Party party_of(const Job& job, const Communicator& communicator, const RankSnapshot& rank);
// The party's longest wait in which a thread can do nothing else.
std::optional<Waiting> wait_of(const Job& job, const Party& party);

// A rank for which another waits.
struct Late {
  enum class Why {
    kNotEntered,  // has not made the call yet
    kOther,       // has made another call of that number
    kInside,      // the peer is in the call
    kLeft,        // the peer has destroyed the communicator
    kMessage,     // has not sent, or received
    kElsewhere,   // is on another host, and nobody has told of it
  };
  Why why;
  // The rank; null for a kElsewhere of which not even the name is known.
  const RankSnapshot* rank = nullptr;
  int number = 0;  // in the communicator
};
std::vector<Late> whom_it_awaits(const Job& job, const Waiting& waiting);
// The call of that number that the rank has made or waits to begin; null: none that is known.
const CallRecord* record_of(const RankSnapshot& rank, uint64_t sequence);
// The ranks outside of the largest set that has made the same call of that number.
std::vector<int> odd_ones(const CommunicatorSnapshot& snapshot, uint64_t sequence);

// Empty, or of a receive what has come instead: "; a message has come ...".
std::string unexpected_by(const Wait& wait);
// "its last call was broadcast #4 (...), 14.0 s ago".
std::string last_of(const Job& job, const Communicator& communicator, const RankSnapshot& rank);
// The text about a rank on another host, by what it has told the rank that waits for it.
std::string text_of_far(const Job& job, const Waiting& waiting, const Late& late);
std::string advice_for_far(const Waiting& waiting, const Late& late);
// Whether a rank whose process has its memory no more has called exec(2).
bool is_replaced(const RankSnapshot& rank);
// The text about a rank whose process has its memory no more.
std::string what_became_of(const RankSnapshot& rank);

}  // namespace tutti::inspect
