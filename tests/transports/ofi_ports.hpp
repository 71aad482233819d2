// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ports of several ranks in one process, for endpoints without a transport around them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "transports/frames/rails.hpp"
#include "transports/ofi/connect.hpp"
#include "transports/ofi/port.hpp"

namespace tutti::ofi {

// `count` ports, opened in order, of which the first `ranks` are those of ranks; each knows the
// addresses of these.
inline void open_ports(int count, int ranks, std::vector<std::unique_ptr<OfiPort>>& ports) {
  auto offers = find_offers({}, true);
  ASSERT_TRUE(offers.ok()) << offers.status().message();
  auto domain = open_domain(std::move(offers->front()));
  ASSERT_TRUE(domain.ok()) << domain.status().message();
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    auto port = OfiPort::open(*domain, ranks);
    ASSERT_TRUE(port.ok()) << port.status().message();
    if (i < ranks) addresses.push_back((*port)->address());
    ports.push_back(*std::move(port));
  }
  for (auto& port : ports) ASSERT_TRUE(port->insert(addresses).ok());
}

// The same for ports of as many rails as there are interfaces; rail i of port p is the
// (p * rails + i)th to be opened.
inline void open_rails(int count, int ranks, std::vector<std::unique_ptr<frames::Port>>& ports) {
  auto offers = find_offers({}, true);
  ASSERT_TRUE(offers.ok()) << offers.status().message();
  std::vector<std::shared_ptr<Domain>> domains;
  for (Offer& offer : *offers) {
    auto domain = open_domain(std::move(offer));
    ASSERT_TRUE(domain.ok()) << domain.status().message();
    domains.push_back(*domain);
  }
  std::vector<std::vector<std::string>> addresses(domains.size());  // by rail
  std::vector<std::vector<std::unique_ptr<OfiPort>>> opened(static_cast<size_t>(count));
  for (auto& rails : opened) {
    for (size_t rail = 0; rail < domains.size(); ++rail) {
      auto port = OfiPort::open(domains[rail], ranks);
      ASSERT_TRUE(port.ok()) << port.status().message();
      if (addresses[rail].size() < static_cast<size_t>(ranks)) {
        addresses[rail].push_back((*port)->address());
      }
      rails.push_back(*std::move(port));
    }
  }
  for (auto& rails : opened) {
    std::vector<std::unique_ptr<frames::Port>> joined;
    for (size_t rail = 0; rail < rails.size(); ++rail) {
      ASSERT_TRUE(rails[rail]->insert(addresses[rail]).ok());
      joined.push_back(std::move(rails[rail]));
    }
    ports.push_back(std::make_unique<frames::RailsPort>(std::move(joined)));
  }
}

inline std::string name_of(int rank) { return "rank " + std::to_string(rank) + " (here)"; }

inline std::shared_ptr<const std::vector<std::string>> names_of(int ranks) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (int rank = 0; rank < ranks; ++rank) names->push_back(name_of(rank));
  return names;
}

}  // namespace tutti::ofi
