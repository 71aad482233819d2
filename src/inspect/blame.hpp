// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who waits in a job, and for whom.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/job.hpp"

namespace tutti::inspect {

// A rank of a communicator that waits.
struct Waiting {
  const Communicator* communicator;
  const RankView* rank;
  const Wait* wait;
};
// Those that have waited the longest first.
std::vector<Waiting> all_waits(const Job& job);
// That of a process whose thread can do nothing else meanwhile, the longest.
std::optional<Waiting> wait_of(const Job& job, int pid);

// One for whom a rank waits.
struct Late {
  enum class Why {
    kNotEntered,  // has not made the call yet
    kOther,       // has made another call of that number
    kInside,      // is in the call
    kLeft,        // has destroyed the communicator
    kMessage,     // has not sent, or received
    kElsewhere,   // is on another host
  };
  Why why;
  const RankView* rank = nullptr;  // not of kElsewhere
  int number = 0;                  // in the communicator
};
std::vector<Late> whom_it_awaits(const Waiting& waiting);

// "its last call was broadcast #4 (...), 14.0 s ago".
std::string last_of(const Job& job, const Communicator& communicator, const RankView& rank);
// Of one on another host, by what it has told the rank that waits for it.
std::string text_of_far(const Job& job, const Waiting& waiting, int number);
std::string advice_for_far(const Wait& wait);
[[nodiscard]] bool is_python(const Process& process);

}  // namespace tutti::inspect
