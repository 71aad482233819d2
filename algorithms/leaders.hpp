// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Common parts of algorithms in two levels within a host: the ranks of a group by way of its
// leader, and the leaders among themselves. Groups are the domains in which cores share a
// last-level cache, as in the hierarchies of XHC (Katevenis et al., CLUSTER 2022). Lines that many
// ranks of other domains read at once are slow (Katevenis et al., ICPP 2023). Over 16 ranks with
// one another are cut into about as many groups as each then has ranks: nobody reads all lines.
//
// Everybody enters at once, the leaders before they know of their members: so whoever is late is
// seen to be late. Nobody but a leader looks at more than one entry, and a call ends without doing
// so (Traits::runs_ahead). Somebody has looked at each of them before any result comes back.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/common.hpp"
#include "algorithms/cost.hpp"

namespace tutti {

// One rank reads the lines of so many others before a second round among leaders pays.
inline constexpr int kMostInGroup = 16;

using Groups = std::vector<std::vector<int>>;  // ranks; ascending, but that a root comes first

inline Groups groups_of(const Problem& q) {
  Groups groups;
  const auto add = [&groups](const std::vector<int>& ranks) {
    const auto size = static_cast<double>(ranks.size());
    const size_t pieces =
        ranks.size() > kMostInGroup ? static_cast<size_t>(std::lround(std::sqrt(size))) : 1;
    for (size_t i = 0; i < pieces; ++i) {
      const auto at = [&](size_t piece) {
        return ranks.begin() + static_cast<std::ptrdiff_t>(ranks.size() * piece / pieces);
      };
      groups.emplace_back(at(i), at(i + 1));
    }
  };
  if (q.cache_domains != nullptr) {
    for (const std::vector<int>& ranks : q.cache_domains->ranks_of) add(ranks);
  } else {
    std::vector<int> all;
    for (int rank = 0; rank < q.ranks; ++rank) all.push_back(rank);
    add(all);
  }
  if (!has_root(q.collective)) return groups;
  for (std::vector<int>& group : groups) {
    const auto root = std::ranges::find(group, q.root);
    if (root != group.end()) std::rotate(group.begin(), root, root + 1);
  }
  return groups;
}

inline int largest_of(const Groups& groups) {
  size_t largest = 0;
  for (const std::vector<int>& group : groups) largest = std::max(largest, group.size());
  return static_cast<int>(largest);
}

inline Applies has_leaders(const Problem& q) {
  if (const Applies shares = shares_memory(q); !shares.yes) return shares;
  if (q.cache_domains == nullptr && q.ranks <= kMostInGroup) {
    return {false, "16 ranks or fewer, and not known to lie in several domains (TUTTI_DOMAIN)"};
  }
  if (largest_of(groups_of(q)) == 1) return {false, "every rank has a domain to itself"};
  return {};
}

// Whether there are leaders, and a message fits a slot.
inline Applies leaders_and_slot(const Problem& q) {
  if (const Applies leaders = has_leaders(q); !leaders.yes) return leaders;
  return fits_slot(q, q.bytes());
}

// Half of a line, in whole words of 8 bytes.
inline constexpr uint64_t kHalfLine = uint64_t{kLineBytes} / 2 / 8 * 8;

// The places of payloads: what a rank gives, and what it passes on. They are in lines as long as
// these have room for both.
struct LeadersStaging {
  Space space;
  uint64_t second;  // offset of what is passed on

  explicit LeadersStaging(uint64_t bytes)
      : space(bytes <= kHalfLine ? Space::kLine : Space::kSlot),
        second(space == Space::kLine ? kHalfLine + 8 : whole_lines(bytes)) {}

  static bool fits(const Problem& q) {
    const LeadersStaging staging(q.bytes());
    return staging.space == Space::kLine ||
           staging.second + whole_lines(q.bytes()) <= q.limits.slots.call_bytes;
  }
  void claim(Builder& b) const {
    if (space == Space::kSlot) b.use_of_slots(2 * second);
  }
  [[nodiscard]] Ref given(int rank) const { return Ref::of(space, 0, rank); }
  [[nodiscard]] Ref passed_on(int rank) const { return Ref::of(space, second, rank); }
};

// The part of one rank.
class Leaders {
 public:
  explicit Leaders(const Problem& q) : q_(q), groups_(groups_of(q)) {
    for (const std::vector<int>& group : groups_) {
      if (std::ranges::find(group, q.rank) != group.end()) own_ = &group;
    }
  }

  [[nodiscard]] const Groups& groups() const { return groups_; }
  [[nodiscard]] int leader() const { return own_->front(); }
  [[nodiscard]] bool leads() const { return leader() == q_.rank; }

  template <typename Visit>
  void for_each_member(Visit visit) const {
    for (const int rank : *own_) {
      if (rank != q_.rank) visit(rank);
    }
  }
  template <typename Visit>
  void for_each_other_leader(Visit visit) const {
    for (const std::vector<int>& group : groups_) {
      if (&group != own_) visit(group.front());
    }
  }

  // The leader's: dst <- what all of the group give.
  void combine_group(const LeadersStaging& staging, Builder& b, Ref dst) const {
    std::vector<Ref> sources = {send_at(0)};
    for_each_member([&](int member) {
      b.await(member, 1);
      sources.push_back(staging.given(member));
    });
    b.reduce(dst, sources, q_.bytes(), false);
  }

 private:
  const Problem& q_;
  const Groups groups_;
  const std::vector<int>* own_ = nullptr;
};

// ---- costs -------------------------------------------------------------------------------------

struct GroupShape {
  int groups;
  int largest;
};
inline GroupShape shape_of(const Problem& q) {
  const Groups groups = groups_of(q);
  return {static_cast<int>(groups.size()), largest_of(groups)};
}

// Within a group, all members by the leader or the leader by all of them.
inline double in_group_s(const GroupShape& shape, const Machine& m) {
  return lines_s(shape.largest - 1, m);
}
// The time from leader to leader: a line with the tick and one with the payload, or the entry.
inline double between_leaders_s(const Problem& q, const GroupShape& shape, const Machine& m) {
  const int lines = 2 * (shape.groups - 1);
  return q.cache_domains != nullptr ? far_lines_s(lines, m) : lines_s(lines, m);
}
// Entries are looked at once in eight calls (CallLog::look_further). Ranks that share cores look
// more seldom.
inline double gate_s(const Problem& q, const Machine& m) {
  return (q.ranks - 1) * m.line_next_s / 8;
}

}  // namespace tutti
