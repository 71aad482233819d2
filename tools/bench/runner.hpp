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
  // Makes just as many calls as `iterations` and `warm_up` say, even none before.
  bool exactly = false;
  bool together = false;      // a sample is a call on each set, all under way at once
  bool check_each = false;    // compare after every call, not only before and after timing
  bool counts_wrong = false;  // a wrong result is counted and is no error
  Device* device = nullptr;   // where the buffers are, and on whose queue the calls
};

struct Measurement {
  Case measured;
  size_t iterations;
  std::vector<Statistics> ranks;  // in rank order
  Statistics all;                 // over_ranks(ranks)
  double algorithm_bandwidth;     // GB/s (10^9)
  double bus_bandwidth;
  uint64_t wrong;  // elements of all ranks in all checks
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
  template <typename Value>
  Result<std::vector<Value>> exchange(const Value& mine);
  // An error on all ranks if any of them has one.
  Status agree(const Status& mine);
  // Makes one call per set, and has all ranks agree on whether the results are right.
  Status check(Buffers& buffers, Caller& caller);
  // A sample's call or calls; then what `check_each` asks for.
  Status make_calls(size_t number, Caller& caller);
  Status compare(Buffers& buffers, size_t set);
  Result<size_t> warm_up(Buffers& buffers, Caller& caller);
  Result<std::vector<double>> sample(Buffers& buffers, Caller& caller, size_t calls);
  Result<Measurement> measure(const Case& measured, Buffers& buffers, Caller& caller);

  tutti_comm_t comm_;
  int rank_;
  int ranks_;
  Plan plan_;
  double clock_us_;  // cost of one look at the clock, subtracted from each sample
  uint64_t random_;
  uint64_t wrong_ = 0;  // elements, on this rank
  double wait_us_ = 0;  // wait of a sample's calls after their start
};

}  // namespace tutti::bench
