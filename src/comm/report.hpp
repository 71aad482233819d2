// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a rank leaves behind of its communicators: the last calls of all ranks of its host in the
// log when one fails, and of its own in a trace (TUTTI_TRACE) then and when it is destroyed.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "inspect/trace.hpp"
#include "inspect/view.hpp"
#include "transports/transport.hpp"

namespace tutti {

// A communicator of this process as others see it; none if the system forbids that.
std::optional<inspect::CommunicatorView> view_of(Transport& transport);
// "rank 0 (pid 77): barrier #1, allreduce #2 (8 float32, sum), 2.0 s ago", a line for each rank.
std::string last_calls_of(const inspect::CommunicatorView& view);
// "\"world\" has failed on rank 0 (pid 77 on h) in allreduce #3 (8 float32, sum): rank 1 (pid 78 on
// h) has died".
std::string failure_line(Transport& transport, int rank, const std::string& name,
                         const Status& cause);
// What the ranks of this host did before: as a warning if somebody has to look for the reason and
// no other host says it, else at level info.
void log_last_calls(const std::string& name, const Status& cause, bool another_says_it,
                    const inspect::CommunicatorView& view);

// The trace of one process, written anew whenever there is more. Any thread.
class TraceFile {
 public:
  // Empty: there is none.
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  // To the path, a point and the rank in the job.
  void add(inspect::TracedCommunicator traced, int job_rank);

 private:
  const std::string path_;
  std::mutex mutex_;
  std::vector<inspect::TracedCommunicator> traced_;  // guarded by mutex_; the last of each
};

}  // namespace tutti
