// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The content of a byte during a proof: the byte of one rank's send buffer, or a reduction of such,
// remembered with its association. Equal values have equal numbers, so that comparing is cheap. The
// number of the byte in the send buffers, equal for every rank, stands beside the value.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sched/verify.hpp"

namespace tutti {

using ValueId = uint32_t;
inline constexpr ValueId kUndefined = 0;

class Values {
 public:
  explicit Values(int ranks);

  // The value of a byte of one rank's send buffer.
  static ValueId of_rank(int rank) { return static_cast<ValueId>(rank) + 1; }

  // The value of the head of a block. Which block it is, the index of its first byte tells.
  [[nodiscard]] ValueId head() const { return static_cast<ValueId>(ranks_) + 1; }

  // The reduction of the sources in that order by one step. An error says what is wrong with it,
  // as the end of a sentence that begins with the step.
  Result<ValueId> reduce(std::span<const ValueId> sources, bool finishes);

  // Empty if the value is the complete and finished reduction over all ranks; otherwise what it
  // lacks ("lacks the contribution of rank 3").
  [[nodiscard]] std::string fault_of_result(ValueId value) const;
  // Reduced by one step over all ranks in rank order.
  [[nodiscard]] bool in_rank_order(ValueId value) const;

  // "rank 2", "a head", "(s0 s1 s2)", "finished ((s0 s1) s2)".
  [[nodiscard]] std::string text(ValueId value) const;

 private:
  using RankSet = std::bitset<kMostVerifiedRanks>;
  struct Node {
    RankSet ranks;
    uint32_t first = 0;  // first place in operands_
    uint32_t count = 0;
    bool finished = false;
  };

  [[nodiscard]] std::span<const ValueId> operands(const Node& node) const {
    return std::span(operands_).subspan(node.first, node.count);
  }
  [[nodiscard]] std::string operand_text(ValueId value) const;
  [[nodiscard]] int first_missing(const RankSet& set) const;
  Result<Node> checked(std::span<const ValueId> sources, bool finishes) const;

  int ranks_;
  std::vector<Node> nodes_;
  std::vector<ValueId> operands_;
  // Values by hash; the next number after a collision.
  std::unordered_map<uint64_t, ValueId> known_;
};

}  // namespace tutti
