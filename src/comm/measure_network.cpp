// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The measurements that all ranks make one after another, and the figures that they agree on.
#include "comm/measure_network.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/network_measurement.hpp"
#include "comm/network_probe.hpp"
#include "core/median.hpp"

namespace tutti {
namespace {

// Bounds that no network exceeds: they keep the figures such that costs can be compared.
constexpr double kLeastMessage_s = 1e-7;
constexpr double kMostMessage_s = 1;
constexpr double kLeastByte_s = 1e-12;
constexpr double kMostByte_s = 1e-3;

// Links of hosts are seldom so unlike one another that one takes so many times as long.
constexpr double kUnlike = 1.5;

// Every rank's figure, or the first error that any has met.
Result<std::vector<double>> tell(Exchange& exchange, const Status& status, double figure) {
  const std::string mine(reinterpret_cast<const char*>(&figure), sizeof figure);
  TUTTI_ASSIGN_OR_RETURN(const auto all,
                         share(exchange, status.ok() ? Result<std::string>(mine) : status));
  return values_in<double>(all);
}

// The rank that a rank asks, and the one that asks it.
struct Partners {
  int next;
  int before;
};

// The rank in this one's place on the next host and on the one before; none if no column has it.
std::optional<Partners> on_hosts_beside(const Hosts& hosts, int rank) {
  const int place = hosts.place(rank);
  if (place >= hosts.columns()) return std::nullopt;
  const int host = hosts.host(rank);
  const auto at = [&](int other) {
    return hosts.ranks_of[static_cast<size_t>(other % hosts.count())][static_cast<size_t>(place)];
  };
  return Partners{at(host + 1), at(host + hosts.count() - 1)};
}

// The partners on the hosts in this one's place of the next group of hosts and of the one before.
std::optional<Partners> in_groups_beside(const Hosts& hosts, int rank) {
  const int place = hosts.place(rank);
  if (place >= hosts.columns()) return std::nullopt;
  const auto beside = on_hosts_beside(*hosts.groups, hosts.host(rank));
  if (!beside) return std::nullopt;
  const auto at = [&](int host) {
    return hosts.ranks_of[static_cast<size_t>(host)][static_cast<size_t>(place)];
  };
  return Partners{at(beside->next), at(beside->before)};
}

class Measuring {
 public:
  Measuring(Exchange& exchange, const Hosts& hosts, Endpoint& network, const Waiter& waiter)
      : exchange_(exchange), hosts_(hosts), network_(network), waiter_(waiter) {}

  // The outcome of a measurement on each rank; all ranks get the same. One measurement at a time:
  // nobody's long messages delay another's short ones.
  Result<std::vector<double>> measure(NetworkMeasurement& measurement,
                                      const std::optional<Partners>& partners) {
    Status status;
    double figure = 0;
    if (partners) {
      NetworkProbe probe(network_, partners->next, partners->before, measurement.longest());
      status = probe.run(measurement, waiter_);
      // The others may wait for messages of this rank, and hear of it from the exchange.
      if (!status.ok()) status = exchange_.fail(status);
      figure = measurement.figure();
    }
    auto all = tell(exchange_, status, figure);
    if (!all.ok()) return all.status().with_context("measuring the network");
    return all;
  }

  // Fills in the seconds per byte. Links that differ are measured once more.
  Status measure_links(const std::optional<Partners>& partners,
                       std::vector<MeasuredFigures>& ranks) {
    for (int time = 0; time == 0 || (time == 1 && links_differ(hosts_, ranks)); ++time) {
      RateMeasurement stream(hosts_.columns());
      TUTTI_ASSIGN_OR_RETURN(auto rates, measure(stream, partners));
      for (size_t r = 0; r < ranks.size(); ++r) {
        const double byte_s = rates[r];
        ranks[r].byte_s = time == 0 ? byte_s : std::min(ranks[r].byte_s, byte_s);
      }
    }
    return {};
  }

 private:
  Exchange& exchange_;
  const Hosts& hosts_;
  Endpoint& network_;
  const Waiter& waiter_;
};

// The seconds per byte of each host's link, as far as they were measured.
std::vector<double> byte_s_of_links(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  std::vector<double> links;
  for (const std::vector<int>& neighbors : hosts.ranks_of) {
    double rate = 0;
    int measured = 0;
    for (const int rank : neighbors) {
      const double byte_s = ranks[static_cast<size_t>(rank)].byte_s;
      if (!std::isfinite(byte_s) || byte_s <= 0) continue;
      rate += 1 / byte_s;
      ++measured;
    }
    if (measured > 0) links.push_back(measured / (rate * hosts.columns()));
  }
  return links;
}

}  // namespace

NetworkFigures agreed_figures(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  NetworkFigures agreed;
  std::vector<double> latencies;
  for (const MeasuredFigures& own : ranks) {
    if (std::isfinite(own.message_s) && own.message_s > 0) latencies.push_back(own.message_s);
  }
  if (!latencies.empty()) {
    agreed.message_s = std::clamp(median(std::move(latencies)), kLeastMessage_s, kMostMessage_s);
  }
  const std::vector<double> links = byte_s_of_links(hosts, ranks);
  if (!links.empty()) {
    agreed.line_byte_s = std::clamp(std::ranges::max(links), kLeastByte_s, kMostByte_s);
  }
  agreed.origin = "measured when the ranks met";
  return agreed;
}

bool links_differ(const Hosts& hosts, std::span<const MeasuredFigures> ranks) {
  const std::vector<double> links = byte_s_of_links(hosts, ranks);
  return !links.empty() && std::ranges::max(links) > kUnlike * std::ranges::min(links);
}

double agreed_between_groups(const Hosts& hosts, std::span<const MeasuredFigures> ranks,
                             double line_byte_s) {
  std::vector<double> links = byte_s_of_links(hosts, ranks);
  if (links.empty()) return 0;
  return std::clamp(median(std::move(links)), line_byte_s, kMostByte_s);
}

Result<NetworkFigures> measure_network(Exchange& exchange, const Hosts& hosts, Endpoint& network,
                                       const Waiter& waiter) {
  const int rank = exchange.rank();
  Measuring measuring(exchange, hosts, network, waiter);
  const auto beside = on_hosts_beside(hosts, rank);
  LatencyMeasurement trips;
  TUTTI_ASSIGN_OR_RETURN(auto latencies, measuring.measure(trips, beside));
  std::vector<MeasuredFigures> ranks;
  for (const double message_s : latencies) ranks.push_back({message_s, 0});
  TUTTI_RETURN_IF_ERROR(measuring.measure_links(beside, ranks));
  NetworkFigures agreed = agreed_figures(hosts, ranks);
  if (hosts.groups == nullptr) return agreed;
  TUTTI_RETURN_IF_ERROR(measuring.measure_links(in_groups_beside(hosts, rank), ranks));
  agreed.group_byte_s = agreed_between_groups(hosts, ranks, agreed.line_byte_s);
  return agreed;
}

}  // namespace tutti
