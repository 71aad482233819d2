// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/verify_phases.hpp"

#include <algorithm>

namespace tutti::tools {

namespace {

// Block `index` of a buffer of a phase, in bytes.
Range phase_block(const Phase& phase, const tutti::BlockLayout& layout, size_t index,
                  uint32_t element_bytes) {
  const uint64_t size = element_bytes;
  if (layout.counts.empty()) return {index * phase.count * size, phase.count * size};
  return {layout.offsets[index] * size, layout.counts[index] * size};
}

}  // namespace

PhaseEffects::PhaseEffects(const tutti::Problems& problems)
    : problems_(problems),
      element_bytes_(problems.common().element_bytes),
      schedules_(static_cast<size_t>(problems.common().ranks)),
      scratch_(schedules_.size()),
      memories_(schedules_, problems, false),
      values_(problems.common().ranks) {}

Status PhaseEffects::check_results(const tutti::Claim& claim) const {
  return tutti::check_results(problems_, claim, memories_, values_);
}

Range PhaseEffects::block(const Phase& phase, const tutti::BlockLayout& layout,
                          size_t index) const {
  return phase_block(phase, layout, index, element_bytes_);
}

Status PhaseEffects::check_inside(int rank, const Ref& ref, const Range& range) const {
  const uint64_t scratch = scratch_[static_cast<size_t>(rank)];
  if (inside(problems_, rank, scratch, ref.plus(range.offset), range.bytes)) return {};
  return Status::format(Code::kInternal, "a phase of rank {} uses {} B at {}, outside the buffer",
                        rank, range.bytes, to_string(ref.plus(range.offset)));
}

Status PhaseEffects::read(int rank, const Ref& ref, const Range& range, std::vector<Run>& runs) {
  if (range.bytes == 0) return {};
  TUTTI_RETURN_IF_ERROR(check_inside(rank, ref, range));
  return memories_.read(rank, SIZE_MAX, ref.plus(range.offset), range.bytes, false, runs);
}

Status PhaseEffects::write(int rank, const Ref& ref, const Range& range,
                           std::span<const Run> runs) {
  if (range.bytes == 0) return {};
  TUTTI_RETURN_IF_ERROR(check_inside(rank, ref, range));
  return memories_.write(rank, SIZE_MAX, ref.plus(range.offset), runs);
}

Status PhaseEffects::move(int rank, std::span<const tutti::Move> moves) {
  for (const tutti::Move& move : moves) {
    std::vector<std::vector<Run>> sources(1 + move.others.size());
    TUTTI_RETURN_IF_ERROR(read(rank, move.from, {0, move.bytes}, sources[0]));
    for (size_t i = 1; i < sources.size(); ++i) {
      TUTTI_RETURN_IF_ERROR(read(rank, move.others[i - 1], {0, move.bytes}, sources[i]));
    }
    std::vector<Run> runs;
    if (move.others.empty()) {
      runs = std::move(sources[0]);
    } else if (move.bytes > 0) {
      TUTTI_RETURN_IF_ERROR(reduce_runs(sources, element_bytes_, true, values_, runs));
    }
    TUTTI_RETURN_IF_ERROR(write(rank, move.to, {0, move.bytes}, runs));
  }
  return {};
}

Status PhaseEffects::perform(std::span<const int> ranks, std::span<const Phase* const> phases) {
  const Collective collective = phases[0]->collective;
  switch (collective) {
    case Collective::kBarrier: return {};
    case Collective::kBroadcast: return broadcast(ranks, phases);
    case Collective::kAllgather:
    case Collective::kAllgatherv:
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
    case Collective::kGather:
    case Collective::kGatherv:
    case Collective::kScatter:
    case Collective::kScatterv: return exchange(ranks, phases);
    case Collective::kAllreduce:
    case Collective::kReduce:
    case Collective::kReduceScatterv: return reduce(ranks, phases);
    default: break;
  }
  return Status::format(Code::kInternal, "no phase is a {} yet", collective_name(collective));
}

Status PhaseEffects::broadcast(std::span<const int> ranks, std::span<const Phase* const> phases) {
  const auto root = static_cast<size_t>(std::max(phases[0]->root, 0));
  const Range whole = block(*phases[0], {}, 0);
  std::vector<Run> runs;
  TUTTI_RETURN_IF_ERROR(read(ranks[root], phases[root]->recv, whole, runs));
  for (size_t i = 0; i < phases.size(); ++i) {
    if (i == root) continue;
    TUTTI_RETURN_IF_ERROR(write(ranks[i], phases[i]->recv, whole, runs));
  }
  return {};
}

// Reads all blocks before it writes any.
Status PhaseEffects::exchange(std::span<const int> ranks, std::span<const Phase* const> phases) {
  struct Parcel {
    size_t sender;
    size_t receiver;
    std::vector<Run> runs;
  };
  std::vector<Parcel> parcels;
  const auto kinds = [&](size_t i) {
    return blocks_of(phases[i]->collective, static_cast<int>(i) == phases[i]->root);
  };
  for (size_t sender = 0; sender < phases.size(); ++sender) {
    for (size_t receiver = 0; receiver < phases.size(); ++receiver) {
      const Blocks gives = kinds(sender).send;
      const Blocks takes = kinds(receiver).recv;
      if (gives == Blocks::kNone || takes == Blocks::kNone) continue;
      const size_t given_block = gives == Blocks::kPerRank ? receiver : 0;
      const size_t taken_block = takes == Blocks::kPerRank ? sender : 0;
      const Range given = block(*phases[sender], phases[sender]->layouts.send, given_block);
      const Range taken = block(*phases[receiver], phases[receiver]->layouts.recv, taken_block);
      if (given.bytes != taken.bytes) {
        return Status::format(Code::kInternal, "in a {}, rank {} gives {} B to rank {}, not {}",
                              collective_name(phases[sender]->collective), ranks[sender],
                              given.bytes, ranks[receiver], taken.bytes);
      }
      parcels.push_back({sender, receiver, {}});
      TUTTI_RETURN_IF_ERROR(read(ranks[sender], phases[sender]->send, given, parcels.back().runs));
    }
  }
  for (const Parcel& parcel : parcels) {
    const Phase& phase = *phases[parcel.receiver];
    const bool apart = kinds(parcel.receiver).recv == Blocks::kPerRank;
    const Range place = block(phase, phase.layouts.recv, apart ? parcel.sender : 0);
    TUTTI_RETURN_IF_ERROR(write(ranks[parcel.receiver], phase.recv, place, parcel.runs));
  }
  return {};
}

Status PhaseEffects::reduce(std::span<const int> ranks, std::span<const Phase* const> phases) {
  const size_t n = phases.size();
  const bool scatters = phases[0]->collective == Collective::kReduceScatterv;
  std::vector<std::vector<Run>> results(scatters ? n : 1);
  for (size_t b = 0; b < results.size(); ++b) {
    std::vector<std::vector<Run>> sources(n);
    const Range range = block(*phases[0], phases[0]->layouts.send, b);
    if (range.bytes == 0) continue;
    for (size_t i = 0; i < n; ++i) {
      TUTTI_RETURN_IF_ERROR(read(ranks[i], phases[i]->send,
                                 block(*phases[i], phases[i]->layouts.send, b), sources[i]));
    }
    TUTTI_RETURN_IF_ERROR(
        reduce_runs(sources, element_bytes_, phases[0]->finishes, values_, results[b]));
  }
  for (size_t i = 0; i < n; ++i) {
    if (phases[0]->collective == Collective::kReduce && static_cast<int>(i) != phases[0]->root)
      continue;
    const Range place = block(*phases[i], phases[i]->layouts.recv, 0);
    TUTTI_RETURN_IF_ERROR(write(ranks[i], phases[i]->recv, place, results[scatters ? i : 0]));
  }
  return {};
}

// ---- whether phases side by side leave one another's memory alone ------------------------------
namespace {

// The memory of one rank that a phase reads or writes.
struct Use {
  Ref ref;
  Range range;
  bool writes;
};

size_t number_of(Blocks blocks, size_t ranks) {
  return blocks == Blocks::kPerRank ? ranks : blocks == Blocks::kOne ? 1 : 0;
}

std::vector<Use> uses_of_moves(const Phase& phase) {
  std::vector<Use> uses;
  for (const tutti::Move& move : phase.moves) {
    if (move.bytes == 0) continue;
    uses.push_back({move.from, {0, move.bytes}, false});
    for (const tutti::Ref& other : move.others) uses.push_back({other, {0, move.bytes}, false});
    uses.push_back({move.to, {0, move.bytes}, true});
  }
  return uses;
}

// The uses by a rank that has this part in its scope.
std::vector<Use> uses_of(const Phase& phase, const tutti::PlanContext& scope,
                         uint32_t element_bytes) {
  const int own = scope.rank;
  const auto members = static_cast<size_t>(scope.ranks);
  std::vector<Use> uses;
  const auto add = [&](Blocks kind, const Ref& ref, const tutti::BlockLayout& layout, bool writes) {
    const size_t count = layout.counts.empty() ? number_of(kind, members) : layout.counts.size();
    for (size_t i = 0; i < count; ++i) {
      const Range range = phase_block(phase, layout, i, element_bytes);
      if (range.bytes > 0) uses.push_back({ref, range, writes});
    }
  };
  const tutti::BufferBlocks kinds = blocks_of(phase.collective, own == phase.root);
  // The root of a broadcast reads its receive buffer.
  const bool reads = phase.collective == tutti::Collective::kBroadcast && own == phase.root;
  add(kinds.send, phase.send, phase.layouts.send, false);
  add(kinds.recv, phase.recv, phase.layouts.recv, !reads);
  return uses;
}

bool overlap(const tutti::Problems& problems, int rank, const Use& x, const Use& y) {
  const tutti::Location a = location_of(problems, rank, x.ref.plus(x.range.offset));
  const tutti::Location b = location_of(problems, rank, y.ref.plus(y.range.offset));
  return a.space == b.space && a.begin < b.begin + y.range.bytes &&
         b.begin < a.begin + x.range.bytes;
}

struct Numbered {
  const Phase* phase;
  uint32_t number;  // in its scope, from 1
  uint32_t after;   // how many of the other scope it comes after, as all later ones of its own do
};

std::vector<Numbered> numbered(const tutti::Composition& composition, Scope scope) {
  std::vector<Numbered> list;
  for (const Phase& phase : composition.phases) {
    if (phase.scope != scope) continue;
    const uint32_t before = list.empty() ? 0 : list.back().after;
    list.push_back({&phase, static_cast<uint32_t>(list.size()) + 1, std::max(before, phase.after)});
  }
  return list;
}

}  // namespace

Status check_overlap(const tutti::Composition& composition, const tutti::Problems& problems,
                     const ScopesOfRank& scopes, int rank) {
  const uint32_t element_bytes = problems.common().element_bytes;
  const auto uses = [&](const Phase& phase) {
    if (!phase.moves.empty()) return uses_of_moves(phase);
    const tutti::PlanContext* const scope = scopes[static_cast<size_t>(phase.scope)];
    // A phase of a scope that the rank is not in never begins, which the walk tells.
    return scope == nullptr ? std::vector<Use>() : uses_of(phase, *scope, element_bytes);
  };
  const auto touch = [&](const Phase& one, const Phase& other) {
    const std::vector<Use> others = uses(other);
    return std::ranges::any_of(uses(one), [&](const Use& x) {
      return std::ranges::any_of(others, [&](const Use& y) {
        return (x.writes || y.writes) && overlap(problems, rank, x, y);
      });
    });
  };
  const std::vector<Numbered> between = numbered(composition, Scope::kColumn);
  for (const Numbered& a : numbered(composition, Scope::kHost)) {
    for (const Numbered& b : between) {
      const bool ordered = a.number <= b.after || b.number <= a.after;
      if (ordered || !touch(*a.phase, *b.phase)) continue;
      return Status::format(tutti::Code::kInternal,
                            "on rank {}, phase {} within the host ({}) and phase {} between hosts "
                            "({}) touch the same memory; nothing orders them",
                            rank, a.number, collective_name(a.phase->collective), b.number,
                            collective_name(b.phase->collective));
    }
  }
  return {};
}

}  // namespace tutti::tools
