// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A schedule as the simulation runs it: what each step costs its rank, and what it waits for. Peers
// are told by how far after the rank they are, so that ranks that do the same share one program. A
// ring has one, whatever the number of ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti::simulate {

enum class OpKind : uint8_t {
  kWork,     // amount: seconds
  kSend,     // amount: bytes
  kRecv,     // amount: bytes
  kFence,    // all sends so far have left
  kPublish,  // amount: the tick
  kAwait,    // amount: the tick
};

struct Op {
  OpKind kind = OpKind::kWork;
  int32_t apart = 0;  // the peer's rank is (rank + apart) modulo ranks; or kAllPeers
  double amount = 0;
  friend bool operator==(const Op&, const Op&) = default;
};

struct Program {
  std::vector<Op> ops;
  int ranks = 1;  // of the scope
  uint32_t ticks = 1;
};

// The costs of steps.
struct StepCosts {
  Machine machine;
  bool cached = true;  // whether the caller's buffers stay in the second-level cache
  double pull_byte_s = 0;
};
StepCosts step_costs(const Problem& problem, const Machine& machine);

class Programs {
 public:
  // The program of a schedule, one for all that are alike.
  const Program* of(const Schedule& schedule, int rank, int ranks, const StepCosts& costs);
  // The steps of all programs, to bound the memory.
  [[nodiscard]] uint64_t ops() const { return ops_; }
  [[nodiscard]] size_t count() const { return all_.size(); }

 private:
  std::deque<Program> all_;
  std::unordered_multimap<uint64_t, const Program*> by_hash_;
  uint64_t ops_ = 0;
};

}  // namespace tutti::simulate
