// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A plan: all that a kind of call needs and that does not depend on its buffers. Plans are made
// once per kind and kept by a cache (exec/plan_cache.hpp).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adapt/arms.hpp"
#include "algorithms/algorithm.hpp"
#include "exec/call.hpp"
#include "exec/plan_key.hpp"
#include "exec/receives.hpp"
#include "kernels/reduce_host.hpp"
#include "sched/problem.hpp"
#include "sched/schedule.hpp"
#include "sched/traits.hpp"

namespace tutti {

struct Plan;

// The work of one lane in a call that it runs itself: its schedule, for the part of each block that
// begins `offset` bytes in.
struct LanePlan {
  Schedule schedule;
  std::vector<ReceiveStep> receives;
  // Facts about `schedule`, but for these: most_sources is the maximum over `when_mapped` and
  // `other_arms`, too. uses_window covers `when_mapped`, but not other arms, which have their own.
  // staged_bytes is 0 with ping-pong slots, runs_ahead false with other arms.
  Traits traits;
  uint64_t offset = 0;
  bool announces = false;   // entry shows buffers or announces an arm: see BasicLane::enter
  bool maps_peers = false;  // reads buffers of peers where they lie (Limits::maps_peers)
  // How many bytes of a slot the call may use, in whole cache lines; the same on every rank. 0: no
  // slot is used.
  uint64_t slot_extent = 0;
  bool has_root = false;  // has_root(collective)
  // Whether it uses the ping-pong slots, which two ranks swap from call to call.
  bool ping_pong_slots = false;
  // The plan that replaces this one after the entry, if all buffers lie in memory that all ranks
  // map (Limits::maps_peers), as the entries say. Null: this one goes on.
  std::shared_ptr<const LanePlan> when_mapped;
  // The other arms that calls of this kind try, and use if they are faster (adapt/call_trials.hpp).
  // The number of arms is the same for all lanes of a plan and on all ranks.
  std::vector<std::shared_ptr<const LanePlan>> other_arms;
};

// The work of a group of lanes in a call that is a composition, for such a part of each block.
struct ComposedPlan {
  struct Phase {
    Scope scope = Scope::kHost;
    uint32_t after = 0;
    Ref send;
    Ref recv;
    Call call;                         // of the phase, without buffers
    std::shared_ptr<const Plan> plan;  // null where there are moves instead
    std::vector<Move> moves;
  };
  std::vector<Phase> phases;
  uint64_t offset = 0;
  uint64_t scratch_bytes = 0;
  // Whether some rank reduces by moves, and no phase begins the reduction.
  bool reduces_alone = false;
  uint32_t most_sources = 0;  // the most sources of a move on this rank
};

using LaneGroupPlan = std::variant<LanePlan, ComposedPlan>;

struct Plan {
  std::vector<LaneGroupPlan> lanes;  // plans of lanes 0, 1, ..., all of one kind
  const Algorithm* algorithm = nullptr;
  Arms arms;  // where there are some: the name of the first way, then of each of other_arms
  uint32_t signature = 0;
  CallRecord record{};  // of calls of this kind, without their sequence
  uint32_t element_bytes = 1;
  uint32_t divisor = 1;           // number of ranks if the call is an average
  ReduceKernel kernel = nullptr;  // null: no reduction, or a user's

  // The work of the lane; null if it is of the other kind.
  [[nodiscard]] const LanePlan* scheduled(size_t lane = 0) const {
    return std::get_if<LanePlan>(&lanes[lane]);
  }
  [[nodiscard]] const ComposedPlan* composed(size_t lane = 0) const {
    return std::get_if<ComposedPlan>(&lanes[lane]);
  }
  [[nodiscard]] CallRecord record_of(uint64_t sequence) const {
    CallRecord of_call = record;
    of_call.sequence = sequence;
    return of_call;
  }
  // The number of steps that it has in memory, for the bound on the cache of plans.
  [[nodiscard]] size_t steps() const;
};

// Whether a lane may leave this schedule after the entry for one that was chosen for
// seen_by_all(problem). It does so if all buffers lie in memory that all ranks map (tutti_alloc).
[[nodiscard]] bool can_go_over(Collective collective, const Schedule& schedule);
[[nodiscard]] Problem seen_by_all(Problem problem);

// The algorithms for a call, the same on all ranks.
using Choose = std::function<Chosen(const Problem&)>;

// The problem with the other kind of stores to the receive buffer (Chosen). The words for its kind:
// "past the caches" or "through the caches".
[[nodiscard]] Problem with_other_stores(Problem problem);
[[nodiscard]] std::string_view kind_of_stores(const Problem& problem);

// The inputs of a plan besides the call.
struct PlanContext {
  int rank = 0;
  int ranks = 1;
  int lanes = 1;
  int all_ranks = 0;  // ranks of the whole call, if this context plans its phases; else 0
  Limits limits;
  bool can_map_peers = false;  // SharedMemory::can_map_peers()
  const Choose* choose = nullptr;
  const Choose* choose_alone = nullptr;  // choice for a phase with Phase::alone; null: `choose`
  // The hosts of the ranks if there are several. The contexts of the scopes of a composition, null
  // for one that this rank is not in.
  const Hosts* hosts = nullptr;
  const Hosts* cache_domains = nullptr;  // Problem::cache_domains
  std::array<const PlanContext*, kScopes> scopes{};
};

// The call with that key as an algorithm sees it.
[[nodiscard]] Problem problem_for(const PlanKey& key, const PlanContext& context);

// Null if no algorithm applies.
std::shared_ptr<Plan> make_plan(const Call& call, const PlanKey& key, const PlanContext& context);

}  // namespace tutti
