// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/nics/connect.hpp"

#include "core/exchange.hpp"
#include "core/log.hpp"
#include "transports/frames/rails.hpp"
#include "transports/nics/choice.hpp"

namespace tutti::nics {
namespace {

Status insert_all(const AddressedPorts& ports, const std::vector<std::string>& texts) {
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

frames::Ports join_rails(AddressedPorts ports, size_t rails) {
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

}  // namespace

Result<frames::Ports> connect_ports(Exchange& exchange, Result<std::vector<Offer>> offers,
                                    const TransportConfig& config, const OpenPorts& open) {
  TUTTI_ASSIGN_OR_RETURN(auto chosen, choose(exchange, std::move(offers), config.network.nics));
  const size_t rails = chosen.size();
  log::info("{}: {}: {}", config.label, rails > 1 ? "rails" : "interface", list_of(chosen));
  auto ports = open(std::move(chosen));
  Result<std::string> mine = ports.ok() ? Result<std::string>(std::string()) : ports.status();
  if (ports.ok()) {
    for (const auto& port : *ports) *mine += port->address();
  }
  TUTTI_ASSIGN_OR_RETURN(auto texts, share(exchange, mine));
  TUTTI_RETURN_IF_ERROR(share_errors(exchange, insert_all(*ports, texts)));
  return join_rails(*std::move(ports), rails);
}

}  // namespace tutti::nics
