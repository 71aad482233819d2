// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The objects that all communicators of a process share: environment, workers, monitor and figures.
#include "comm/runtime.hpp"

#include <algorithm>

#include "bootstrap/launcher.hpp"
#include "comm/start_watch.hpp"
#include "core/affinity.hpp"
#include "core/log.hpp"
#include "core/topology.hpp"

namespace tutti {
namespace {

struct Registered {
  std::mutex mutex;
  std::weak_ptr<Runtime> runtime;
};

Result<std::shared_ptr<Runtime>> make() {
  TUTTI_ASSIGN_OR_RETURN(Environment environment, read_environment(process_environment()));
  log::set_level(environment.log_level);
  return std::make_shared<Runtime>(std::move(environment));
}

}  // namespace

Result<std::shared_ptr<Runtime>> Runtime::get() {
  static Registered& registered = *new Registered;  // outlives threads that still run at exit
  if (is_forked()) return refuse_forked();
  const std::lock_guard lock(registered.mutex);
  if (std::shared_ptr<Runtime> runtime = registered.runtime.lock(); runtime != nullptr) {
    return runtime;
  }
  Result<std::shared_ptr<Runtime>> made = make();
  if (!made.ok()) return made;
  registered.runtime = *made;
  return made;
}

void Runtime::introduce(int rank, int ranks) {
  std::call_once(introduced_, [rank, ranks] {
    log::set_rank(rank);
    if (rank != 0) return;
    const std::string job = ranks == 1 ? larger_job(process_environment()) : "";
    if (!job.empty()) {
      log::warn("this process is alone in its communicator, but its job has several ({})", job);
    }
    for (const EnvironmentNotice& notice :
         check_names(process_environment_names(), process_environment())) {
      log::message(notice.severity, "{}", notice.text);
    }
  });
}

void Runtime::watch_job() const {
  if (environment_.watch.empty()) return;
  const Status status = start_watch(environment_.watch);
  if (!status.ok()) log::warn("TUTTI_WATCH: {}", status.message());
}

const Result<FoundTuning>& Runtime::tuning() {
  std::call_once(tuning_sought_,
                 [this] { tuning_ = tuning_to_use(environment_, process_environment()); });
  return tuning_;
}

Result<WorkerPool*> Runtime::workers(int local_rank, int local_ranks) {
  const std::lock_guard lock(mutex_);
  if (workers_ != nullptr) return workers_.get();
  if (environment_.local_rank >= 0) local_rank = static_cast<int>(environment_.local_rank);
  if (environment_.local_size >= 0) local_ranks = static_cast<int>(environment_.local_size);
  const auto count = static_cast<int>(environment_.worker_count);
  const size_t threads = static_cast<size_t>(count) * static_cast<size_t>(std::max(local_ranks, 1));
  if (count > 1 && local_rank == 0 && threads > online_cores().size()) {
    log::warn("CCL_WORKER_COUNT={}: the {} ranks of this host have {} workers, but it has {} cores",
              count, local_ranks, threads, online_cores().size());
  }
  TUTTI_ASSIGN_OR_RETURN(
      std::vector<int> cores,
      assign_worker_cores(
          environment_.worker_affinity,
          {.worker_count = count, .local_rank = local_rank, .local_ranks = local_ranks},
          usable_cores(), online_cores()));
  if (cores.empty()) cores.assign(static_cast<size_t>(count), -1);
  workers_ = std::make_unique<WorkerPool>(std::move(cores));
  return workers_.get();
}

}  // namespace tutti
