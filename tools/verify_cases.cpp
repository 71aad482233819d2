// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verify_cases.hpp"

#include <fmt/format.h>

#include "sched/verify.hpp"

namespace {

using tutti::Collective;
using tutti::Limits;
using tutti::Problem;

struct Size {
  uint32_t element_bytes;
  uint64_t count;
};

bool has_blocks(Collective collective) {
  const tutti::BufferBlocks blocks = tutti::blocks_of(collective, true);
  return blocks.send == tutti::Blocks::kPerRank || blocks.recv == tutti::Blocks::kPerRank;
}

std::vector<Limits> limits_of(uint64_t ranks) {
  const uint64_t line_each = 64 * ranks;
  return {
      // Messages only.
      {0, 0, 0},
      // The least in which a line per rank finds room in three parts of the window, and a bit.
      {line_each + 64, 3 * line_each + 64, line_each},
      // The least window that the contract allows for the chunk; everything streams.
      {512, 4 * line_each, 2 * line_each, 0},
      // What users get.
      {32 << 10, 1 << 20, 256 << 10, 8 << 20, true},
  };
}

// Where the staging is tight, up to a dozen chunks. Where it is not, so long that messages are cut
// into segments.
std::vector<Size> sizes_of(Collective collective, uint64_t ranks, const Limits& limits) {
  if (collective == Collective::kBarrier) return {{1, 0}};
  // A chunk is of one rank's data: of its `ranks` blocks in a reduce-scatter.
  const bool sends_blocks = tutti::blocks_of(collective, true).send == tutti::Blocks::kPerRank;
  const uint64_t lines = sends_blocks ? 1 : ranks;
  std::vector<Size> sizes = {
      {4, 0},
      {4, 1},
      {8, 7},  // fills a line's payload
      {1, ranks - 1},
      {1, ranks},
      {1, ranks + 1},
      {2, 32 * lines + 3},
      {4, 64 * lines + 3},
      {1, 10 * 64 * lines + 77},
  };
  const bool tight = limits.slot_bytes != 0 && limits.chunk_bytes < (128 << 10);
  if (tight) return sizes;
  sizes.push_back({8, (300 << 10) / 8 + 5});
  if (collective == Collective::kAllreduce) sizes.push_back({4, ranks * (140 << 10) / 4 + 5});
  return sizes;
}

// Away from the ends, roots differ only in the rotation of ranks: some sizes are enough.
bool worth_a_proof(const Problem& problem, size_t size_index) {
  const bool at_an_end = problem.root == 0 || problem.root == problem.ranks - 1;
  return at_an_end || size_index == 1 || size_index >= 7;
}

std::string reason_text(const tutti::Applies& applies) {
  return applies.why_not.empty() ? "no reason given" : std::string(applies.why_not);
}

}  // namespace

std::vector<Problem> verify_cases(Collective collective, int ranks) {
  std::vector<Problem> cases;
  const bool blocks = has_blocks(collective);
  const int roots = has_root(collective) ? ranks : 1;
  const bool may_be_in_place = can_be_in_place(collective, true);
  for (const Limits& limits : limits_of(static_cast<uint64_t>(ranks))) {
    const std::vector<Size> sizes = sizes_of(collective, static_cast<uint64_t>(ranks), limits);
    for (size_t i = 0; i < sizes.size(); ++i) {
      Problem problem;
      problem.collective = collective;
      problem.ranks = ranks;
      problem.count = sizes[i].count;
      problem.element_bytes = sizes[i].element_bytes;
      problem.limits = limits;
      for (const uint64_t gap : {0U, 5U}) {
        if (gap > 0 && !blocks) continue;
        problem.stride = problem.count + gap;
        for (const bool in_place : {false, true}) {
          if (in_place && !may_be_in_place) continue;
          problem.in_place = in_place;
          for (problem.root = 0; problem.root < roots; ++problem.root) {
            if (worth_a_proof(problem, i)) cases.push_back(problem);
          }
        }
      }
    }
  }
  return cases;
}

void prove_algorithm(const tutti::Algorithm& algorithm, int ranks, ProofTally& tally) {
  std::vector<tutti::Schedule> schedules(static_cast<size_t>(ranks));
  for (Problem problem : verify_cases(algorithm.collective, ranks)) {
    problem.rank = 0;
    const tutti::Applies applies = algorithm.applies(problem);
    for (int rank = 0; rank < ranks; ++rank) {
      problem.rank = rank;
      if (algorithm.applies(problem).yes != applies.yes) {
        tally.failures.push_back(
            fmt::format("{} {}, {} ranks, {} x {} B: ranks 0 and {} disagree on whether it applies",
                        collective_name(algorithm.collective), algorithm.name, ranks, problem.count,
                        problem.element_bytes, rank));
        return;
      }
      if (!applies.yes) continue;
      schedules[static_cast<size_t>(rank)] = build_schedule(algorithm, problem);
      tally.steps += schedules[static_cast<size_t>(rank)].steps.size();
    }
    if (!applies.yes) {
      ++tally.skipped[reason_text(applies)];
      continue;
    }
    ++tally.proofs;
    const tutti::Status status = verify(schedules, problem, {algorithm.name, algorithm.rank_order});
    if (status.ok()) continue;
    tally.failures.emplace_back(status.message());
    return;
  }
}
