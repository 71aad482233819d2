// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Connects the ranks of a communicator by a transport: shared memory within a host, a network
// between hosts, both behind one if there are several.
#pragma once

#include <memory>

#include "core/exchange.hpp"
#include "core/hosts.hpp"
#include "env/env.hpp"
#include "transports/joined.hpp"

namespace tutti {

struct Connection {
  std::unique_ptr<Transport> transport;
  // `transport` itself, if the ranks are on several hosts; else null.
  JoinedTransport* joined = nullptr;

  // The transport among the ranks of this host.
  [[nodiscard]] Transport& within() const {
    return joined != nullptr ? joined->host() : *transport;
  }
};

// The network cards that variables name.
NicSet nics_of(const Environment& environment);

// Collective. `hosts` follows from the ranks' host ids. Ranks of one id that turn out not to share
// memory count as being on hosts of their own.
Result<Connection> connect(Exchange& exchange, const Hosts& hosts, const Environment& environment,
                           const TransportConfig& config);

}  // namespace tutti
