// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Opens the lanes of a communicator, and makes the selectors that choose for them.
#include "comm/lanes.hpp"

#include <numeric>

#include "comm/announce.hpp"
#include "core/cache_domain.hpp"

namespace tutti {
namespace {

// Rank 0 says for all what it chooses; of phases nobody does.
Result<Choose> chooser(const Environment& environment, const Machine& machine, Advice advice,
                       const std::string* named = nullptr) {
  Result<Selector> selector = Selector::create(environment, machine, std::move(advice));
  if (!selector.ok()) return selector.status();
  if (named != nullptr) return choose_aloud(*std::move(selector), *named);
  return Choose([selector = *std::move(selector)](const Problem& problem, DataType type) {
    return selector.choose(problem, type);
  });
}

Limits limits_on(const SharedMemory& memory, int most_ranks, const ChoiceSettings& choice) {
  Limits limits = limits_of(choice.environment, most_ranks, choice.cores);
  limits.pulls = memory.can_pull();
  limits.pull_readers = readers_for(choice.environment, choice.local_ranks, choice.cores);
  return limits;
}

// Null if the ranks share no memory.
Result<std::unique_ptr<Window>> window_of(Transport& transport, int lane) {
  SharedMemory* const memory = transport.shared_memory();
  if (memory == nullptr) return std::unique_ptr<Window>();
  return memory->open_window(lane);
}

// None if there is one, or the domain of some rank is not known.
std::optional<Hosts> cache_domains_among(const std::vector<int>& cache_domain_of,
                                         std::vector<int> ranks) {
  for (int& rank : ranks) {
    rank = cache_domain_of[static_cast<size_t>(rank)];
    if (rank == kNoCacheDomain) return std::nullopt;
  }
  Hosts domains = Hosts::of(ranks);
  if (domains.count() == 1) return std::nullopt;
  return domains;
}

}  // namespace

Lanes::Lanes(Connection& connection, int rank, int ranks)
    : connection_(connection), rank_(rank), ranks_(ranks) {}

Result<std::unique_ptr<Lanes>> Lanes::create(Connection& connection, int rank, int ranks, int count,
                                             const ChoiceSettings& choice) {
  std::unique_ptr<Lanes> lanes(new Lanes(connection, rank, ranks));
  TUTTI_RETURN_IF_ERROR(lanes->choose_by(choice));
  TUTTI_RETURN_IF_ERROR(lanes->open(count));
  return lanes;
}

bool Lanes::in_column() const {
  const Hosts& hosts = connection_.joined->hosts();
  return hosts.place(rank_) < hosts.columns();
}

Status Lanes::choose_by(const ChoiceSettings& choice) {
  const SharedMemory& memory = *connection_.within().shared_memory();
  const int most_ranks =
      connection_.joined != nullptr ? connection_.joined->hosts().most_on_a_host() : ranks_;
  limits_ = limits_on(memory, most_ranks, choice);
  std::vector<int> here(static_cast<size_t>(ranks_));
  std::iota(here.begin(), here.end(), 0);
  if (connection_.joined != nullptr) here = connection_.joined->hosts().neighbors(rank_);
  cache_domains_ = cache_domains_among(choice.cache_domains, std::move(here));
  can_view_ = memory.can_view();
  oversubscribed_ = choice.oversubscribed;
  staging_ = choice.environment.staging;
  Environment selecting = choice.environment;
  selecting.strict = choice.strict;
  Advice measured;  // for ranks that share memory
  measured.rules = choice.tuning.tuning.rules_for(choice.local_ranks, choice.cores);
  measured.rules_path = choice.tuning.path;
  const Machine& alone = choice.tuning.tuning.machine;
  const Machine machine = machine_for(choice.local_ranks, choice.cores, alone);
  const std::string* const named = rank_ == 0 ? &choice.name : nullptr;
  if (connection_.joined == nullptr) {
    measured.tuner = choice.tuner;
    auto choose = chooser(selecting, machine, std::move(measured), named);
    if (!choose.ok()) return choose.status();
    choose_ = *std::move(choose);
    return {};
  }
  // The same on ranks of all hosts, whatever they share with how many others.
  const Machine across = machine_across(connection_.joined->hosts(), alone, *choice.network);
  Advice advice;
  advice.tuner = choice.tuner;
  auto choose = chooser(selecting, across, std::move(advice), named);
  if (!choose.ok()) return choose.status();
  choose_ = *std::move(choose);
  // The phases of a strict call are none that reduce in two steps, so they need not be strict.
  Environment phases = without_rules(choice.environment);
  phases.adapt = false;  // phases of both scopes run side by side: their times tell little
  auto host = chooser(phases, machine, std::move(measured));
  auto column = chooser(phases, across, {});
  if (!host.ok()) return host.status();
  if (!column.ok()) return column.status();
  choose_in_[static_cast<size_t>(Scope::kHost)] = *std::move(host);
  choose_in_[static_cast<size_t>(Scope::kColumn)] = *std::move(column);
  return {};
}

// ---- lanes -------------------------------------------------------------------------------------

Status Lanes::open(int count) {
  if (connection_.joined != nullptr) {
    const Hosts& hosts = connection_.joined->hosts();
    const int place = hosts.place(rank_);
    contexts_[static_cast<size_t>(Scope::kHost)] = {
        .rank = place,
        .ranks = static_cast<int>(hosts.neighbors(rank_).size()),
        .limits = limits_,
        .can_view = can_view_,
        .choose = &choose_in_[static_cast<size_t>(Scope::kHost)],
        .cache_domains = cache_domains_ ? &*cache_domains_ : nullptr};
    contexts_[static_cast<size_t>(Scope::kColumn)] = {
        .rank = hosts.host(rank_),
        .ranks = hosts.count(),
        .limits = {},
        .choose = &choose_in_[static_cast<size_t>(Scope::kColumn)]};
    if (in_column()) {
      column_ = std::make_unique<ColumnTransport>(*connection_.joined, hosts.column(place));
    }
  }
  for (int lane = 0; lane < count; ++lane) {
    auto group = open_group(lane);
    if (!group.ok()) return group.status();
    groups_.push_back(*std::move(group));
  }
  return {};
}

Result<std::unique_ptr<LaneGroup>> Lanes::open_group(int lane) {
  Transport& transport = *connection_.transport;
  auto window = window_of(transport, lane);
  if (!window.ok()) return window.status();
  auto endpoint = transport.open_endpoint(lane);
  if (!endpoint.ok()) return endpoint.status();
  auto all = std::make_unique<Lane>(rank_, ranks_, oversubscribed_, staging_, transport,
                                    *std::move(window), *std::move(endpoint));
  if (connection_.joined == nullptr) return std::make_unique<LaneGroup>(std::move(all));
  auto host = open_lane(Scope::kHost, lane);
  if (!host.ok()) return host.status();
  if (column_ == nullptr) return std::make_unique<LaneGroup>(std::move(all), *std::move(host));
  auto column = open_lane(Scope::kColumn, lane);
  if (!column.ok()) return column.status();
  return std::make_unique<LaneGroup>(std::move(all), *std::move(host), *std::move(column));
}

Result<std::unique_ptr<Lane>> Lanes::open_lane(Scope scope, int lane) {
  const Hosts& hosts = connection_.joined->hosts();
  const bool on_host = scope == Scope::kHost;
  Transport& transport = on_host ? connection_.joined->host() : static_cast<Transport&>(*column_);
  auto window = window_of(transport, lane);
  if (!window.ok()) return window.status();
  auto endpoint = transport.open_endpoint(lane);
  if (!endpoint.ok()) return endpoint.status();
  const PlanContext& context = contexts_[static_cast<size_t>(scope)];
  return std::make_unique<Lane>(
      context.rank, context.ranks, oversubscribed_, staging_, transport, *std::move(window),
      *std::move(endpoint), on_host ? hosts.neighbors(rank_) : hosts.column(hosts.place(rank_)));
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
  settings.scopes[static_cast<size_t>(Scope::kHost)] =
      &contexts_[static_cast<size_t>(Scope::kHost)];
  if (column_ != nullptr) {
    settings.scopes[static_cast<size_t>(Scope::kColumn)] =
        &contexts_[static_cast<size_t>(Scope::kColumn)];
  }
}

}  // namespace tutti
