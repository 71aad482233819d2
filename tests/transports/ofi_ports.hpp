// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ports of several ranks in one process, for endpoints without a transport around them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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

inline std::string name_of(int rank) { return "rank " + std::to_string(rank) + " (here)"; }

inline std::shared_ptr<const std::vector<std::string>> names_of(int ranks) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (int rank = 0; rank < ranks; ++rank) names->push_back(name_of(rank));
  return names;
}

}  // namespace tutti::ofi
