// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Hydra, the mpiexec of MPICH and its kin: PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS; it
// serves PMI-1 at PMI_FD.
#include "bootstrap/ancestor.hpp"
#include "bootstrap/launchers/launchers.hpp"

namespace tutti::launchers {
namespace {

constexpr Names kNames = {"MPICH's mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                          "MPI_LOCALNRANKS"};

// Slurm's `srun --mpi=pmi2` sets the first two variables as well, and knows more.
bool present(const Getter& getter) {
  if (getter("PMI_PORT")) return true;
  return any_set(getter, kNames) &&
         (getter(kNames.local_rank) || !getter("SLURM_STEP_NUM_TASKS") || !getter("PMI_JOBID"));
}

Result<JobPlace> place_of(const Getter& getter) {
  if (!any_set(getter, kNames)) {
    return Status::format(Code::kUnsupported,
                          "PMI_PORT is \"{}\" and PMI_RANK is not set: expected mpiexec to be run "
                          "without -pmi-port",
                          value_or_none(getter, "PMI_PORT"));
  }
  // PMI could tell the job's name, but over a wire that belongs to the MPI library of a program
  // that uses one. On one host all ranks descend from one process.
  auto place = place_by(getter, kNames, "mpich " + launching_process(kNames.rank));
  if (!place.ok() || place->route.kind != Route::Kind::kNone) return place;
  auto route = pmi_route(getter);
  if (!route.ok()) return route.status().with_context(kNames.launcher);
  place->route = *route;
  return place;
}

}  // namespace

KnownLauncher hydra() { return {present, place_of, Launcher::kHydra}; }

}  // namespace tutti::launchers
