// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verify_cases.hpp"

#include <fmt/format.h>

#include "sched/verify.hpp"

namespace tutti::tools {

namespace {

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
  std::vector<Limits> limits = {
      // Messages only.
      {},
      // The least in which a line per rank finds room in three buffers of the window, and a bit.
      {{line_each + 64}, 3 * line_each + 64, line_each},
      // The least window that the contract allows for the chunk; everything streams.
      {{512}, 4 * line_each, 2 * line_each, 0},
      // The limits that users get.
      {{32 << 10}, 1 << 20, 256 << 10, 8 << 20, true, false, 4},
      // The limits of users whose ranks all see all buffers.
      {{32 << 10}, 1 << 20, 256 << 10, 8 << 20, true, true},
  };
  limits.back().exports_blocks = true;
  // A slot goes on beyond what calls move through.
  limits.push_back({{line_each}, 4 * line_each, line_each});
  limits.back().slots.slot_bytes = 5 * line_each + 64;
  if (ranks == 2) {  // ping-pong slots are longer
    limits.push_back({{32 << 10}, 1 << 20, 256 << 10});
    limits.back().slots.ping_pong_bytes = 512 << 10;
  }
  return limits;
}

// Sizes of up to a dozen chunks if the staging is tight. Else they are so long that messages are
// cut into segments.
std::vector<Size> sizes_of(Collective collective, uint64_t ranks, const Limits& limits) {
  if (collective == Collective::kBarrier) return {{1, 0}};
  // A chunk is of one rank's data: of its `ranks` blocks in a reduce-scatter.
  const bool sends_blocks = tutti::blocks_of(collective, true).send == tutti::Blocks::kPerRank;
  const uint64_t lines = sends_blocks ? 1 : ranks;
  std::vector<Size> sizes = {
      {4, 0},
      {4, 1},
      {8, 7},  // fills a line's payload
      {16, 3},
      {1, ranks - 1},
      {1, ranks},
      {1, ranks + 1},
      {2, 32 * lines + 3},
      {4, 64 * lines + 3},
      {1, 640 * lines + 77},
  };
  const bool tight = limits.slots.shared() && limits.chunk_bytes < (128 << 10);
  if (tight) return sizes;
  sizes.push_back({16, (300 << 10) / 16 + 5});
  if (collective == Collective::kAllreduce) sizes.push_back({4, ranks * (140 << 10) / 4 + 5});
  return sizes;
}

// Away from the ends, roots differ only in the rotation of ranks: some sizes are enough.
bool worth_a_proof(const Problem& problem, size_t size_index) {
  const bool at_an_end = problem.root == 0 || problem.root == problem.ranks - 1;
  return at_an_end || size_index == 1 || size_index >= 8;
}

// The block of rank `from` for rank `to`: nothing, or up to three units and a bit.
uint64_t uneven_count(int from, int to, uint64_t unit) {
  const auto pick = static_cast<uint64_t>(3 * from + 5 * to) % 4;
  return pick == 0 ? 0 : pick * unit + static_cast<uint64_t>(from) % 3;
}

tutti::BlockLayout layout_of(std::vector<uint64_t> counts, uint64_t gap) {
  tutti::BlockLayout layout{std::move(counts), {}};
  uint64_t next = 0;
  for (const uint64_t count : layout.counts) {
    layout.offsets.push_back(next);
    next += count + gap;
  }
  return layout;
}

tutti::BlockLayouts uneven_layouts(const Problem& problem, int rank, uint64_t unit, uint64_t gap) {
  const auto list = [&](const auto& count) {
    std::vector<uint64_t> counts;
    for (int i = 0; i < problem.ranks; ++i) counts.push_back(count(i));
    return layout_of(std::move(counts), gap);
  };
  const auto one = [](uint64_t count) { return tutti::BlockLayout{{count}, {0}}; };
  const int root = problem.root;
  // In place, ranks give one another as much as they take.
  const bool alike = problem.in_place && tutti::exchanges_blocks(problem.collective);
  const auto passes = [&](int from, int to) {
    return alike ? uneven_count(std::min(from, to), std::max(from, to), unit)
                 : uneven_count(from, to, unit);
  };
  const auto given = [&](int i) { return passes(rank, i); };
  const auto taken = [&](int i) { return passes(i, rank); };
  const auto common = [&](int i) { return uneven_count(i, 1, unit); };
  switch (problem.collective) {
    case Collective::kAllgatherv: return {one(common(rank)), list(common)};
    case Collective::kReduceScatterv: gap = 0; return {list(common), one(common(rank))};
    case Collective::kAlltoallv: return {list(given), list(taken)};
    case Collective::kGatherv:
      return {one(given(root)), rank == root ? list(taken) : tutti::BlockLayout{}};
    case Collective::kScatterv:
      return {rank == root ? list(given) : tutti::BlockLayout{}, one(taken(root))};
    default: return {};
  }
}

// The problem of each rank where blocks differ.
std::vector<Problem> uneven_problems(const Problem& problem, uint64_t unit, uint64_t gap) {
  std::vector<Problem> problems(static_cast<size_t>(problem.ranks), problem);
  for (int rank = 0; rank < problem.ranks; ++rank) {
    Problem& mine = problems[static_cast<size_t>(rank)];
    mine.rank = rank;
    mine.layouts = uneven_layouts(problem, rank, unit, gap);
    // One rank may work in place while another does not.
    mine.in_place = problem.in_place && rank % 3 != 1;
  }
  return problems;
}

// The problem with some ranks in place, while others are not.
std::vector<Problem> some_in_place(const Problem& problem) {
  std::vector<Problem> problems(static_cast<size_t>(problem.ranks), problem);
  for (int rank = 0; rank < problem.ranks; ++rank) {
    problems[static_cast<size_t>(rank)].rank = rank;
    problems[static_cast<size_t>(rank)].in_place = rank % 3 != 1;
  }
  return problems;
}

// Adds the uneven problems that resemble this one in all but size.
void add_uneven(Problem problem, std::vector<std::vector<Problem>>& cases) {
  const bool all_know = problem.collective == Collective::kAllgatherv ||
                        problem.collective == Collective::kReduceScatterv;
  for (const uint64_t unit : {1U, 9U, 70U}) {
    problem.element_bytes = 4;
    problem.count = all_know ? 3 * unit + 2 : 0;
    problem.stride = problem.count;
    for (const uint64_t gap : {0U, 5U}) cases.push_back(uneven_problems(problem, unit, gap));
  }
}

std::string reason_text(const tutti::Applies& applies) {
  return applies.why_not.empty() ? "no reason given" : std::string(applies.why_not);
}

}  // namespace

