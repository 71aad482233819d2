// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/connect.hpp"

#include "transports/frames/transport.hpp"
#include "transports/nics/connect.hpp"
#include "transports/ofi/devices.hpp"
#include "transports/ofi/port.hpp"

namespace tutti::ofi {
namespace {

Result<nics::AddressedPorts> open_ports(const std::vector<Offer>& rails,
                                        const TransportConfig& config, int ranks) {
  std::vector<std::shared_ptr<Domain>> domains;
  for (const Offer& rail : rails) {
    TUTTI_ASSIGN_OR_RETURN(auto domain, open_domain(rail));
    domains.push_back(std::move(domain));
  }
  nics::AddressedPorts ports;
  for (int channel = 0; channel < config.channels; ++channel) {
    for (const auto& domain : domains) {
      TUTTI_ASSIGN_OR_RETURN(auto port, OfiPort::open(domain, ranks));
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

Result<frames::Ports> connect_ports(Exchange& exchange, const TransportConfig& config, bool alone) {
  return nics::connect_ports(
      exchange, find_offers(config, alone), config,
      [&](const std::vector<Offer>& rails) { return open_ports(rails, config, exchange.ranks()); });
}

Status usable() { return library().status(); }

}  // namespace

// The first call in a process takes a fraction of a second: providers look for their devices.
Status available() { return find_offers({}, true).status(); }

bool suits(const TransportConfig& config) {
  if (!config.network.provider.empty() || config.network.limits_providers) return true;
  if (config.network.encrypt || !may_have_fast_network()) return false;
  const auto offers = find_offers(config, false);
  return offers.ok() && is_fast(offers->front());
}

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  return frames::connect(exchange, config, {"ofi", "libfabric (ofi)", usable, connect_ports});
}

}  // namespace tutti::ofi
