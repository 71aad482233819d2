// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A plan: all that a kind of call needs and that does not depend on its buffers. Plans are made
// once per kind and kept by the communicator's cache.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "exec/call.hpp"
#include "exec/receives.hpp"
#include "kernels/reduce_host.hpp"
#include "sched/schedule.hpp"
#include "sched/traits.hpp"

namespace tutti {

struct ComposedPlan;

struct Plan {
  // What one lane does: its schedule, for the part of each block that begins `offset` bytes in.
  struct Part {
    Schedule schedule;
    std::vector<ReceiveStep> receives;
    // Of the schedule; `most_sources` and `uses_window` also of what the part may go over to.
    Traits traits;
    uint64_t offset = 0;
    bool announces = false;  // its entry has something to say besides: see Lane::enter
    bool views = false;      // reads buffers of peers where they lie (Limits::views)
    bool is_long = false;    // no second-level cache may hold what a rank receives
    // How much of the slots the call may use, the same number on every rank: whole cache lines; 0
    // if it uses none.
    uint64_t slot_extent = 0;
    bool has_root = false;  // has_root(collective)
    // The slots are those that two ranks swap from call to call.
    bool ping_pong_slots = false;
    // What to go on with after the entry instead, if the buffers of all ranks turn out to lie in
    // memory that all of them see (Limits::views). Null: nothing.
    std::shared_ptr<const Part> viewing;
    // What calls of this kind use instead where that has turned out to be faster: see
    // exec/call_trials.hpp. All parts of a plan, on all ranks, have as many.
    std::vector<std::shared_ptr<const Part>> other_arms;
    // Instead of the schedule, for ranks on several hosts.
    std::shared_ptr<const ComposedPlan> composed;
  };
  std::vector<Part> parts;  // of lanes 0, 1, ...
  const Algorithm* algorithm = nullptr;
  // If parts have other arms: what to call the parts themselves, then each of these.
  std::vector<std::string> arm_names;
  uint64_t bandit_key = 0;  // calls of the same number share what is known of all
  int coordinator = 0;      // the rank that times all and tells the others
  uint32_t signature = 0;
  CallRecord record{};  // of calls of this kind, but for their sequence
  uint32_t element_bytes = 1;
  uint32_t divisor = 1;           // for avg: the number of ranks
  ReduceKernel kernel = nullptr;  // null: no reduction, or a user's

  [[nodiscard]] CallRecord record_of(uint64_t sequence) const {
    CallRecord of_call = record;
    of_call.sequence = sequence;
    return of_call;
  }
  // What it holds, for the bound on the cache.
  [[nodiscard]] size_t steps() const;
};

// What a composition amounts to on this rank.
struct ComposedPlan {
  struct Phase {
    Scope scope = Scope::kHost;
    uint32_t after = 0;
    Ref send;
    Ref recv;
    Call call;                         // without buffers
    std::shared_ptr<const Plan> plan;  // null where there are moves instead
    std::vector<Move> moves;
  };
  std::vector<Phase> phases;
  uint64_t scratch_bytes = 0;
};

// Whether a lane with this schedule goes over to another one, chosen for seen_by_all(problem), once
// it knows that all buffers lie in memory that all ranks see (tutti_alloc).
[[nodiscard]] bool can_go_over(Collective collective, const Schedule& schedule);
[[nodiscard]] Problem seen_by_all(Problem problem);

// The algorithms for a call on elements of that type, the same on all ranks.
using Choose = std::function<Chosen(const Problem&, DataType)>;

// The problem with the stores to the receive buffer that it would not have (Chosen), and how they
// go: "past the caches" or "through the caches".
[[nodiscard]] Problem with_other_stores(Problem problem);
[[nodiscard]] std::string_view kind_of_stores(const Problem& problem);

// What decides a plan besides the call.
struct PlanContext {
  int rank = 0;
  int ranks = 1;
  int lanes = 1;
  Limits limits;
  bool can_view = false;  // SharedMemory::can_view()
  const Choose* choose = nullptr;
  // If the ranks are on several hosts: where, and the contexts of the scopes of a composition; null
  // for a scope that this rank is not in.
  const Hosts* hosts = nullptr;
  const Hosts* cache_domains = nullptr;  // as in Problem
  std::array<const PlanContext*, kScopes> scopes{};
};

// What tells quickly that two calls of a rank share a plan, while what lays their blocks out lives:
// whether buffers are in place is known by how far apart they are. More do, for others may be any
// distance apart.
struct CallKind {
  explicit CallKind(const Call& call)
      : bits(static_cast<uint64_t>(call.collective) | static_cast<uint64_t>(call.type) << 8 |
             static_cast<uint64_t>(call.op) << 16 |
             static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 32),
        count(call.count),
        apart(reinterpret_cast<uintptr_t>(call.recv) - reinterpret_cast<uintptr_t>(call.send)),
        layouts(call.layouts.get()) {}
  uint64_t bits;
  uint64_t count;
  uint64_t apart;
  const Layouts* layouts;
  friend bool operator==(const CallKind&, const CallKind&) = default;
};

// Calls with equal keys share a plan.
struct PlanKey {
  Collective collective;
  DataType type;
  ReduceOp op;
  bool in_place;
  int root;
  uint64_t count;
  std::shared_ptr<const Layouts> layouts;
  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.collective == b.collective && a.type == b.type && a.op == b.op &&
           a.in_place == b.in_place && a.root == b.root && a.count == b.count &&
           (a.layouts == b.layouts ||
            (a.layouts != nullptr && b.layouts != nullptr && *a.layouts == *b.layouts));
  }
};
struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const;
};

PlanKey plan_key(const Call& call, int rank);
// Null if no algorithm applies.
std::shared_ptr<Plan> make_plan(const Call& call, const PlanKey& key, const PlanContext& context);

}  // namespace tutti
