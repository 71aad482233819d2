// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which process of which job this is, as the launcher's variables tell it. In order of authority:
//   tutti run   TUTTI_JOB, RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE
//   torchrun    TORCHELASTIC_RUN_ID, TORCHELASTIC_RESTART_COUNT, MASTER_ADDR, MASTER_PORT, and the
//               same four
//   Open MPI    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, PMIX_NAMESPACE
//   MPICH       PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//   by hand     RANK, WORLD_SIZE, perhaps the local two, MASTER_ADDR, MASTER_PORT
//   nobody      a job of one
// With CCL_PROCESS_LAUNCHER=none, CCL_LOCAL_RANK and CCL_LOCAL_SIZE give the local place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"
#include "core/status.hpp"
#include "env/env.hpp"

namespace tutti {

// JobPlace::launcher of a process that nobody launched.
inline constexpr std::string_view kNoLauncher = "no launcher";

struct JobPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
  int local_ranks = 1;
  std::string key;       // the same on all ranks of this life of the job and on no other's
  std::string launcher;  // for texts
};

// What is set by half or contradicts itself is an error that names the variable, its value and what
// was expected.
Result<JobPlace> detect_job(const Getter& getter);

// The id of the next communicator that this process makes of its whole job: the first call of each
// rank gives the same id, the second another.
UniqueId id_for_job(const JobPlace& place);

// Meets the other processes of the job, at a service that rank 0 starts.
Result<std::unique_ptr<Exchange>> join_job(const JobPlace& place, int64_t deadline_ms);

}  // namespace tutti
