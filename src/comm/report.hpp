// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The records that a rank leaves of its communicators. When one fails, the log gets the last calls
// of all ranks of its host. A trace (TUTTI_TRACE) gets this rank's own then, when it is destroyed,
// and when it hangs.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/step_trace.hpp"
#include "inspect/snapshot.hpp"
#include "inspect/trace.hpp"
#include "transports/transport.hpp"

namespace tutti {

// A communicator of this process as others see it; none if the system forbids that.
std::optional<inspect::CommunicatorSnapshot> snapshot_of(Transport& transport);

// The trace of one process, written anew whenever there is more. Any thread.
class TraceFile {
 public:
  // Empty: there is none.
  explicit TraceFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  // Writes to a file whose name is the path, a point and the rank in the job.
  void add(inspect::TracedCommunicator traced, int job_rank);

 private:
  const std::string path_;
  std::mutex mutex_;
  std::vector<inspect::TracedCommunicator> traced_;  // guarded by mutex_; the last of each
};

// The report of one communicator. It outlives the threads that use it.
class Report {
 public:
  // All references outlive it. `job_rank`: the number of the rank in the job.
  Report(Transport& transport, TraceFile& file, int rank, int job_rank, std::string name)
      : transport_(transport),
        file_(file),
        rank_(rank),
        job_rank_(job_rank),
        name_(std::move(name)) {}

  // The communicator has failed. say() logs that in one line. more() then logs what the ranks of
  // this host did before; it comes afterwards in the same thread. `quietly`: at level info, since
  // another host says it. Lacking memory, they say nothing: that is no reason for another failure.
  void say(const Status& cause, bool quietly);
  void more(const Status& cause, bool quietly);
  // A worker's steps, for the trace.
  void add(std::shared_ptr<StepTrace> steps) { steps_.push_back(std::move(steps)); }
  // Writes the rank's last calls to the file, if one is wanted.
  void trace();
  // Writes them if the rank stands still since the last such call. A launcher that ends a hanging
  // job may leave it no time to write. One thread calls it.
  void trace_if_quiet();

 private:
  [[nodiscard]] std::string line(const Status& cause) const;

  Transport& transport_;
  TraceFile& file_;
  const int rank_;
  const int job_rank_;
  const std::string name_;
  std::vector<std::shared_ptr<StepTrace>> steps_;
  std::string unsaid_;           // text of say() that waits for more()
  std::vector<int64_t> seen_;    // how far the rank was when trace_if_quiet() looked
  std::vector<int64_t> traced_;  // how far the rank was when it was traced last
};

}  // namespace tutti
