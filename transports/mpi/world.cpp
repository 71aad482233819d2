// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/mpi/world.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <list>
#include <optional>
#include <string>

#include "core/log.hpp"
#include "env/env.hpp"

namespace tutti::mpi {
namespace {

struct State {
  std::mutex starting;
  std::mutex turn;
  std::atomic<bool> takes_turns = true;
  std::atomic<pid_t> finalizes = 0;  // the process that initialised MPI, and is to finalise it
  std::atomic<bool> lost_peer = false;
  std::mutex orphanage;
  std::list<Orphans> orphans;
};

// Never destroyed: ports may be closed while the process ends.
State& state() {
  static auto* made = new State;
  return *made;
}

std::string_view name_of_level(int level) {
  constexpr std::array<std::string_view, 4> names = {
      "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
  return names[static_cast<size_t>(level) % names.size()];
}

// How many processes the launcher says that MPI_COMM_WORLD will have.
std::optional<std::string> size_of_job() {
  const Getter getter = process_environment();
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (auto value = getter(name); value && !value->empty()) return value;
  }
  return std::nullopt;
}

// Rather than let MPI wait for processes that will never come.
Status check_job(int ranks) {
  const auto size = size_of_job();
  if (!size) {
    return {Code::kInvalidUsage,
            "this process was not started by a launcher of MPI (neither OMPI_COMM_WORLD_SIZE nor "
            "PMI_SIZE nor SLURM_STEP_NUM_TASKS is set): start the job with mpiexec or srun, or set "
            "CCL_ATL_TRANSPORT=ofi"};
  }
  if (*size == std::to_string(ranks)) return {};
  return Status::format(Code::kInvalidUsage,
                        "MPI is not initialised, and the first communicator has {} ranks where the "
                        "job has {} processes: all of them must take part in initialising MPI, so "
                        "call MPI_Init_thread in the program, or make a communicator of all first",
                        ranks, *size);
}

void collect_orphans() {
  State& all = state();
  const std::lock_guard lock(all.orphanage);
  const Turn turn;
  for (auto next = all.orphans.begin(); next != all.orphans.end();) {
    tutti_mpi_end ends[16];
    int count = 0;
    while (table().test(next->requests, ends, 16, &count) == 0 && count > 0) {
    }
    if (table().count(next->requests) > 0) {
      ++next;
      continue;
    }
    table().free_requests(next->requests);
    next = all.orphans.erase(next);
  }
}

void finalize_at_exit() {
  if (state().finalizes != getpid() || !is_running()) return;  // a fork has no MPI
  if (state().lost_peer) return log::info("MPI is not finalised, for a peer may be gone");
  const Turn turn;
  (void)table().finalize();
}

Status initialize(int ranks) {
  TUTTI_RETURN_IF_ERROR(check_job(ranks));
  if (const int error = table().init(); error != 0) {
    return Status::format(Code::kSystem, "MPI_Init_thread gave error {}", error);
  }
  state().finalizes = getpid();
  std::atexit(finalize_at_exit);
  return {};
}

Status check_threads(bool ours) {
  int level = TUTTI_MPI_THREAD_SINGLE;
  if (const int error = table().thread_level(&level); error != 0) return reason(error);
  state().takes_turns = level != TUTTI_MPI_THREAD_MULTIPLE;
  if (level >= TUTTI_MPI_THREAD_SERIALIZED) return {};
  if (ours) {
    return Status::format(Code::kUnsupported,
                          "this MPI allows no more than {}, MPI_THREAD_SERIALIZED is needed",
                          name_of_level(level));
  }
  return Status::format(
      Code::kInvalidUsage,
      "the program has initialised MPI with {}, but Tutti calls MPI in threads "
      "of its own: ask MPI_Init_thread for MPI_THREAD_MULTIPLE, or for "
      "MPI_THREAD_SERIALIZED if the program calls MPI only while no call of Tutti "
      "is under way",
      name_of_level(level));
}

}  // namespace

Result<WorldRank> start(int ranks) {
  State& all = state();
  const std::lock_guard lock(all.starting);
  int initialized = 0;
  int finalized = 0;
  if (table().state(&initialized, &finalized) != 0 || finalized != 0) {
    return Status(Code::kInvalidUsage,
                  "MPI_Finalize was called: communicators are to be made before it");
  }
  if (initialized == 0) TUTTI_RETURN_IF_ERROR(initialize(ranks));
  TUTTI_RETURN_IF_ERROR(check_threads(all.finalizes == getpid()));
  WorldRank place;
  int highest_tag = 0;
  const Turn turn;
  if (const int error = table().world(&place.rank, &place.size, &highest_tag); error != 0) {
    return reason(error).with_context("asking for the place in MPI_COMM_WORLD");
  }
  return place;
}

bool is_running() {
  int initialized = 0;
  int finalized = 0;
  return table().state(&initialized, &finalized) == 0 && initialized != 0 && finalized == 0;
}

void note_failure(Code why) {
  if (why == Code::kPeerFailed || why == Code::kTimeout) state().lost_peer = true;
}

Turn::Turn() : needed_(state().takes_turns) {
  if (needed_) lock_ = std::unique_lock(state().turn);
}

Turn::Turn(If) : needed_(state().takes_turns) {
  if (needed_) lock_ = std::unique_lock(state().turn, std::try_to_lock);
}

Result<std::shared_ptr<Group>> Group::open(const std::vector<int>& world_ranks, int tag) {
  collect_orphans();
  const Turn turn;
  WorldRank place;
  int highest_tag = 0;
  void* handle = nullptr;
  int error = table().world(&place.rank, &place.size, &highest_tag);
  if (error == 0) {
    error =
        table().open_group(world_ranks.data(), static_cast<int>(world_ranks.size()), tag, &handle);
  }
  if (error != 0) return reason(error).with_context("making a communicator of MPI");
  return std::shared_ptr<Group>(new Group(handle, highest_tag));
}

Group::~Group() {
  if (!is_running()) return;
  const Turn turn;
  (void)table().close_group(handle_);
}

void adopt(Orphans orphans) {
  const std::lock_guard lock(state().orphanage);
  state().orphans.push_back(std::move(orphans));
}

}  // namespace tutti::mpi
