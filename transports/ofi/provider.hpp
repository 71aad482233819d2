// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which of libfabric's providers the ranks use, and over which interface each of them.
#pragma once

#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "transports/ofi/library.hpp"
#include "transports/transport.hpp"

namespace tutti::ofi {

// What libfabric offers on this host: one provider on one interface.
struct Offer {
  Info info;
  std::string provider;
  std::string interface;  // of the system if it has one, else the provider's name for it
  std::string address;    // for texts
  std::string network;    // what addresses on one network have in common
  bool loopback = false;
  bool likely = false;  // not made by a container engine or the like
};

// Those that can carry the endpoints, best first: fast networks before TCP, interfaces in the
// order of `config.interfaces` if that names any (no others then), else the one of the default
// route first. Loopback only if `alone`: all ranks share one network stack; it then goes first.
Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone);

// Collective: the best offer of this rank whose provider and kind of address all ranks have.
Result<Offer> choose(Exchange& exchange, Result<std::vector<Offer>> offers);

}  // namespace tutti::ofi
