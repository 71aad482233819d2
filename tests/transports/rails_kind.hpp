// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The tcp transport over all interfaces of this host, loopback as well, as a transport of its own,
// so that the tests of every transport run over rails.
#pragma once

#include <set>
#include <string>

#include "transports/tcp/connect.hpp"

namespace tutti_test {

// With the best kind of address.
inline tutti::Result<std::set<std::string>> interfaces_here() {
  const auto offers = tutti::tcp::find_offers({}, true);
  if (!offers.ok()) return offers.status();
  std::set<std::string> names;
  for (const tutti::nics::Offer& offer : *offers) {
    if (offer.format == offers->front().format) names.insert(offer.interface);
  }
  return names;
}

inline tutti::Status rails_available() {
  const auto names = interfaces_here();
  if (!names.ok() || names->size() > 1) return names.status();
  return tutti::Status(tutti::Code::kUnsupported, "there is one interface only");
}

inline tutti::Result<std::unique_ptr<tutti::Transport>> connect_rails(
    tutti::Exchange& exchange, const tutti::TransportConfig& given) {
  tutti::TransportConfig config = given;
  config.network.nics.which = tutti::NicSet::Which::kGlobal;
  const auto names = interfaces_here();
  for (const std::string& name : names.ok() ? *names : std::set<std::string>()) {
    config.network.nics.names += "," + name;
  }
  return tutti::tcp::connect(exchange, config);
}

inline constexpr tutti::TransportKind kRails = {
    "rails", "several interfaces at once", tutti::Reach::kNetwork, rails_available, connect_rails};

}  // namespace tutti_test
