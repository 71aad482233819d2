// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Shared memory and a network behind one transport, for the tests of messages: two ranks are on one
// host, more of them on two.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/connect.hpp"
#include "transports/transport.hpp"

namespace tutti_test {

inline const tutti::TransportKind& kind_of(std::string_view name) {
  return **std::ranges::find(tutti::transport_kinds(), name, &tutti::TransportKind::name);
}

inline tutti::Status joined_available() { return kind_of("tcp").available(); }

inline tutti::Result<std::unique_ptr<tutti::Transport>> connect_joined(
    tutti::Exchange& exchange, const tutti::TransportConfig& config) {
  using namespace tutti;
  const int ranks = exchange.ranks();
  std::vector<int> marks;
  for (int rank = 0; rank < ranks; ++rank) marks.push_back(ranks > 2 ? 2 * rank / ranks : 0);
  Hosts hosts = Hosts::of(marks);
  const int lanes = config.lanes;
  if (hosts.count() > 1) {
    Environment environment;
    environment.atl_transport = "tcp";
    Result<Connection> connection = connect(exchange, std::move(hosts), environment, config);
    if (!connection.ok()) return connection.status();
    return std::move(connection->transport);
  }
  TransportConfig part = config;
  part.channels = JoinedTransport::host_channels(lanes);
  auto host = kind_of("shm").connect(exchange, part);
  if (!host.ok()) return host;
  part.channels = JoinedTransport::network_channels(lanes, false);
  auto network = kind_of("tcp").connect(exchange, part);
  if (!network.ok()) return network;
  return std::unique_ptr<Transport>(std::make_unique<JoinedTransport>(
      exchange.rank(), std::move(hosts), lanes, *std::move(host), *std::move(network)));
}

inline const tutti::TransportKind kJoined = {"joined", "shm within a host, a network between them",
                                             tutti::Reach::kNetwork, joined_available,
                                             connect_joined};

}  // namespace tutti_test
