// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verify_nested.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "exec/plan_key.hpp"

namespace {

using tutti::Move;
using tutti::Phase;
using tutti::Problem;
using tutti::Ref;
using tutti::Scope;
using tutti::Space;
using tutti::Status;

tutti::DataType type_of(uint32_t bytes) {
  switch (bytes) {
    case 1: return tutti::DataType::kInt8;
    case 2: return tutti::DataType::kFloat16;
    case 8: return tutti::DataType::kFloat64;
    case 16: return tutti::DataType::kComplex128;
    default: return tutti::DataType::kFloat32;
  }
}

// Where a buffer would lie, for finding out which coincide.
void* stand_in(const Ref& ref) {
  return reinterpret_cast<void*>((uint64_t{ref.base} + 1) << 56 | ref.offset);
}

// The call that a phase is, on that rank of its column.
Problem problem_of(const Phase& phase, const tutti::Hosts& groups, int rank,
                   uint32_t element_bytes) {
  tutti::Call call;
  call.collective = phase.collective;
  call.type = type_of(element_bytes);
  call.root = phase.root;
  call.count = phase.count;
  call.send = stand_in(phase.send);
  call.recv = stand_in(phase.recv);
  if (is_uneven(phase.collective)) call.layouts = std::make_shared<tutti::Layouts>(phase.layouts);
  Problem problem;
  problem.collective = phase.collective;
  problem.rank = rank;
  problem.ranks = static_cast<int>(groups.host_of.size());
  problem.root = std::max(phase.root, 0);
  problem.count = problem.stride = phase.count;
  problem.element_bytes = element_bytes;
  problem.layouts = phase.layouts;
  problem.in_place = plan_key(call, rank).in_place;
  problem.hosts = &groups;
  return problem;
}

// Phases of a column's composition, as phases of the whole.
class InColumn final : public PhaseSink {
 public:
  InColumn(std::span<const int> ranks, std::span<const Phase* const> calls,
           const std::vector<uint64_t>& scratch_bytes, PhaseEffects& effects)
      : ranks_(ranks), calls_(calls), scratch_bytes_(scratch_bytes), effects_(effects) {}

  Status perform(Scope, std::span<const int> ranks, std::span<const Phase* const> phases) override {
    std::vector<int> of_whole;
    std::vector<Phase> translated;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const Phase& call = call_of(ranks[i]);
      Phase phase = *phases[i];
      phase.begins = phase.begins && call.begins;
      phase.finishes = phase.finishes && call.finishes;
      phase.send = in_whole(ranks[i], phase.send);
      phase.recv = in_whole(ranks[i], phase.recv);
      of_whole.push_back(rank_of(ranks[i]));
      translated.push_back(std::move(phase));
    }
    std::vector<const Phase*> pointers;
    for (const Phase& phase : translated) pointers.push_back(&phase);
    return effects_.perform(of_whole, pointers);
  }

  Status move(int rank, std::span<const Move> moves) override {
    std::vector<Move> translated(moves.begin(), moves.end());
    for (Move& move : translated) {
      move.to = in_whole(rank, move.to);
      move.from = in_whole(rank, move.from);
      for (Ref& other : move.others) other = in_whole(rank, other);
    }
    return effects_.move(rank_of(rank), translated);
  }

 private:
  [[nodiscard]] int rank_of(int rank) const { return ranks_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Phase& call_of(int rank) const { return *calls_[static_cast<size_t>(rank)]; }
  [[nodiscard]] Ref in_whole(int rank, const Ref& ref) const {
    switch (ref.space()) {
      case Space::kSend: return call_of(rank).send.plus(ref.offset);
      case Space::kRecv: return call_of(rank).recv.plus(ref.offset);
      default: break;
    }
    const uint64_t scratch = scratch_bytes_[static_cast<size_t>(rank_of(rank))];
    return Ref::of(Space::kScratch, scratch + ref.offset);
  }

  const std::span<const int> ranks_;
  const std::span<const Phase* const> calls_;
  const std::vector<uint64_t>& scratch_bytes_;
  PhaseEffects& effects_;
};

}  // namespace

NestedPhases::NestedPhases(const tutti::Hosts& hosts, uint32_t element_bytes,
                           AlgorithmOf within_columns, std::vector<uint64_t> scratch_bytes,
                           PhaseEffects& effects)
    : hosts_(hosts),
      element_bytes_(element_bytes),
      within_columns_(within_columns),
      scratch_bytes_(std::move(scratch_bytes)),
      effects_(effects) {}

Status NestedPhases::move(int rank, std::span<const Move> moves) {
  return effects_.move(rank, moves);
}

Status NestedPhases::perform(Scope scope, std::span<const int> ranks,
                             std::span<const Phase* const> phases) {
  const bool grouped = scope == Scope::kColumn && hosts_.groups != nullptr;
  const tutti::Algorithm* const algorithm =
      grouped ? within_columns_(phases[0]->collective) : nullptr;
  if (algorithm == nullptr) return effects_.perform(ranks, phases);
  std::vector<Problem> problems;
  for (size_t i = 0; i < ranks.size(); ++i) {
    problems.push_back(problem_of(*phases[i], *hosts_.groups, static_cast<int>(i), element_bytes_));
  }
  if (!algorithm->applies(problems[0]).yes) return effects_.perform(ranks, phases);
  return perform_composed(*algorithm, problems, ranks, phases)
      .with_context(fmt::format("the column of rank {}", ranks[0]));
}

Status NestedPhases::perform_composed(const tutti::Algorithm& algorithm,
                                      const std::vector<Problem>& problems,
                                      std::span<const int> ranks,
                                      std::span<const Phase* const> phases) {
  const tutti::Problems all(problems);
  std::vector<tutti::Composition> compositions;
  for (size_t i = 0; i < ranks.size(); ++i) {
    compositions.push_back(algorithm.compose(problems[i]));
    const tutti::Composition& composition = compositions.back();
    TUTTI_RETURN_IF_ERROR(check_overlap(composition, all, *hosts_.groups, static_cast<int>(i)));
    effects_.set_scratch(ranks[i],
                         scratch_bytes_[static_cast<size_t>(ranks[i])] + composition.scratch_bytes);
    nested_ += composition.phases.size();
  }
  InColumn sink(ranks, phases, scratch_bytes_, effects_);
  return walk(*hosts_.groups, compositions, sink);
}
