// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connect.hpp"

#include "core/interfaces.hpp"
#include "transports/nics/connect.hpp"
#include "transports/tcp/port.hpp"

namespace tutti::tcp {
namespace {

using nics::Offer;

Offer describe(const Interface& interface) {
  Offer offer;
  offer.own = std::make_shared<NetAddress>(interface.address);
  offer.provider = "tcp";
  offer.format = interface.address.family == NetAddress::Family::kIpv4 ? nics::kIpv4 : nics::kIpv6;
  offer.interface = interface.name;
  offer.device = interface.name;
  offer.address = interface.address.host_text();
  offer.network = interface.address.network_text(interface.prefix);
  offer.loopback = interface.address.loopback();
  return offer;
}

Result<nics::AddressedPorts> open_ports(const std::vector<Offer>& rails,
                                        const TransportConfig& config, int rank) {
  nics::AddressedPorts ports;
  for (int channel = 0; channel < config.channels; ++channel) {
    for (const Offer& rail : rails) {
      const auto& address = *std::static_pointer_cast<NetAddress>(rail.own);
      TUTTI_ASSIGN_OR_RETURN(auto port, TcpPort::open(address, nics::text_of(rail), rank,
                                                      {.encrypt = config.network.encrypt,
                                                       .replaceable = rails.size() > 1}));
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

Result<frames::Ports> connect_ports(Exchange& exchange, const TransportConfig& config, bool alone) {
  return nics::connect_ports(
      exchange, find_offers(config, alone), config,
      [&](const std::vector<Offer>& rails) { return open_ports(rails, config, exchange.rank()); });
}

}  // namespace

Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone) {
  TUTTI_ASSIGN_OR_RETURN(const auto interfaces, list_interfaces());
  std::vector<Offer> offers;
  for (const Interface& interface : interfaces) offers.push_back(describe(interface));
  const std::string found = nics::list_of(offers);
  TUTTI_RETURN_IF_ERROR(nics::keep_usable(offers, config, alone));
  if (!offers.empty()) return offers;
  return Status::format(Code::kSystem, "no network interface fits (one that is up{}); there is {}",
                        nics::conditions(config, alone), found);
}

Status available() { return find_offers({}, true).status(); }

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  return frames::connect(exchange, config,
                         {.name = "tcp",
                          .long_name = "TCP",
                          .usable = available,
                          .open_ports = connect_ports,
                          .encrypts = true});
}

}  // namespace tutti::tcp
