// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The objects that the communicators of a process share: the environment as it was read, tuning,
// worker threads, the monitor of peers, answers to other hosts, the trace. It lives from the first
// communicator to the last.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "comm/inquiries.hpp"
#include "comm/monitor.hpp"
#include "comm/report.hpp"
#include "comm/tuning_file.hpp"
#include "core/fork.hpp"
#include "env/env.hpp"
#include "exec/worker.hpp"

namespace tutti {

class Runtime {
 public:
  // Returns the runtime of this process, which it makes if there is none. Fails when the
  // environment is wrong.
  static Result<std::shared_ptr<Runtime>> get();

  explicit Runtime(Environment environment)
      : environment_(std::move(environment)), trace_(environment_.trace) {}

  [[nodiscard]] const Environment& environment() const { return environment_; }
  [[nodiscard]] Monitor& monitor() { return monitor_; }
  [[nodiscard]] Inquiries& inquiries() { return inquiries_; }
  [[nodiscard]] TraceFile& trace() { return trace_; }
  // The tuning of this process, looked for or measured at the first call; rank 0's counts for a
  // communicator.
  [[nodiscard]] const Result<FoundTuning>& tuning();

  // Tells the log which rank of how many this process is, in its first communicator. Rank 0 then
  // says what is strange about the variables, once for the job.
  void introduce(int rank, int ranks);

  // Starts what watches the job, if a variable asks for it; in rank 0, once it can be seen.
  void watch_job() const;

  // The pool, whose workers get their cores at the first call. This process is `local_rank` of
  // `local_ranks` on its host, unless CCL_LOCAL_RANK and CCL_LOCAL_SIZE say otherwise.
  Result<WorkerPool*> workers(int local_rank, int local_ranks);

 private:
  const OwnedByProcess owned_;
  const Environment environment_;
  TraceFile trace_;
  Monitor monitor_;
  Inquiries inquiries_{monitor_};
  std::once_flag introduced_;
  std::once_flag tuning_sought_;
  Result<FoundTuning> tuning_ = FoundTuning();
  std::mutex mutex_;
  std::unique_ptr<WorkerPool> workers_;  // guarded by mutex_
};

}  // namespace tutti
