// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Open MPI's mpirun: OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE; it serves PMIx.
#include "bootstrap/ancestor.hpp"
#include "bootstrap/launchers/launchers.hpp"

namespace tutti::launchers {
namespace {

constexpr Names kNames = {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                          "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};

Result<JobPlace> place_of(const Getter& getter) {
  auto job = getter("PMIX_NAMESPACE");
  if (!job) job = getter("OMPI_MCA_ess_base_jobid");
  auto place = place_by(getter, kNames, "openmpi " + job.value_or(launching_process(kNames.rank)));
  if (place.ok() && place->route.kind == Route::Kind::kNone) place->route = pmix_route(getter);
  return place;
}

}  // namespace

KnownLauncher open_mpi() {
  return {[](const Getter& getter) { return any_set(getter, kNames); }, place_of, Launcher::kPmix};
}

}  // namespace tutti::launchers
