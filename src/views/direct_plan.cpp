// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/direct_plan.hpp"

#include <algorithm>

#include "select/on_device.hpp"

namespace tutti {
namespace {

constexpr size_t kMostPlans = 64;

Problem problem_of(const PlanKey& key, int rank, int ranks) {
  Problem problem;
  problem.collective = key.collective;
  problem.rank = rank;
  problem.ranks = ranks;
  problem.root = std::max(key.root, 0);
  problem.count = problem.stride = key.count;
  problem.element_bytes = static_cast<uint32_t>(type_size(key.type));
  problem.in_place = key.in_place;
  if (key.layouts != nullptr) problem.layouts = *key.layouts;
  problem.rank_order = reduces(key.collective) && needs_rank_order(key.op, key.type);
  return on_device(problem);
}

void note_shares(DirectPlan& plan, int rank) {
  const Shares& shares = *plan.shares;
  const bool copies_recv = plan.key.collective == Collective::kBroadcast;
  for (const int peer : shares.neighbors()) {
    if (peer == rank) continue;
    if (reduces(plan.key.collective)) plan.reads_send_of.push_back(peer);
    const bool is_read = shares.has_pulls() || (copies_recv && peer == shares.copies_from());
    if (is_read || peer == shares.writes_to()) plan.reads_recv_of.push_back(peer);
  }
}

void note_readers(DirectPlan& plan) {
  const auto note = [&](const Ref& ref) {
    if (ref.space() != Space::kPeerSend && ref.space() != Space::kPeerRecv) return;
    auto& ranks = ref.space() == Space::kPeerSend ? plan.reads_send_of : plan.reads_recv_of;
    if (std::ranges::find(ranks, ref.peer()) == ranks.end()) ranks.push_back(ref.peer());
  };
  for (const Step& step : plan.schedule.steps) {
    if (step.kind == StepKind::kCopy || step.kind == StepKind::kPull) note(step.src);
  }
  for (const Ref& source : plan.schedule.sources) note(source);
}

}  // namespace

bool may_run_on_devices(const Call& call, int ranks) {
  const bool by_user = reduces(call.collective) && call.op == ReduceOp::kUser;
  return !by_user && can_run_on_devices(call.collective, call.count, ranks).yes;
}

std::shared_ptr<const DirectPlan> DirectPlans::find(const Call& call) {
  const PlanKey key = plan_key(call, rank_);
  for (const auto& plan : plans_) {
    if (plan->key == key) return plan;
  }
  auto plan = std::make_shared<DirectPlan>();
  plan->key = key;
  if (hosts_ != nullptr) {
    plan->shares.emplace(call, *hosts_, rank_);
    note_shares(*plan, rank_);
  } else {
    const Problem problem = problem_of(key, rank_, ranks_);
    const Algorithm* const algorithm = choose_on_device(problem, figures_);
    if (algorithm == nullptr) return nullptr;
    plan->schedule = build_schedule(*algorithm, problem);
    note_readers(*plan);
  }
  if (plans_.size() == kMostPlans) plans_.pop_back();
  plans_.push_front(plan);
  return plan;
}

}  // namespace tutti
