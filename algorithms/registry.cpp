// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The algorithms of registry.inc, and the schedule of a rank that is alone.
#include <algorithm>
#include <iterator>

#include "algorithms/algorithm.hpp"

namespace tutti {
namespace {

// The null at the end allows an empty registry.
constexpr const Algorithm* kAlgorithms[] = {
#define TUTTI_ALGORITHM(collective, name) &collective##_##name,
#include "algorithms/registry.inc"
#undef TUTTI_ALGORITHM
    nullptr};

// The schedule of any algorithm when there is one rank.
void build_alone(const Problem& problem, Builder& builder) {
  const Ref send = Ref::of(Space::kSend, problem.send_block(0).offset);
  const Ref recv = Ref::of(Space::kRecv, problem.recv_block(0).offset);
  const uint64_t bytes = problem.recv_block(0).bytes;
  switch (problem.collective) {
    case Collective::kAllreduce:
    case Collective::kReduce:
    case Collective::kReduceScatter:
    case Collective::kReduceScatterv: return builder.reduce(recv, {send}, bytes, true);
    case Collective::kAllgather:
    case Collective::kAlltoall:
    case Collective::kGather:
    case Collective::kScatter:
    case Collective::kAllgatherv:
    case Collective::kAlltoallv:
    case Collective::kGatherv:
    case Collective::kScatterv:
      if (!problem.in_place) builder.copy(recv, send, bytes);
      return;
    default: return;  // broadcast: the buffer has it already
  }
}

}  // namespace

std::span<const Algorithm* const> algorithms() {
  return std::span(kAlgorithms).first(std::size(kAlgorithms) - 1);
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Algorithm* algorithm) {
    return algorithm->collective == collective && algorithm->name == name;
  });
  return found == all.end() ? nullptr : *found;
}

Schedule build_schedule(const Algorithm& algorithm, const Problem& problem) {
  Schedule schedule;
  Builder builder(schedule);
  if (problem.ranks == 1) {
    build_alone(problem, builder);
  } else {
    algorithm.build(problem, builder);
  }
  return schedule;
}

}  // namespace tutti
