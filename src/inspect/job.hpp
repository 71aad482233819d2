// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A job: processes of this host that share communicators, and all of these, looked at twice, with
// what ranks of other hosts tell of theirs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inspect/processes.hpp"
#include "inspect/snapshot.hpp"

namespace tutti::inspect {

struct Communicator {
  FileKey file = {};
  std::shared_ptr<const Source> source = {};  // null: nobody lets us look, or none of it is here
  Status status = {};                         // why it cannot be looked at
  CommunicatorSnapshot snapshot = {};         // contents, if status is ok
  // Processes of its ranks, by place in the job's list; -1: not seen.
  std::vector<int> processes = {};
  bool moved = false;  // changed since the first look
};

// How far a look goes beyond this host.
struct Reach {
  bool far = true;
  uint64_t calls = 16;    // of each rank
  int64_t most_ms = 300;  // until a rank that has not answered is one that does not
};

struct Job {
  std::vector<Process> processes;
  Reach reach = {};
  std::vector<Communicator> communicators = {};
  int64_t now_ms = 0;  // time of the last look, on the monotonic clock
  Moment now = {};

  // A process of this host, by its pid; null: it is not known.
  [[nodiscard]] const Process* process(int pid) const;
  // The process of the rank at `place` of a communicator; null: it is not known.
  [[nodiscard]] const Process* process_of(const Communicator& communicator, int place) const;
  // "rank 2 (pid 77 on h)", or "rank 2 (global rank 5, pid 77 on h)".
  [[nodiscard]] std::string name_of(const Communicator& communicator,
                                    const RankSnapshot& rank) const;
  // Seconds from the beginning of a call until now; below 0: not known.
  [[nodiscard]] double age_s(const Communicator& communicator, const PastCall& call) const;
  [[nodiscard]] double age_s(const Wait& wait) const;
  // The clock of this host's stamps.
  [[nodiscard]] StampClock clock() const;
};

// The name that a launcher has given the job; else that of its first communicator, and a process.
std::string name_of(const Job& job);

// Which jobs: of that process, or whose name is that of the job, of a communicator or of a
// launcher's variable; of neither: all.
struct Wanted {
  int pid = 0;
  std::string name = {};
  Reach reach = {};
};

// `wanted`, with as many calls of each rank as there are.
Wanted with_all_calls(Wanted wanted);

// All jobs that are wanted, as they are now.
std::vector<Job> find_jobs(const Wanted& wanted);
// Looks again, after a pause. Ranks that have not moved since stand still; waits that have begun
// since are left out.
void refresh(Job& job);

}  // namespace tutti::inspect
