// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/scopes.hpp"

#include <utility>

#include "select/machine.hpp"

namespace tutti {

Choose choice_of(Selector selector) {
  return
      [selector = std::move(selector)](const Problem& problem) { return selector.choose(problem); };
}

Result<ScopeChoices> ScopeChoices::create(const Job& job,
                                          const std::function<Choose(Selector)>& ask) {
  ScopeChoices choices;
  // The phases of a strict call are none that reduce in two steps, so they need not be strict.
  // Phases of both scopes run side by side: their times tell little.
  JobVariables phases = without_rules(job.variables);
  phases.strict = phases.adapt = false;
  const auto make = [&](Choose& choose, const JobVariables& variables, const Machine& machine,
                        const Advice& advice = {}) -> Status {
    TUTTI_ASSIGN_OR_RETURN(auto selector, Selector::create(variables, machine, advice));
    choose = ask(std::move(selector));
    return {};
  };
  TUTTI_RETURN_IF_ERROR(make(choices.on_host, phases, job.host, job.on_host));
  auto& [all, group, across] = choices.in_column;
  const Hosts* const groups = job.hosts.groups.get();
  if (groups == nullptr) {
    TUTTI_RETURN_IF_ERROR(make(all, phases, job.across));
    return choices;
  }
  const Machine over_groups = machine_over_groups(*groups, job.across, job.network);
  const Machine alone =
      machine_over_groups(*groups, alone_on_host(job.hosts, job.across), job.network);
  // A column over groups of hosts is composed as well, if the user's variables ask for
  // compositions.
  JobVariables of_columns = job.variables;
  of_columns.strict = of_columns.adapt = false;
  TUTTI_RETURN_IF_ERROR(make(all, of_columns, over_groups));
  TUTTI_RETURN_IF_ERROR(make(group, phases, job.across));
  TUTTI_RETURN_IF_ERROR(make(across, phases, over_groups));
  TUTTI_RETURN_IF_ERROR(make(choices.alone_in_column, of_columns, alone));
  return choices;
}

Scopes::Scopes(const Hosts& hosts, int rank, const ScopeChoices& choices, PlanContext host)
    : on_host_(host) {
  const auto all_ranks = static_cast<int>(hosts.host_of.size());
  const int place = hosts.place(rank);
  on_host_.rank = place;
  on_host_.ranks = static_cast<int>(hosts.neighbors(rank).size());
  on_host_.all_ranks = all_ranks;
  on_host_.choose = &choices.on_host;
  for (PlanContext& context : in_column_) context.ranks = 0;
  if (place >= hosts.columns()) return;
  const auto join = [&](InColumn among, int number, size_t ranks) {
    const auto at = static_cast<size_t>(among);
    in_column_[at].rank = number;
    in_column_[at].ranks = static_cast<int>(ranks);
    in_column_[at].all_ranks = all_ranks;
    in_column_[at].choose = &choices.in_column[at];
  };
  const int own = hosts.host(rank);
  join(InColumn::kAll, own, hosts.ranks_of.size());
  const Hosts* const groups = hosts.groups.get();
  if (groups == nullptr) return;
  const int in_group = groups->place(own);
  join(InColumn::kGroup, in_group, groups->neighbors(own).size());
  if (in_group < groups->columns()) {
    join(InColumn::kAcross, groups->host(own), groups->ranks_of.size());
  }
  PlanContext& all = in_column_[static_cast<size_t>(InColumn::kAll)];
  all.hosts = groups;
  all.choose_alone = &choices.alone_in_column;
  all.scopes = {in_column(InColumn::kGroup), in_column(InColumn::kAcross)};
}

std::vector<int> ranks_in_column(const Hosts& hosts, int rank, InColumn among) {
  std::vector<int> column = hosts.column(hosts.place(rank));
  if (among == InColumn::kAll) return column;
  const Hosts& groups = *hosts.groups;
  const int own = hosts.host(rank);
  std::vector<int> ranks =
      among == InColumn::kGroup ? groups.neighbors(own) : groups.column(groups.place(own));
  for (int& each : ranks) each = column[static_cast<size_t>(each)];
  return ranks;
}

}  // namespace tutti
