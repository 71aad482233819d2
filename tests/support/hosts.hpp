// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks on several hosts, which are made of one: processes of different TUTTI_HOST_ID share no
// memory and send messages over the loopback interface.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {

// One character per rank: the name of its host.
class HostsOfTwo : public testing::Test {
 protected:
  static Ranks ranks_on(const std::string& hosts,
                        const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    Ranks ranks;
    ranks.count = static_cast<int>(hosts.size());
    ranks.before = [hosts, settings](int rank) {
      setenv("TUTTI_HOST_ID", std::string(1, hosts[static_cast<size_t>(rank)]).c_str(), 1);
      for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
    };
    return ranks;
  }
  static void on_hosts(const std::string& hosts, const std::function<void(Collectives&)>& body,
                       const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    run_ranks(ranks_on(hosts, settings), [&](int rank, tutti_comm_t comm) {
      Collectives collectives(rank, comm);
      body(collectives);
    });
  }
};

}  // namespace tutti_test