std::vector<std::vector<Problem>> verify_cases(Collective collective, int ranks) {
  std::vector<std::vector<Problem>> cases;
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
            if (worth_a_proof(problem, i)) cases.push_back({problem});
            if (in_place && tutti::exchanges_blocks(collective)) {
              cases.push_back(some_in_place(problem));
            }
            if (i == 0 && gap == 0 && is_uneven(collective)) add_uneven(problem, cases);
          }
        }
      }
    }
  }
  return cases;
}

std::vector<tutti::Hosts> shapes_of(int ranks) {
  std::vector<tutti::Hosts> shapes;
  const auto add = [&](const auto& host_of) {
    std::vector<int> host_ids;
    for (int rank = 0; rank < ranks; ++rank) host_ids.push_back(host_of(rank));
    tutti::Hosts shape = tutti::Hosts::of(host_ids);
    if (shape.count() > 1) shapes.push_back(std::move(shape));
  };
  add([&](int rank) { return 2 * rank / ranks; });
  add([&](int rank) { return rank % 2; });
  add([&](int rank) { return 3 * rank / ranks; });
  add([&](int rank) { return rank == 1; });
  add([&](int rank) { return rank / 4; });
  return shapes;
}

std::vector<tutti::Hosts> shapes_in_groups(int ranks) {
  std::vector<tutti::Hosts> shapes;
  const auto add = [&](const auto& host_of, const auto& group_of) {
    std::vector<int> host_ids;
    std::vector<int> groups;
    for (int rank = 0; rank < ranks; ++rank) {
      host_ids.push_back(host_of(rank));
      groups.push_back(group_of(host_ids.back()));
    }
    tutti::Hosts shape = tutti::Hosts::of(host_ids);
    shape.group_by(groups);
    if (shape.groups != nullptr) shapes.push_back(std::move(shape));
  };
  const auto by = [](int n) { return [n](int i) { return i / n; }; };
  const auto dealt = [](int n) { return [n](int i) { return i % n; }; };
  add(by(2), by(2));
  add(dealt(4), dealt(2));
  add(by(1), by(3));
  add(by(2), [](int host) { return host == 1 ? 1 : 0; });
  return shapes;
}
namespace {

// Roots in the middle of many ranks in domains differ only in which rank of a group leads it.
bool worth_a_proof_in_domains(const Problem& problem) {
  if (problem.ranks <= 16 || !has_root(problem.collective)) return true;
  return problem.root <= 2 || problem.root == problem.ranks / 2 ||
         problem.root == problem.ranks - 1;
}

// With the same domains, or none, in all problems.
void prove_cases(const tutti::Algorithm& algorithm, int ranks, const tutti::Hosts* domains,
                 ProofTally& tally) {
  std::vector<tutti::Schedule> schedules(static_cast<size_t>(ranks));
  for (std::vector<Problem> problems : verify_cases(algorithm.collective, ranks)) {
    for (Problem& problem : problems) problem.cache_domains = domains;
    Problem problem = problems.front();
    if (domains != nullptr && !worth_a_proof_in_domains(problem)) continue;
    problem.rank = 0;
    const tutti::Applies applies = algorithm.applies(problem);
    for (int rank = 0; rank < ranks; ++rank) {
      if (problems.size() > 1) problem = problems[static_cast<size_t>(rank)];
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
    const tutti::Status status =
        verify(schedules, problems, {algorithm.name, algorithm.rank_order});
    if (status.ok()) continue;
    const std::string shape =
        domains == nullptr ? "" : fmt::format("{} domains: ", domains->count());
    tally.failures.push_back(shape + std::string(status.message()));
    return;
  }
}

}  // namespace

void prove_algorithm(const tutti::Algorithm& algorithm, int ranks, ProofTally& tally) {
  if (algorithm.compose != nullptr) return prove_composition(algorithm, ranks, tally);
  prove_cases(algorithm, ranks, nullptr, tally);
  if (!algorithm.by_cache_domains) return;
  for (const tutti::Hosts& domains : shapes_of(ranks)) {
    if (tally.failures.empty()) prove_cases(algorithm, ranks, &domains, tally);
  }
}

}  // namespace tutti::tools
