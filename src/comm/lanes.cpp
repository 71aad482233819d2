// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Opens the lanes of a communicator, and makes the selectors that choose for them.
#include "comm/lanes.hpp"

#include <numeric>

#include "comm/announce.hpp"
#include "core/cache_domain.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"

namespace tutti {
namespace {

// Rank 0 says for all what it chooses; of phases nobody does.
Result<Choose> chooser(const JobVariables& variables, const Machine& machine, Advice advice,
                       const std::string* named = nullptr) {
  Result<Selector> selector = Selector::create(variables, machine, std::move(advice));
  if (!selector.ok()) return selector.status();
  if (named != nullptr) return choose_aloud(*std::move(selector), *named);
  return Choose([selector = *std::move(selector)](const Problem& problem, DataType type) {
    return selector.choose(problem, type);
  });
}

// Null if the ranks share no memory.
Result<std::unique_ptr<Window>> window_of(Transport& transport, int lane) {
  SharedMemory* const memory = transport.shared_memory();
  if (memory == nullptr) return std::unique_ptr<Window>();
  return memory->open_window(lane);
}

// Those of the ranks of this one's host; none if there is one, or that of some rank is not known.
std::optional<Hosts> cache_domains_around(int rank, const PlanInputs& inputs) {
  std::vector<int> ranks = inputs.hosts.neighbors(rank);
  for (int& neighbor : ranks) {
    neighbor = inputs.cache_domains[static_cast<size_t>(neighbor)];
    if (neighbor == kNoCacheDomain) return std::nullopt;
  }
  Hosts domains = Hosts::of(ranks);
  if (domains.count() == 1) return std::nullopt;
  return domains;
}

}  // namespace

Lanes::Lanes(Connection& connection, int rank, int ranks, const PlanInputs& inputs, Staging staging)
    : connection_(connection),
      rank_(rank),
      ranks_(ranks),
      limits_(limits_on_host(inputs)),
      cache_domains_(cache_domains_around(rank, inputs)),
      can_view_(inputs.views),
      staging_(staging) {}

Result<std::unique_ptr<Lanes>> Lanes::create(Connection& connection, int rank, int ranks,
                                             const PlanInputs& inputs, Staging staging,
                                             const std::string& name) {
  std::unique_ptr<Lanes> lanes(new Lanes(connection, rank, ranks, inputs, staging));
  TUTTI_RETURN_IF_ERROR(lanes->choose_by(inputs, name));
  TUTTI_RETURN_IF_ERROR(lanes->open(inputs.lanes()));
  return lanes;
}

Status Lanes::choose_by(const PlanInputs& inputs, const std::string& name) {
  const Tuning& tuning = inputs.tuning.tuning;
  Advice measured;  // for ranks that share memory
  measured.rules = tuning.rules_for(inputs.local_ranks, inputs.cores);
  measured.rules_path = inputs.tuning.path;
  const Machine machine = machine_for(inputs.local_ranks, inputs.cores, tuning.machine);
  const std::string* const named = rank_ == 0 ? &name : nullptr;
  if (connection_.joined == nullptr) {
    measured.tuner = inputs.tuner;
    auto choose = chooser(inputs.variables, machine, std::move(measured), named);
    if (!choose.ok()) return choose.status();
    choose_ = *std::move(choose);
    return {};
  }
  // Of figures that are the same on all hosts, whatever their ranks share.
  const Machine across = machine_across(inputs.hosts, tuning.machine, *inputs.network);
  Advice advice;
  advice.tuner = inputs.tuner;
  auto choose = chooser(inputs.variables, across, std::move(advice), named);
  if (!choose.ok()) return choose.status();
  choose_ = *std::move(choose);
  // The phases of a strict call are none that reduce in two steps, so they need not be strict.
  JobVariables phases = without_rules(inputs.variables);
  phases.strict = false;
  phases.adapt = false;  // phases of both scopes run side by side: their times tell little
  auto host = chooser(phases, machine, std::move(measured));
  if (!host.ok()) return host.status();
  choose_on_host_ = *std::move(host);
  return choose_in_columns(inputs, phases, across);
}

Status Lanes::choose_in_columns(const PlanInputs& inputs, const JobVariables& phases,
                                const Machine& across) {
  const Hosts* const groups = inputs.hosts.groups.get();
  const Machine over_groups =
      groups == nullptr ? across : machine_over_groups(*groups, across, *inputs.network);
  // What the user wants to be composed is composed of compositions.
  JobVariables of_columns = groups == nullptr ? phases : inputs.variables;
  of_columns.strict = phases.strict;
  of_columns.adapt = false;
  for (const InColumn among : {InColumn::kAll, InColumn::kGroup, InColumn::kAcross}) {
    auto column = chooser(among == InColumn::kAll ? of_columns : phases,
                          among == InColumn::kGroup ? across : over_groups, {});
    if (!column.ok()) return column.status();
    part(among).choose = *std::move(column);
  }
  if (groups == nullptr) return {};
  const Machine alone_across = alone_on_host(inputs.hosts, across);
  auto alone = chooser(of_columns, machine_over_groups(*groups, alone_across, *inputs.network), {});
  if (!alone.ok()) return alone.status();
  part(InColumn::kAll).choose_alone = *std::move(alone);
  return {};
}

// ---- lanes -------------------------------------------------------------------------------------

void Lanes::join_parts(int place, const std::vector<int>& column) {
  const std::shared_ptr<const Hosts>& groups = connection_.joined->hosts().groups;
  const auto join = [&](InColumn among, int rank, const std::vector<int>& hosts) {
    std::vector<int> ranks;
    for (const int host : hosts) ranks.push_back(column[static_cast<size_t>(host)]);
    ColumnPart& joined = part(among);
    joined.context = {.rank = rank,
                      .ranks = static_cast<int>(ranks.size()),
                      .all_ranks = ranks_,
                      .limits = {},
                      .choose = &joined.choose};
    joined.transport =
        std::make_unique<ColumnTransport>(*connection_.joined, among, std::move(ranks));
  };
  std::vector<int> all(column.size());
  std::iota(all.begin(), all.end(), 0);
  join(InColumn::kAll, place, all);
  if (groups == nullptr) return;
  const int in_group = groups->place(place);
  join(InColumn::kGroup, in_group, groups->neighbors(place));
  PlanContext& whole = part(InColumn::kAll).context;
  whole.hosts = groups.get();
  whole.choose_alone = &part(InColumn::kAll).choose_alone;
  whole.scopes = {&part(InColumn::kGroup).context, nullptr};
  if (in_group >= groups->columns()) return;
  join(InColumn::kAcross, groups->host(place), groups->column(in_group));
  whole.scopes[static_cast<size_t>(Scope::kColumn)] = &part(InColumn::kAcross).context;
}

Status Lanes::open(int count) {
  if (connection_.joined != nullptr) join_column();
  for (int lane = 0; lane < count; ++lane) {
    auto group = open_group(lane);
    if (!group.ok()) return group.status();
    groups_.push_back(*std::move(group));
  }
  return {};
}

void Lanes::join_column() {
  const Hosts& hosts = connection_.joined->hosts();
  const int place = hosts.place(rank_);
  on_host_ = {.rank = place,
              .ranks = static_cast<int>(hosts.neighbors(rank_).size()),
              .all_ranks = ranks_,
              .limits = limits_,
              .can_view = can_view_,
              .choose = &choose_on_host_,
              .cache_domains = cache_domains_ ? &*cache_domains_ : nullptr};
  if (place < hosts.columns()) join_parts(hosts.host(rank_), hosts.column(place));
}

Result<std::unique_ptr<LaneGroup>> Lanes::open_group(int lane) {
  Transport& transport = *connection_.transport;
  auto window = window_of(transport, lane);
  if (!window.ok()) return window.status();
  auto endpoint = transport.open_endpoint(lane);
  if (!endpoint.ok()) return endpoint.status();
  const LaneSettings settings = {rank_, ranks_, limits_.oversubscribed, staging_};
  auto all = std::make_unique<Lane>(settings, transport, *std::move(window), *std::move(endpoint));
  if (connection_.joined == nullptr) return std::make_unique<LaneGroup>(std::move(all));
  JoinedTransport& joined = *connection_.joined;
  auto host = open_lane(on_host_, joined.host(), joined.hosts().neighbors(rank_), lane);
  if (!host.ok()) return host.status();
  auto column = open_column(lane);
  if (!column.ok()) return column.status();
  return std::make_unique<LaneGroup>(std::move(all), *std::move(host), *std::move(column));
}

// Null if this rank is in none.
Result<std::unique_ptr<LaneGroup>> Lanes::open_column(int lane) {
  if (part(InColumn::kAll).transport == nullptr) return std::unique_ptr<LaneGroup>();
  auto all = open_lane(InColumn::kAll, lane);
  if (!all.ok()) return all.status();
  if (part(InColumn::kGroup).transport == nullptr) {
    return std::make_unique<LaneGroup>(*std::move(all));
  }
  auto group = open_lane(InColumn::kGroup, lane);
  if (!group.ok()) return group.status();
  std::unique_ptr<LaneGroup> across;
  if (part(InColumn::kAcross).transport != nullptr) {
    auto lanes = open_lane(InColumn::kAcross, lane);
    if (!lanes.ok()) return lanes.status();
    across = std::make_unique<LaneGroup>(*std::move(lanes));
  }
  return std::make_unique<LaneGroup>(*std::move(all), *std::move(group), std::move(across));
}

Result<std::unique_ptr<Lane>> Lanes::open_lane(InColumn among, int lane) {
  ColumnTransport& transport = *part(among).transport;
  return open_lane(part(among).context, transport, transport.ranks(), lane);
}

Result<std::unique_ptr<Lane>> Lanes::open_lane(const PlanContext& context, Transport& transport,
                                               std::vector<int> ranks, int lane) {
  auto window = window_of(transport, lane);
  if (!window.ok()) return window.status();
  auto endpoint = transport.open_endpoint(lane);
  if (!endpoint.ok()) return endpoint.status();
  LaneSettings settings = {context.rank, context.ranks, limits_.oversubscribed, staging_,
                           std::move(ranks)};
  return std::make_unique<Lane>(std::move(settings), transport, *std::move(window),
                                *std::move(endpoint));
}

void Lanes::describe(ExecutorSettings& settings) const {
  if (connection_.joined == nullptr) {
    settings.limits = limits_;
    settings.can_view = can_view_;
    settings.cache_domains = cache_domains_ ? &*cache_domains_ : nullptr;
    return;
  }
  settings.polls = true;
  settings.hosts = &connection_.joined->hosts();
  settings.scopes[static_cast<size_t>(Scope::kHost)] = &on_host_;
  const ColumnPart& column = column_[static_cast<size_t>(InColumn::kAll)];
  if (column.transport != nullptr) {
    settings.scopes[static_cast<size_t>(Scope::kColumn)] = &column.context;
  }
}

}  // namespace tutti
