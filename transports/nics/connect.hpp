// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes ports that know one another, from what every rank has to offer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "transports/frames/port.hpp"
#include "transports/frames/transport.hpp"
#include "transports/nics/offer.hpp"

namespace tutti::nics {

// A port that other ports find by its address.
class AddressedPort : public frames::Port {
 public:
  // The address that peers give to insert().
  [[nodiscard]] virtual const std::string& address() const = 0;
  // All ranks' addresses in rank order, before anything is posted to one. Once.
  virtual Status insert(const std::vector<std::string>& addresses) = 0;
};
using AddressedPorts = std::vector<std::unique_ptr<AddressedPort>>;

// Opens a port on each rail for every channel, one channel after another. All addresses of this
// rank are equally long.
using OpenPorts = std::function<Result<AddressedPorts>(std::vector<Offer> rails)>;

// Collective, in rounds: (1) what everyone has to offer; (2) the addresses of everyone's ports; (3)
// all have taken them. A port of each channel, or the first error of a rank on all.
Result<frames::Ports> connect_ports(Exchange& exchange, Result<std::vector<Offer>> offers,
                                    const TransportConfig& config, const OpenPorts& open);

}  // namespace tutti::nics
