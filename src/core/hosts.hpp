// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where the ranks of a communicator live. The ranks of a host are ascending; those that stand at
// the same place of each host's list form a column, as far as all hosts have so many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti {

struct Hosts {
  std::vector<int> host_of;                // by rank
  std::vector<std::vector<int>> ranks_of;  // by host; hosts in the order of their first ranks

  // Ranks with equal `marks` are on one host.
  template <typename Mark>
  static Hosts of(const std::vector<Mark>& marks) {
    Hosts hosts;
    for (size_t rank = 0; rank < marks.size(); ++rank) {
      const auto first = std::find(marks.begin(), marks.end(), marks[rank]) - marks.begin();
      const bool is_new = static_cast<size_t>(first) == rank;
      if (is_new) hosts.ranks_of.emplace_back();
      hosts.host_of.push_back(is_new ? hosts.count() - 1
                                     : hosts.host_of[static_cast<size_t>(first)]);
      hosts.ranks_of[static_cast<size_t>(hosts.host_of.back())].push_back(static_cast<int>(rank));
    }
    return hosts;
  }

  [[nodiscard]] int count() const { return static_cast<int>(ranks_of.size()); }
  [[nodiscard]] int host(int rank) const { return host_of[static_cast<size_t>(rank)]; }
  // Those on the host of `rank`.
  [[nodiscard]] const std::vector<int>& neighbors(int rank) const {
    return ranks_of[static_cast<size_t>(host(rank))];
  }
  // The place of a rank among those of its host.
  [[nodiscard]] int place(int rank) const {
    const std::vector<int>& ranks = neighbors(rank);
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  // How many ranks every host has at least, and one at most.
  [[nodiscard]] int columns() const {
    size_t least = host_of.size();
    for (const std::vector<int>& ranks : ranks_of) least = std::min(least, ranks.size());
    return static_cast<int>(least);
  }
  [[nodiscard]] int most_on_a_host() const {
    size_t most = 0;
    for (const std::vector<int>& ranks : ranks_of) most = std::max(most, ranks.size());
    return static_cast<int>(most);
  }
  // One rank of each host, those at `place`.
  [[nodiscard]] std::vector<int> column(int place) const {
    std::vector<int> ranks;
    for (const std::vector<int>& host : ranks_of) {
      ranks.push_back(host[static_cast<size_t>(place)]);
    }
    return ranks;
  }
};

}  // namespace tutti
