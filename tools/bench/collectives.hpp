// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The collectives that tutti bench can time, one a line of a table. It has the three forms of each,
// the shape of its buffers, and how its bandwidth is counted. Those whose blocks may differ in size
// are called with equal ones: the cost of not knowing that is of interest.
#pragma once

#include <tutti/tutti.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace tutti::bench {

// The arguments of one call, of which each collective takes what it needs.
struct Call {
  const void* send;
  void* recv;  // broadcast: the buffer
  size_t count;
  const size_t* counts;  // `count` for each rank
  tutti_type type;
  tutti_op op;
  int root;
  int rank;
  int ranks;
  tutti_comm_t comm;
};

// The final content of the receive buffer.
enum class Outcome {
  kNothing,
  kReduced,  // the whole reduction
  kReducedAtRoot,
  kReducedBlock,   // this rank's block of it
  kFromRoot,       // the root's data
  kBlockFromRoot,  // this rank's block of the root's data
  kFromAll,        // everybody's data in rank order
  kFromAllAtRoot,
  kBlockFromAll,  // everybody's block for this rank, in rank order
  kFromPrevious,  // the data of rank - 1
};

enum class Blocks { kNone, kOne, kAll };  // how many times `count` elements; kAll: one per rank

struct Collective {
  std::string_view name;
  bool reduces;
  bool in_place;  // has such a form apart from the usual one
  Blocks send;
  Blocks recv;
  Outcome outcome;
  // Bus bandwidth over algorithm bandwidth, so that the figure compares with that of the hardware
  // whatever the number of ranks. nccl-tests defines both in doc/PERFORMANCE.md.
  double (*bus_factor)(double ranks);
  tutti_status (*blocking)(const Call&);
  tutti_status (*nonblocking)(const Call&, tutti_request_t*);
  tutti_status (*persistent)(const Call&, tutti_request_t*);
};

std::span<const Collective> collectives();
// nullptr if there is none; usual names (usual_names.hpp) are known, too.
const Collective* find_collective(std::string_view name);

}  // namespace tutti::bench
