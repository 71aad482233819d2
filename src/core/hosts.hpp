// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The hosts of a communicator's ranks. The ranks of a host are ascending. Those at the same place
// of each host's list form a column, as far as all hosts have so many. Hosts may be in groups
// themselves, as ranks are on hosts: racks, or what is behind one switch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

namespace tutti {

struct Hosts {
  std::vector<int> host_of;                // hosts by rank
  std::vector<std::vector<int>> ranks_of;  // ranks by host; hosts in the order of their first ranks
  // The groups of the hosts, each host taken for a rank. Null: nothing is gained by knowing.
  std::shared_ptr<const Hosts> groups = {};
  bool of_hosts = false;  // each "rank" is a host, and each "host" a group of them

  // Ranks with equal `marks` are on one host.
  template <typename Mark>
  static Hosts of(const std::vector<Mark>& marks) {
    Hosts hosts;
    std::map<Mark, int> host_with;
    for (size_t rank = 0; rank < marks.size(); ++rank) {
      const auto [host, is_new] = host_with.try_emplace(marks[rank], hosts.count());
      if (is_new) hosts.ranks_of.emplace_back();
      hosts.host_of.push_back(host->second);
      hosts.ranks_of[static_cast<size_t>(host->second)].push_back(static_cast<int>(rank));
    }
    return hosts;
  }

  // The hosts if each rank is on one of its own.
  static Hosts apart(int ranks) {
    std::vector<int> marks(static_cast<size_t>(ranks));
    std::iota(marks.begin(), marks.end(), 0);
    return of(marks);
  }

  // Hosts whose first ranks have equal `marks` are in one group.
  template <typename Mark>
  void group_by(const std::vector<Mark>& marks) {
    std::vector<Mark> of_hosts;
    for (const std::vector<int>& ranks : ranks_of) {
      of_hosts.push_back(marks[static_cast<size_t>(ranks.front())]);
    }
    Hosts grouped = of(of_hosts);
    grouped.of_hosts = true;
    const bool divides = grouped.count() > 1 && grouped.most_on_a_host() > 1;
    groups = divides ? std::make_shared<const Hosts>(std::move(grouped)) : nullptr;
  }

  [[nodiscard]] int count() const { return static_cast<int>(ranks_of.size()); }
  [[nodiscard]] int host(int rank) const { return host_of[static_cast<size_t>(rank)]; }
  // The ranks on the host of `rank`.
  [[nodiscard]] const std::vector<int>& neighbors(int rank) const {
    return ranks_of[static_cast<size_t>(host(rank))];
  }
  // The place of a rank among those of its host.
  [[nodiscard]] int place(int rank) const {
    const std::vector<int>& ranks = neighbors(rank);
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  // The least number of ranks on a host, which is the number of columns; and the largest.
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
  // The ranks at `place` of each host.
  [[nodiscard]] std::vector<int> column(int place) const {
    std::vector<int> ranks;
    for (const std::vector<int>& host : ranks_of) {
      ranks.push_back(host[static_cast<size_t>(place)]);
    }
    return ranks;
  }
};

}  // namespace tutti
