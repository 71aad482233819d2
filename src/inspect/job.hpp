// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A job on this host: processes that share communicators, and all of these, looked at twice.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "inspect/processes.hpp"
#include "inspect/view.hpp"

namespace tutti::inspect {

struct Communicator {
  FileKey file;
  std::shared_ptr<const Source> source = {};  // null: nobody lets us look
  Status status = {};                         // why it cannot be looked at
  CommunicatorView view = {};                 // if that is ok
  std::vector<int> pids = {};  // of its ranks here, by place; 0: of none that is seen
  bool moved = false;          // since the first look
};

struct Job {
  std::vector<Process> processes;
  std::vector<Communicator> communicators = {};
  int64_t now_ms = 0;  // of the last look, on the monotonic clock
  Moment now = {};
  std::vector<int> busy = {};  // pids whose processor time has moved since the first look

  [[nodiscard]] const Process* process(int pid) const;
  // Of a rank at such a place of a communicator; null: it is not to be seen.
  [[nodiscard]] const Process* process_of(const Communicator& communicator, int place) const;
  [[nodiscard]] bool is_busy(int pid) const;
  // "rank 2 (pid 77 on h)", or "rank 2 (global rank 5, pid 77 on h)".
  [[nodiscard]] std::string name_of(const Communicator& communicator, const RankView& rank) const;
  // Seconds from the beginning of a call until now; below 0: not known.
  [[nodiscard]] double age_s(const Communicator& communicator, const PastCall& call) const;
  [[nodiscard]] double age_s(const Wait& wait) const;
};

// Which jobs: of that process, or whose name is that of the job, of a communicator or of a
// launcher's variable; of neither: all.
struct Wanted {
  int pid = 0;
  std::string name = {};
};

// All jobs that are wanted, as they are now.
std::vector<Job> find_jobs(const Wanted& wanted);
// Looks again, after a pause. What has not changed since stands still; waits that have begun since
// are left out.
void look_again(Job& job);

}  // namespace tutti::inspect
