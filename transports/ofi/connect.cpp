// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ports over libfabric, in rounds: (1) what libfabric offers everyone; (2) the addresses of
// everyone's ports; (3) all have taken them.
#include "transports/ofi/connect.hpp"

#include "core/log.hpp"
#include "transports/frames/rails.hpp"
#include "transports/frames/share.hpp"
#include "transports/frames/transport.hpp"
#include "transports/ofi/choice.hpp"
#include "transports/ofi/port.hpp"

namespace tutti::ofi {
namespace {

using OfiPorts = std::vector<std::unique_ptr<OfiPort>>;

// Of every channel a port on each rail, one channel after another.
Result<OfiPorts> open_ports(std::vector<Offer> rails, const TransportConfig& config, int ranks) {
  std::vector<std::shared_ptr<Domain>> domains;
  std::string where;
  for (Offer& rail : rails) {
    auto domain = open_domain(std::move(rail));
    if (!domain.ok()) return domain.status();
    where += (where.empty() ? "" : ", ") + (*domain)->where;
    domains.push_back(*std::move(domain));
  }
  log::info("{}: {} of libfabric: {}", config.label, domains.size() > 1 ? "rails" : "interface",
            where);
  OfiPorts ports;
  for (int channel = 0; channel < config.channels; ++channel) {
    for (const auto& domain : domains) {
      auto port = OfiPort::open(domain, ranks);
      if (!port.ok()) return port.status();
      ports.push_back(std::move(*port));
    }
  }
  return ports;
}

// Addresses of one rank's ports are equally long, those of different ranks as well.
Status insert_all(const OfiPorts& ports, const std::vector<std::string>& texts) {
  const size_t length = ports.front()->address().size();
  for (size_t r = 0; r < texts.size(); ++r) {
    if (texts[r].size() == length * ports.size()) continue;
    return Status::format(Code::kInternal, "rank {} sent {} bytes of addresses, expected {}", r,
                          texts[r].size(), length * ports.size());
  }
  for (size_t port = 0; port < ports.size(); ++port) {
    std::vector<std::string> addresses;
    for (const std::string& text : texts) addresses.push_back(text.substr(port * length, length));
    TUTTI_RETURN_IF_ERROR(ports[port]->insert(addresses));
  }
  return {};
}

frames::Ports join_rails(OfiPorts ports, size_t rails) {
  frames::Ports channels;
  for (size_t first = 0; first < ports.size(); first += rails) {
    if (rails == 1) {
      channels.push_back(std::move(ports[first]));
      continue;
    }
    frames::Ports side_by_side;
    for (size_t rail = 0; rail < rails; ++rail) {
      side_by_side.push_back(std::move(ports[first + rail]));
    }
    channels.push_back(std::make_unique<frames::RailsPort>(std::move(side_by_side)));
  }
  return channels;
}

Result<frames::Ports> connect_ports(Exchange& exchange, const TransportConfig& config, bool alone) {
  auto offers = choose(exchange, find_offers(config, alone), config.nics);
  if (!offers.ok()) return offers.status();
  const size_t rails = offers->size();
  auto ports = open_ports(*std::move(offers), config, exchange.ranks());
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
  return join_rails(*std::move(ports), rails);
}

Status usable() { return library().status(); }

}  // namespace

// The first call in a process takes a fraction of a second: providers look for their devices.
Status available() { return find_offers({}, true).status(); }

Result<std::unique_ptr<Transport>> connect(Exchange& exchange, const TransportConfig& config) {
  return frames::connect(exchange, config, {"ofi", "libfabric (ofi)", usable, connect_ports});
}

}  // namespace tutti::ofi
