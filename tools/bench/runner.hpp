// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Measures cases, all ranks together. Every decision (how many calls, go on or stop) is taken from
// figures that all ranks have exchanged, so that all take the same one.
#pragma once

#include <tutti/tutti.h>

#include <string>
#include <variant>
#include <vector>

#include "core/status.hpp"
#include "tools/bench/buffers.hpp"
#include "tools/bench/caller.hpp"
#include "tools/bench/statistics.hpp"

namespace tutti::bench {

struct Plan {
  Form form = Form::kBlocking;
  int root = 0;
  bool in_place = false;
  bool check = true;
  size_t buffers = 1;
  bool shared = false;  // buffers of tutti_alloc
  bool huge_pages = false;
  size_t iterations = 0;  // 0: as many as fit in `seconds`
  size_t warm_up = 0;     // calls before; 0: a tenth of `seconds`
  double seconds = 0.2;   // per case
  double skew_us = 0;     // each rank is late for each call by a random time up to this
};

struct Measurement {
  Case measured;
  size_t iterations;
  std::vector<Statistics> ranks;  // in rank order
  Statistics all;                 // over_ranks(ranks)
  double algorithm_bandwidth;     // GB/s (10^9)
  double bus_bandwidth;
};

// The collective is not there in this form or this release; the communicator can still be used.
struct Skipped {
  std::string reason;
};

class Runner {
 public:
  Runner(tutti_comm_t comm, int rank, int ranks, const Plan& plan);

  // On every rank the same: a measurement, a reason to skip, or an error.
  Result<std::variant<Measurement, Skipped>> run(const Case& measured);

 private:
  Result<std::vector<Statistics>> exchange(const Statistics& mine);
  Result<double> from_rank_0(double value);
  // An error on all ranks if any of them has one.
  Status agree(const Status& mine);
  Status check(Buffers& buffers, Caller& caller);
  Result<size_t> warm_up(Caller& caller);
  Result<std::vector<double>> sample(Caller& caller, size_t calls);
  Result<Measurement> measure(const Case& measured, Buffers& buffers, Caller& caller);

  tutti_comm_t comm_;
  int rank_;
  int ranks_;
  Plan plan_;
  double clock_us_;  // what one look at the clock costs, subtracted from each sample
  uint64_t random_;
};

}  // namespace tutti::bench
