// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ports over libfabric, in rounds: (1) what libfabric offers everyone; (2) the addresses of
// everyone's ports; (3) all have taken them.
#include "transports/ofi/connect.hpp"

#include <iterator>

#include "transports/frames/share.hpp"
#include "transports/frames/transport.hpp"
#include "transports/ofi/port.hpp"

namespace tutti::ofi {
namespace {

Result<std::vector<std::unique_ptr<OfiPort>>> open_ports(Offer offer, int channels, int ranks) {
  auto domain = open_domain(std::move(offer));
  if (!domain.ok()) return domain.status();
  std::vector<std::unique_ptr<OfiPort>> ports;
  for (int channel = 0; channel < channels; ++channel) {
    auto port = OfiPort::open(*domain, ranks);
    if (!port.ok()) return port.status();
    ports.push_back(std::move(*port));
  }
  return ports;
}

// Addresses of one rank's ports are equally long, those of different ranks as well.
Status insert_all(const std::vector<std::unique_ptr<OfiPort>>& ports,
                  const std::vector<std::string>& texts) {
  const size_t length = ports.front()->address().size();
  for (size_t r = 0; r < texts.size(); ++r) {
    if (texts[r].size() == length * ports.size()) continue;
    return Status::format(Code::kInternal, "rank {} sent {} bytes of addresses, expected {}", r,
                          texts[r].size(), length * ports.size());
  }
  for (size_t channel = 0; channel < ports.size(); ++channel) {
    std::vector<std::string> addresses;
    for (const std::string& text : texts)
      addresses.push_back(text.substr(channel * length, length));
    TUTTI_RETURN_IF_ERROR(ports[channel]->insert(addresses));
  }
  return {};
}

Result<frames::Ports> connect_ports(Exchange& exchange, const TransportConfig& config, bool alone) {
  auto offer = choose(exchange, find_offers(config, alone));
  if (!offer.ok()) return offer.status();
  auto ports = open_ports(*std::move(offer), config.channels, exchange.ranks());
  Result<std::string> mine = ports.ok() ? Result<std::string>(std::string()) : ports.status();
  if (ports.ok()) {
    for (const auto& port : *ports) *mine += port->address();
  }
  auto texts = frames::share(exchange, mine);
  if (!texts.ok()) return texts.status();
  const Status inserted = insert_all(*ports, *texts);
  auto agreed = frames::share(
      exchange, inserted.ok() ? Result<std::string>(std::string()) : Result<std::string>(inserted));
  if (!agreed.ok()) return agreed.status();
  return frames::Ports(std::make_move_iterator(ports->begin()),
                       std::make_move_iterator(ports->end()));
}

Status usable() { return library().status(); }

}  // namespace

// The first call in a process takes a fraction of a second: providers look for their devices.
Status available() { return find_offers({}, true).status(); }

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  return frames::connect(exchange, config, {"ofi", "libfabric (ofi)", usable, connect_ports});
}

}  // namespace tutti::ofi
