// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which process of which job this is, as the launcher's variables tell it, and how the processes of
// a job meet. launchers/ has a file for each launcher, launchers.inc their order of authority.
// CCL_PROCESS_LAUNCHER puts one of them before the others; with CCL_PROCESS_LAUNCHER=none,
// CCL_LOCAL_RANK and CCL_LOCAL_SIZE give the local place.
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

// The way in which the ranks of a job on several hosts learn where to meet.
struct Route {
  enum class Kind {
    kOneHost,  // they need not: all derive the name of an abstract socket from the job's key
    kAddress,  // rank 0 serves at an address that all know
    kFile,     // rank 0 writes the id to a file that all see
    kMpi,      // the program's own MPI broadcasts the id
    kPmi,      // through the key-value space of the process manager
    kPmix,
    kNone,  // no way is known
  };
  Kind kind = Kind::kOneHost;
  std::string host;  // for kAddress
  int port = 0;
  bool prefer_ipv6 = false;
  std::string file;  // the path, for kFile
  // PMI_FD for kPmi: the connection to a process manager, which an MPI library of the program
  // shares.
  int pmi_fd = -1;
};

struct JobPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;
  int local_ranks = 1;
  std::string key;       // equal on all ranks of this life of the job, and in no other job
  std::string launcher;  // the launcher's name, for texts
  Route route = {};
};

// Variables that are incomplete or contradict one another are an error. It names the variable, its
// value and what was expected.
Result<JobPlace> detect_job(const Getter& getter);

// The variables by which this process is one of several, like "WORLD_SIZE is "1",
// OMPI_COMM_WORLD_SIZE is "2""; empty if it is not. It is for a communicator of one rank.
std::string larger_job(const Getter& getter);

// The id of the next communicator that this process makes of its whole job on one host. The first
// call of each rank gives the same id, the second another.
UniqueId id_for_job(const JobPlace& place);

// Meets the other processes of the job, at a service that rank 0 starts. Communicators of the whole
// job are made in the same order by all of its processes.
Result<std::unique_ptr<Exchange>> join_job(const JobPlace& place, int64_t deadline_ms);
// Tells the others, instead of join_job(), why this process cannot take part. Waits for them as
// stay_away() does.
void stay_away_from_job(const JobPlace& place, const Status& why);

}  // namespace tutti
