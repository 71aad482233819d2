// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: lists of ranks, each named by its number in MPI_COMM_WORLD.
#include <algorithm>

#include "communicator.hpp"

namespace tutti_mpi {
namespace {

MPI_Group made(WorldRanks ranks) {
  if (ranks.empty()) return MPI_GROUP_EMPTY;
  return new MPI_ABI_Group{std::move(ranks)};
}

// Places in the group, each once.
std::vector<size_t> listed(const WorldRanks& group, int n, const int* ranks) {
  expect(n >= 0, MPI_ERR_ARG, "n is negative");
  std::vector<size_t> places;
  for (int i = 0; i < n; ++i) {
    expect(ranks[i] >= 0 && static_cast<size_t>(ranks[i]) < group.size(), MPI_ERR_RANK,
           "a rank is not in the group");
    const auto at = static_cast<size_t>(ranks[i]);
    expect(std::find(places.begin(), places.end(), at) == places.end(), MPI_ERR_RANK,
           "a rank is there twice");
    places.push_back(at);
  }
  return places;
}
std::vector<int> in_ranges(int n, int ranges[][3]) {
  expect(n >= 0, MPI_ERR_ARG, "n is negative");
  std::vector<int> ranks;
  for (int i = 0; i < n; ++i) {
    const auto [first, last, step] = ranges[i];
    expect(step != 0, MPI_ERR_ARG, "the step of a range is 0");
    for (int rank = first; step > 0 ? rank <= last : rank >= last; rank += step) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}
MPI_Group included(const WorldRanks& group, int n, const int* ranks) {
  WorldRanks chosen;
  for (const size_t at : listed(group, n, ranks)) chosen.push_back(group[at]);
  return made(std::move(chosen));
}
MPI_Group excluded(const WorldRanks& group, int n, const int* ranks) {
  std::vector<bool> leaves(group.size(), false);
  for (const size_t at : listed(group, n, ranks)) leaves[at] = true;
  WorldRanks chosen;
  for (size_t i = 0; i < group.size(); ++i) {
    if (!leaves[i]) chosen.push_back(group[i]);
  }
  return made(std::move(chosen));
}

// The ranks of one group that the other has, or has not, after `first`.
MPI_Group filtered(WorldRanks first, const WorldRanks& from, const WorldRanks& other, bool has) {
  for (const int rank : from) {
    if ((place(other, rank) >= 0) == has) first.push_back(rank);
  }
  return made(std::move(first));
}

}  // namespace

const WorldRanks& find(MPI_Group group) {
  static const WorldRanks none;
  if (group == MPI_GROUP_EMPTY) return none;
  expect(!is_predefined(group), MPI_ERR_GROUP, "it is not a group");
  return group->ranks;
}

int place(const WorldRanks& ranks, int rank) {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found != ranks.end() ? static_cast<int>(found - ranks.begin()) : MPI_UNDEFINED;
}

int compare(const WorldRanks& one, const WorldRanks& other) {
  if (one == other) return MPI_IDENT;
  const bool alike = std::is_permutation(one.begin(), one.end(), other.begin(), other.end());
  return alike ? MPI_SIMILAR : MPI_UNEQUAL;
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_ON(comm, Comm_group, (MPI_Comm comm, MPI_Group* group), *group = made(find(comm).world))
TUTTI_MPI_DO(Group_free, (MPI_Group * group), {
  find(*group);
  if (!is_predefined(*group)) delete *group;
  *group = MPI_GROUP_NULL;
})
TUTTI_MPI_DO(Group_size, (MPI_Group group, int* size), *size = static_cast<int>(find(group).size()))
TUTTI_MPI_DO(Group_rank, (MPI_Group group, int* rank),
             *rank = place(find(group), world.world->rank))
TUTTI_MPI_DO(Group_translate_ranks,
             (MPI_Group one, int n, const int ranks[], MPI_Group other, int translated[]), {
               const WorldRanks& from = find(one);
               const WorldRanks& to = find(other);
               for (int i = 0; i < n; ++i) {
                 if (ranks[i] == MPI_PROC_NULL) {
                   translated[i] = MPI_PROC_NULL;
                   continue;
                 }
                 expect(ranks[i] >= 0 && static_cast<size_t>(ranks[i]) < from.size(), MPI_ERR_RANK,
                        "a rank is not in the group");
                 translated[i] = place(to, from[static_cast<size_t>(ranks[i])]);
               }
             })
TUTTI_MPI_DO(Group_compare, (MPI_Group one, MPI_Group other, int* result),
             { *result = compare(find(one), find(other)); })
TUTTI_MPI_DO(Group_union, (MPI_Group one, MPI_Group other, MPI_Group* group),
             *group = filtered(find(one), find(other), find(one), false))
TUTTI_MPI_DO(Group_intersection, (MPI_Group one, MPI_Group other, MPI_Group* group),
             *group = filtered({}, find(one), find(other), true))
TUTTI_MPI_DO(Group_difference, (MPI_Group one, MPI_Group other, MPI_Group* group),
             *group = filtered({}, find(one), find(other), false))
TUTTI_MPI_DO(Group_incl, (MPI_Group from, int n, const int ranks[], MPI_Group* group),
             *group = included(find(from), n, ranks))
TUTTI_MPI_DO(Group_excl, (MPI_Group from, int n, const int ranks[], MPI_Group* group),
             *group = excluded(find(from), n, ranks))
TUTTI_MPI_DO(Group_range_incl, (MPI_Group from, int n, int ranges[][3], MPI_Group* group), {
  const std::vector<int> ranks = in_ranges(n, ranges);
  *group = included(find(from), static_cast<int>(ranks.size()), ranks.data());
})
TUTTI_MPI_DO(Group_range_excl, (MPI_Group from, int n, int ranges[][3], MPI_Group* group), {
  const std::vector<int> ranks = in_ranges(n, ranges);
  *group = excluded(find(from), static_cast<int>(ranks.size()), ranks.data());
})
