// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Opens the lanes of a communicator, and makes the selectors that choose for them.
#include "comm/lanes.hpp"

#include "comm/announce.hpp"
#include "core/cache_domain.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"

namespace tutti {
namespace {

// Null if the ranks share no memory.
Result<std::unique_ptr<LaneMemory>> memory_of(Transport& transport, int lane) {
  SharedMemory* const memory = transport.shared_memory();
  if (memory == nullptr) return std::unique_ptr<LaneMemory>();
  return memory->open_lane_memory(lane);
}

// The cache domains of this rank's host; none if there is only one, or if some rank's is not known.
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

Lanes::Lanes(Connection& connection, int rank, int ranks, const PlanInputs& inputs,
             StoreTarget store_target)
    : connection_(connection),
      rank_(rank),
      ranks_(ranks),
      limits_(limits_on_host(inputs)),
      cache_domains_(cache_domains_around(rank, inputs)),
      can_map_peers_(inputs.maps_peers),
      store_target_(store_target) {}

Result<std::unique_ptr<Lanes>> Lanes::create(Connection& connection, int rank, int ranks,
                                             const PlanInputs& inputs, StoreTarget store_target,
                                             const std::string& name) {
  std::unique_ptr<Lanes> lanes(new Lanes(connection, rank, ranks, inputs, store_target));
  TUTTI_RETURN_IF_ERROR(lanes->choose_by(inputs, name));
  TUTTI_RETURN_IF_ERROR(lanes->open(inputs.lanes()));
  return lanes;
}

Status Lanes::choose_by(const PlanInputs& inputs, const std::string& name) {
  const Tuning& tuning = inputs.tuning.tuning;
  Advice measured;  // measured advice for ranks that share memory
  measured.rules = tuning.rules_for(inputs.local_ranks, inputs.cores);
  measured.rules_path = inputs.tuning.path;
  const Machine machine = machine_for(inputs.local_ranks, inputs.cores, tuning.machine);
  const bool spans_hosts = connection_.joined != nullptr;
  // The figures between hosts are equal on all of them, however many ranks share a host.
  const Machine across =
      spans_hosts ? machine_across(inputs.hosts, tuning.machine, *inputs.network) : machine;
  Advice advice = spans_hosts ? Advice{} : measured;
  advice.tuner = inputs.tuner;
  TUTTI_ASSIGN_OR_RETURN(auto selector,
                         Selector::create(inputs.variables, across, std::move(advice)));
  // Rank 0 says for all what it chooses; of phases nobody does.
  Notes* const notes = connection_.transport->notes(rank_, 0);
  choose_ = rank_ == 0 ? choose_aloud(std::move(selector), name,
                                      notes == nullptr ? nullptr : &notes->demand)
                       : choice_of(std::move(selector));
  if (!spans_hosts) return {};
  TUTTI_ASSIGN_OR_RETURN(choose_phases_, ScopeChoices::create({.hosts = connection_.joined->hosts(),
                                                               .network = *inputs.network,
                                                               .variables = inputs.variables,
                                                               .host = machine,
                                                               .across = across,
                                                               .on_host = std::move(measured)}));
  return {};
}

// ---- lanes -------------------------------------------------------------------------------------

Status Lanes::open(int count) {
  if (connection_.joined != nullptr) join_column(*connection_.joined);
  for (int lane = 0; lane < count; ++lane) {
    TUTTI_ASSIGN_OR_RETURN(auto group, open_group(lane));
    groups_.push_back(std::move(group));
  }
  return {};
}

void Lanes::join_column(JoinedTransport& joined) {
  const Hosts& hosts = joined.hosts();
  scopes_.emplace(hosts, rank_, choose_phases_,
                  PlanContext{.limits = limits_,
                              .can_map_peers = can_map_peers_,
                              .cache_domains = cache_domains_ ? &*cache_domains_ : nullptr});
  for (const InColumn among : {InColumn::kAll, InColumn::kGroup, InColumn::kAcross}) {
    if (scopes_->in_column(among) == nullptr) continue;
    column_[static_cast<size_t>(among)] =
        std::make_unique<ColumnTransport>(joined, among, ranks_in_column(hosts, rank_, among));
  }
}

Result<std::unique_ptr<LaneGroup>> Lanes::open_group(int lane) {
  Transport& transport = *connection_.transport;
  TUTTI_ASSIGN_OR_RETURN(auto shared, memory_of(transport, lane));
  TUTTI_ASSIGN_OR_RETURN(auto endpoint, transport.open_endpoint(lane));
  const LaneSettings settings = {rank_, ranks_, limits_.oversubscribed, store_target_};
  auto all = std::make_unique<Lane>(settings, transport, std::move(shared), std::move(endpoint));
  if (connection_.joined == nullptr) return std::make_unique<LaneGroup>(std::move(all));
  JoinedTransport& joined = *connection_.joined;
  TUTTI_ASSIGN_OR_RETURN(auto host, open_lane(scopes_->on_host(), joined.host(),
                                              joined.hosts().neighbors(rank_), lane));
  TUTTI_ASSIGN_OR_RETURN(auto column, open_column(lane));
  return std::make_unique<LaneGroup>(std::move(all), std::move(host), std::move(column));
}

// Null if this rank is in none.
Result<std::unique_ptr<LaneGroup>> Lanes::open_column(int lane) {
  std::unique_ptr<Lane> lanes[3];  // lanes by InColumn
  for (size_t at = 0; at < column_.size(); ++at) {
    if (column_[at] == nullptr) continue;
    TUTTI_ASSIGN_OR_RETURN(lanes[at], open_lane(*scopes_->in_column(static_cast<InColumn>(at)),
                                                *column_[at], column_[at]->ranks(), lane));
  }
  auto& [all, group, across] = lanes;
  if (all == nullptr) return std::unique_ptr<LaneGroup>();
  if (group == nullptr) return std::make_unique<LaneGroup>(std::move(all));
  return std::make_unique<LaneGroup>(
      std::move(all), std::move(group),
      across == nullptr ? nullptr : std::make_unique<LaneGroup>(std::move(across)));
}

Result<std::unique_ptr<Lane>> Lanes::open_lane(const PlanContext& context, Transport& transport,
                                               std::vector<int> ranks, int lane) {
  TUTTI_ASSIGN_OR_RETURN(auto shared, memory_of(transport, lane));
  TUTTI_ASSIGN_OR_RETURN(auto endpoint, transport.open_endpoint(lane));
  LaneSettings settings = {context.rank, context.ranks, limits_.oversubscribed, store_target_,
                           std::move(ranks)};
  return std::make_unique<Lane>(std::move(settings), transport, std::move(shared),
                                std::move(endpoint));
}

PlanContext Lanes::context() const {
  PlanContext context;
  context.rank = rank_;
  context.ranks = ranks_;
  if (connection_.joined == nullptr) {
    context.limits = limits_;
    context.can_map_peers = can_map_peers_;
    context.cache_domains = cache_domains_ ? &*cache_domains_ : nullptr;
  } else {
    context.hosts = &connection_.joined->hosts();
    context.scopes = scopes_->of_call();
  }
  return context;
}

}  // namespace tutti
