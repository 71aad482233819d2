// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The names of a lane's ranks in texts: their numbers in the communicator, of whose ranks the lane
// may have only some.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "transports/names.hpp"
#include "transports/transport.hpp"

namespace tutti {

class RankNames {
 public:
  // `numbers` are in the communicator, by rank of the lane; empty: they are the lane's own.
  // `transport` outlives the names.
  RankNames(Transport& transport, std::vector<int> numbers)
      : transport_(transport), numbers_(std::move(numbers)) {}

  [[nodiscard]] int number_of(int rank) const {
    return numbers_.empty() ? rank : numbers_[static_cast<size_t>(rank)];
  }
  // "rank 2 (pid 77 on h)"
  [[nodiscard]] std::string of(int rank) const {
    return name_of(number_of(rank), transport_.process(rank));
  }
  // "rank 2"
  [[nodiscard]] std::string brief(int rank) const {
    return short_name_of(number_of(rank), transport_.process(rank));
  }
  [[nodiscard]] Transport& transport() const { return transport_; }
  // Whether the lane has only some of the communicator's ranks.
  [[nodiscard]] bool is_subset() const { return !numbers_.empty(); }

 private:
  Transport& transport_;
  const std::vector<int> numbers_;
};

}  // namespace tutti
