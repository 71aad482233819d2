// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "proof/call_kinds.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace tutti {
namespace {

bool sends_messages(const Step& step) {
  return step.kind == StepKind::kSend || step.kind == StepKind::kRecv;
}

// Equal blocks, one after the other, as many as that buffer has.
BlockLayout layout_of(Blocks blocks, uint64_t count, int ranks) {
  BlockLayout layout;
  const int number = blocks == Blocks::kPerRank ? ranks : blocks == Blocks::kOne ? 1 : 0;
  for (int i = 0; i < number; ++i) {
    layout.counts.push_back(count);
    layout.offsets.push_back(static_cast<uint64_t>(i) * count);
  }
  return layout;
}

void place_buffers(Call& call, uint64_t count, bool in_place, int rank) {
  std::byte* const buffers = Witness::buffers_of(rank);
  constexpr uint64_t kApart = 64 << 20;
  const uint64_t own = static_cast<uint64_t>(rank) * count * type_size(call.type);
  const std::pair<uint64_t, uint64_t> places[] = {{0, 0}, {own, 0}, {0, own}};
  for (const auto& [send, recv] : places) {
    call.send = buffers + send;
    call.recv = buffers + recv;
    if (in_place && is_in_place(call, rank)) return;
  }
  call.send = buffers;
  call.recv = buffers + kApart;
}

Call call_of(Collective collective, uint64_t count, int root, bool in_place, int rank, int ranks) {
  Call call;
  call.collective = collective;
  call.type = DataType::kFloat32;
  call.root = has_root(collective) ? root : -1;
  call.count = collective == Collective::kBarrier ? 0 : count;
  if (is_uneven(collective)) {
    const BufferBlocks blocks = blocks_of(collective, rank == root);
    call.layouts = std::make_shared<BlockLayouts>(
        BlockLayouts{layout_of(blocks.send, count, ranks), layout_of(blocks.recv, count, ranks)});
    const bool all_know =
        collective == Collective::kAllgatherv || collective == Collective::kReduceScatterv;
    if (!all_know) call.count = 0;
  }
  place_buffers(call, count, in_place, rank);
  return call;
}

// On some rank.
bool any_in_place(const std::vector<ModelCall>& calls) {
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    if (is_in_place(calls[rank].call, static_cast<int>(rank))) return true;
  }
  return false;
}

}  // namespace

ModelOptions tight_options(int ranks, bool oversubscribed) {
  return {.ranks = ranks,
          .oversubscribed = oversubscribed,
          .limits = {.slots = {.call_bytes = 16 << 10},
                     .window_bytes = 8 << 10,
                     .chunk_bytes = 2 << 10,
                     .pulls = true}};
}

std::vector<ModelCall> shared_calls(const Algorithm& algorithm, uint64_t count, int root,
                                    bool in_place, const ModelOptions& options) {
  const Choose choose = [&algorithm](const Problem& problem) {
    Chosen chosen;
    if (algorithm.applies(problem).yes) chosen.algorithm = &algorithm;
    return chosen;
  };
  std::vector<ModelCall> calls;
  for (int rank = 0; rank < options.ranks; ++rank) {
    Call call = call_of(algorithm.collective, count, root, in_place, rank, options.ranks);
    PlanContext context;
    context.rank = rank;
    context.ranks = options.ranks;
    context.limits = options.limits;
    context.choose = &choose;
    std::shared_ptr<Plan> plan = make_plan(call, plan_key(call, rank), context);
    if (plan == nullptr || plan->lanes.size() != 1 || plan->scheduled() == nullptr) return {};
    if (std::ranges::any_of(plan->scheduled()->schedule.steps, sends_messages)) return {};
    calls.push_back({std::move(call), std::move(plan)});
  }
  return calls;
}

CallKinds::CallKinds(const ModelOptions& options) : ranks_(static_cast<size_t>(options.ranks)) {
  for (const Algorithm* algorithm : algorithms()) {
    const int roots = has_root(algorithm->collective) ? options.ranks : 1;
    for (const uint64_t count : {2U, 40U, 500U, 1500U, 3000U}) {
      for (int root = 0; root < roots; ++root) {
        for (const bool in_place : {false, true}) {
          std::vector<ModelCall> calls = shared_calls(*algorithm, count, root, in_place, options);
          if (!calls.empty() && in_place == any_in_place(calls)) kinds_.push_back(std::move(calls));
        }
      }
    }
  }
}

SequenceModel::Calls CallKinds::draw(uint32_t seed, size_t calls, size_t few) const {
  std::mt19937 random(seed);
  const bool in_turn = seed % 2 != 0;
  std::vector<size_t> drawn(few);
  for (size_t& kind : drawn) kind = random() % kinds_.size();
  SequenceModel::Calls sequence(ranks_);
  for (size_t i = 0; i < calls; ++i) {
    const size_t kind =
        few == 0 ? random() % kinds_.size() : drawn[in_turn ? i % few : random() % few];
    for (size_t rank = 0; rank < ranks_; ++rank) sequence[rank].push_back(kinds_[kind][rank]);
  }
  return sequence;
}

}  // namespace tutti
