// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/verify_values.hpp"

#include <algorithm>

namespace tutti {
namespace {

uint64_t hash_of(std::span<const ValueId> sources, bool finishes) {
  uint64_t hash = finishes ? 0x9e3779b97f4a7c15U : 0x2545f4914f6cdd1dU;
  for (const ValueId source : sources) {
    hash = (hash ^ source) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

Values::Values(int ranks) : ranks_(ranks), nodes_(static_cast<size_t>(ranks) + 2) {
  for (int rank = 0; rank < ranks; ++rank) {
    nodes_[of_rank(rank)].ranks.set(static_cast<size_t>(rank));
  }
}

Result<Values::Node> Values::checked(std::span<const ValueId> sources, bool finishes) const {
  Node node;
  for (const ValueId source : sources) {
    const Node& operand = nodes_[source];
    if (source == kUndefined) return Status(Code::kInternal, "reduces undefined bytes");
    if (operand.finished) {
      return Status(Code::kInternal, "reduces further what is already finished");
    }
    const RankSet twice = node.ranks & operand.ranks;
    if (twice.any()) {
      return Status::format(Code::kInternal, "adds the contribution of rank {} twice",
                            twice._Find_first());
    }
    node.ranks |= operand.ranks;
  }
  if (finishes && first_missing(node.ranks) < ranks_) {
    return Status::format(Code::kInternal,
                          "finishes a reduction that lacks the contribution of rank {}",
                          first_missing(node.ranks));
  }
  node.finished = finishes;
  return node;
}

Result<ValueId> Values::reduce(std::span<const ValueId> sources, bool finishes) {
  if (sources.size() == 1 && !finishes) return sources[0];
  uint64_t key = hash_of(sources, finishes);
  for (auto found = known_.find(key); found != known_.end(); found = known_.find(++key)) {
    const Node& node = nodes_[found->second];
    if (node.finished == finishes && std::ranges::equal(operands(node), sources)) {
      return found->second;
    }
  }
  TUTTI_ASSIGN_OR_RETURN(Node node, checked(sources, finishes));
  node.first = static_cast<uint32_t>(operands_.size());
  node.count = static_cast<uint32_t>(sources.size());
  operands_.insert(operands_.end(), sources.begin(), sources.end());
  const auto id = static_cast<ValueId>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(key, id);
  return id;
}

int Values::first_missing(const RankSet& set) const {
  int rank = 0;
  while (rank < ranks_ && set.test(static_cast<size_t>(rank))) ++rank;
  return rank;
}

std::string Values::fault_of_result(ValueId value) const {
  if (value == kUndefined) return "is undefined";
  const Node& node = nodes_[value];
  if (const int missing = first_missing(node.ranks); missing < ranks_) {
    return fmt::format("lacks the contribution of rank {}", missing);
  }
  // A single rank has nothing to divide.
  if (ranks_ > 1 && !node.finished) return "was never finished";
  return {};
}

bool Values::in_rank_order(ValueId value) const {
  if (ranks_ == 1) return true;
  const std::span<const ValueId> sources = operands(nodes_[value]);
  if (sources.size() != static_cast<size_t>(ranks_)) return false;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (sources[static_cast<size_t>(rank)] != of_rank(rank)) return false;
  }
  return true;
}

std::string Values::operand_text(ValueId value) const {
  if (value == kUndefined) return "undefined";
  if (value == head()) return "a head";
  if (value <= static_cast<ValueId>(ranks_)) return fmt::format("s{}", value - 1);
  std::string text = nodes_[value].finished ? "finished (" : "(";
  for (const ValueId operand : operands(nodes_[value])) {
    if (text.back() != '(') text += ' ';
    text += operand_text(operand);
    if (text.size() > 60) return text + " ...)";
  }
  return text + ")";
}

std::string Values::text(ValueId value) const {
  if (value == kUndefined || value > static_cast<ValueId>(ranks_)) return operand_text(value);
  return fmt::format("rank {}", value - 1);
}

}  // namespace tutti
