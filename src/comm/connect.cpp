// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which ranks share a host, which network joins the hosts, and one transport over both.
#include "comm/connect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "bootstrap/join.hpp"
#include "bootstrap/opened_meeting.hpp"
#include "core/log.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

// Deadline for ranks of one host to meet: they are all there already.
constexpr int64_t kNeighborsMs = 10'000;

// ---- neighbors ---------------------------------------------------------------------------------

struct Neighborhood {
  Hosts hosts;
  std::unique_ptr<Exchange> exchange;  // among the ranks of this host
};

// A fresh one without an address.
Result<UniqueId> id_for_neighbors() {
  TUTTI_ASSIGN_OR_RETURN(Random128 key, random_128());
  return derive_unique_id(to_hex(key));
}

// The meetings of the ranks of each host, opened by its first rank.
Result<std::vector<OpenedMeeting>> open_meetings(Exchange& exchange, const Hosts& hosts,
                                                 int64_t deadline_ms) {
  OpenedMeeting mine{};
  const std::vector<int>& neighbors = hosts.neighbors(exchange.rank());
  if (neighbors.size() > 1 && neighbors.front() == exchange.rank()) {
    mine = open_meeting(id_for_neighbors(), deadline_ms);
  }
  return gather_values(exchange, mine);
}

Result<std::unique_ptr<Exchange>> join_neighbors(const OpenedMeeting& place, int rank,
                                                 const Hosts& hosts, int64_t deadline_ms) {
  const auto count = static_cast<int>(hosts.neighbors(rank).size());
  if (count == 1) return exchange_alone();
  TUTTI_ASSIGN_OR_RETURN(const UniqueId id, id_of(place, hosts.neighbors(rank).front()));
  return join(id, hosts.place(rank), count, deadline_ms);
}

// Meeting over a socket that does not leave the host proves that it is one.
Result<Neighborhood> meet_neighbors(Exchange& exchange, const Hosts& expected,
                                    int64_t deadline_ms) {
  const int rank = exchange.rank();
  const int64_t soon = std::min(deadline_ms, now_ms() + kNeighborsMs);
  TUTTI_ASSIGN_OR_RETURN(const auto places, open_meetings(exchange, expected, soon));
  const int first = expected.neighbors(rank).front();
  auto joined = join_neighbors(places[static_cast<size_t>(first)], rank, expected, soon);
  const uint8_t mine = joined.ok() ? 1 : 0;
  TUTTI_ASSIGN_OR_RETURN(const auto met, gather_values(exchange, mine));

  std::vector<int> host_ids(met.size());
  for (int r = 0; r < exchange.ranks(); ++r) {
    const std::vector<int>& ranks = expected.neighbors(r);
    const bool all_met = std::ranges::all_of(
        ranks, [&](int neighbor) { return met[static_cast<size_t>(neighbor)] != 0; });
    host_ids[static_cast<size_t>(r)] = all_met ? ranks.front() : r;
  }
  Neighborhood neighborhood{Hosts::of(host_ids), nullptr};
  if (expected.groups != nullptr) {
    std::vector<int> groups;
    for (const int host : expected.host_of) groups.push_back(expected.groups->host(host));
    neighborhood.hosts.group_by(groups);
  }
  const bool stayed = neighborhood.hosts.neighbors(rank).size() == expected.neighbors(rank).size();
  if (!stayed) {
    log::warn("ranks that seem to be on one host do not meet there and go over the network: {}",
              joined.ok() ? "a neighbor failed" : joined.status().message());
  }
  neighborhood.exchange = stayed ? *std::move(joined) : exchange_alone();
  return neighborhood;
}

// ---- the network -------------------------------------------------------------------------------

// On one host, too, where the answer is not needed: what is misspelt would wait for the second one.
Status check_demanded(const std::string& demanded) {
  std::string names;
  for (const TransportKind* kind : transport_kinds()) {
    if (kind->reach != Reach::kNetwork) continue;
    if (demanded.empty() || kind->name == demanded) return {};
    names += fmt::format(" {}", kind->name);
  }
  return Status::format(Code::kInvalidArgument,
                        "CCL_ATL_TRANSPORT is \"{}\": expected one of those that join hosts:{}",
                        demanded, names);
}

// The first kind that all ranks can use and that suits them, or the one demanded.
Result<const TransportKind*> agree_on_network(Exchange& exchange, const std::string& demanded,
                                              const TransportConfig& config) {
  uint64_t usable = 0;
  std::string reasons;
  const auto kinds = transport_kinds();
  const auto wanted = [&](const TransportKind& kind) {
    if (kind.reach != Reach::kNetwork) return false;
    if (!demanded.empty()) return kind.name == demanded;
    return kind.suits == nullptr || kind.suits(config);
  };
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!wanted(*kinds[i])) continue;
    const Status available = kinds[i]->available();
    if (available.ok()) usable |= uint64_t{1} << i;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", kinds[i]->name,
                           available.ok() ? "usable here" : available.message());
  }
  TUTTI_ASSIGN_OR_RETURN(const auto all, gather_values(exchange, usable));
  for (const uint64_t others : all) usable &= others;
  if (usable != 0) return kinds[static_cast<size_t>(std::countr_zero(usable))];
  std::string lacking;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == 0) lacking += fmt::format(" {}", rank);
  }
  return Status::format(Code::kUnsupported,
                        "the ranks are on several hosts, and no transport joins them all{}{} ({})",
                        lacking.empty() ? "" : "; none is usable on rank", lacking, reasons);
}

}  // namespace

NicSet nics_of(const Environment& environment) {
  NicSet nics;
  switch (environment.mnic) {
    case Mnic::kNone: nics.which = NicSet::Which::kOne; break;
    case Mnic::kLocal: nics.which = NicSet::Which::kLocal; break;
    case Mnic::kGlobal: nics.which = NicSet::Which::kGlobal; break;
  }
  nics.names = environment.mnic_names;
  nics.most = static_cast<uint32_t>(environment.mnic_count);
  return nics;
}

Result<Connection> connect(Exchange& exchange, const Hosts& hosts, const Environment& environment,
                           const TransportConfig& config) {
  Connection connection;
  if (Status known = check_demanded(environment.atl_transport); !known.ok()) return known;
  if (hosts.count() == 1) {
    TUTTI_ASSIGN_OR_RETURN(connection.transport, host_kind().connect(exchange, config));
    return connection;
  }
  TUTTI_ASSIGN_OR_RETURN(auto neighborhood, meet_neighbors(exchange, hosts, config.deadline_ms));
  TransportConfig within = config;
  within.channels = JoinedTransport::host_channels(config.lanes);
  within.numbers = neighborhood.hosts.neighbors(exchange.rank());
  auto host = host_kind().connect(*neighborhood.exchange, within);
  TransportConfig between = config;
  between.channels = JoinedTransport::network_channels(config.lanes, hosts.groups != nullptr);
  const auto kind = agree_on_network(exchange, environment.atl_transport, between);
  if (!host.ok()) return host.status();
  if (!kind.ok()) return kind.status();
  TUTTI_ASSIGN_OR_RETURN(auto network, (*kind)->connect(exchange, between));
  auto joined =
      std::make_unique<JoinedTransport>(exchange.rank(), std::move(neighborhood.hosts),
                                        config.lanes, *std::move(host), std::move(network));
  connection.joined = joined.get();
  connection.transport = std::move(joined);
  return connection;
}

}  // namespace tutti
