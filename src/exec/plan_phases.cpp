// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes a plan for each phase, in the scope where it runs.
#include "exec/plan_phases.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/common.hpp"

namespace tutti {
namespace {

// The operation of a phase that reduces: the caller's, but that scaling comes first and the
// division of an average last.
ReduceOp op_of(const Phase& phase, ReduceOp whole) {
  if (whole == ReduceOp::kAvg) return phase.finishes ? whole : ReduceOp::kSum;
  if (whole == ReduceOp::kPremulSum) return phase.begins ? whole : ReduceOp::kSum;
  return whole;
}

// An address for buffers that are not known yet, to find out which coincide.
void* stand_in(const Ref& ref) {
  return reinterpret_cast<void*>((uint64_t{ref.base} + 1) << 56 | ref.offset);
}

uint32_t most_sources(const std::vector<Move>& moves) {
  size_t most = 0;
  for (const Move& move : moves) {
    if (!move.others.empty()) most = std::max(most, move.others.size() + 1);
  }
  return static_cast<uint32_t>(most);
}

class PhasePlanner {
 public:
  PhasePlanner(const PlanContext& context, const Call& call, uint32_t signature)
      : context_(context), call_(call), signature_(signature) {}

  // The plan; none if there is no algorithm for some phase.
  std::optional<ComposedPlan> plan(const Composition& composition) {
    std::optional<ComposedPlan> composed(std::in_place);
    composed->scratch_bytes = composition.scratch_bytes;
    composed->reduces_alone =
        reduces(call_.collective) && std::ranges::none_of(composition.phases, &Phase::begins);
    for (const Phase& phase : composition.phases) {
      if (!phase.moves.empty()) {
        composed->most_sources = std::max(composed->most_sources, most_sources(phase.moves));
        composed->phases.push_back({phase.scope, phase.after, {}, {}, {}, nullptr, phase.moves});
        continue;
      }
      Call call = call_of_phase(phase, call_);
      std::shared_ptr<const Plan> plan = plan_of(phase, call);
      if (plan == nullptr) return std::nullopt;
      call.send = nullptr;
      call.recv = nullptr;
      composed->phases.push_back(
          {phase.scope, phase.after, phase.send, phase.recv, std::move(call), std::move(plan), {}});
    }
    return composed;
  }

 private:
  // Phases that are alike share one.
  std::shared_ptr<const Plan> plan_of(const Phase& phase, const Call& call) {
    PlanContext context = *context_.scopes[static_cast<size_t>(phase.scope)];
    if (phase.alone && context.choose_alone != nullptr) context.choose = context.choose_alone;
    const PlanKey key = plan_key(call, context.rank);
    for (const auto& [scope, known_key, known] : known_) {
      if (scope == phase.scope && known_key == key) return known;
    }
    std::shared_ptr<Plan> plan = make_plan(call, key, context);
    if (plan == nullptr) return nullptr;
    plan->signature = chained(signature_, plan->signature);
    known_.emplace_back(phase.scope, key, plan);
    return plan;
  }

  const PlanContext& context_;
  const Call& call_;
  const uint32_t signature_;
  std::vector<std::tuple<Scope, PlanKey, std::shared_ptr<const Plan>>> known_;
};

// ---- calls within a scope ----------------------------------------------------------------------

Composition in_scope(const Problem& q, Scope scope) {
  Phase phase{.scope = scope,
              .collective = q.collective,
              .begins = true,
              .finishes = true,
              .count = q.count,
              .send = send_at(0),
              .recv = recv_at(0)};
  if (has_root(q.collective)) {
    phase.root = scope == Scope::kColumn ? q.hosts->host(q.root) : q.hosts->place(q.root);
  }
  Composition composition;
  composition.phases.push_back(std::move(phase));
  return composition;
}

Composition in_column(const Problem& q) { return in_scope(q, Scope::kColumn); }
Composition in_host(const Problem& q) { return in_scope(q, Scope::kHost); }

// Nobody chooses these: they have no costs, and collectives of any kind.
constexpr Algorithm scoped(std::string_view name, Composition (*compose)(const Problem&)) {
  return {.name = name,
          .summary = "among some of the ranks",
          .collective = Collective::kBarrier,
          .rank_order = false,
          .applies = nullptr,
          .seconds = nullptr,
          .compose = compose};
}
constexpr Algorithm kOfColumn = scoped("column", in_column);
constexpr Algorithm kOfHost = scoped("host", in_host);

}  // namespace

Call call_of_phase(const Phase& phase, const Call& whole) {
  Call call;
  call.collective = phase.collective;
  call.type = whole.type;
  if (reduces(phase.collective)) call.op = op_of(phase, whole.op);
  call.root = phase.root;
  call.count = phase.count;
  call.send = stand_in(phase.send);
  call.recv = stand_in(phase.recv);
  if (is_uneven(phase.collective)) call.layouts = std::make_shared<BlockLayouts>(phase.layouts);
  return call;
}

std::optional<ComposedPlan> plan_phases(const PlanContext& context, const Call& call,
                                        uint32_t signature, const Composition& composition) {
  return PhasePlanner(context, call, signature).plan(composition);
}

const Algorithm* algorithm_of_scope(Purpose purpose) {
  if (is_step_on(purpose, Purpose::kInColumn)) return &kOfColumn;
  return is_step_on(purpose, Purpose::kInHost) ? &kOfHost : nullptr;
}

}  // namespace tutti
