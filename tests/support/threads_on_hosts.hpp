// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of the test, on several hosts: shared memory within a host, and between
// hosts what stands in the place of libfabric (loopback.hpp).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "comm/communicator.hpp"
#include "support/processes.hpp"

namespace tutti {

// One character per rank: the name of its host. Each rank has a runtime of its own, as if it were a
// process.
inline void run_on_hosts(
    const std::string& hosts, const std::function<void(Communicator&)>& body,
    const std::function<void(int, Environment&, CommunicatorConfig&)>& settings = {}) {
  const auto ranks = static_cast<int>(hosts.size());
  const UniqueId id = tutti_test::test_id();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Environment environment;
      environment.atl_transport = "ofi";  // in whose place the network is
      environment.host_id = hosts.substr(static_cast<size_t>(rank), 1);
      environment.tuning_file = "none";
      CommunicatorConfig config;
      config.timeout_ms = tutti_test::kLongMs;
      config.init_timeout_ms = tutti_test::kLongMs;
      config.name = "test";
      if (settings) settings(rank, environment, config);
      const auto runtime = std::make_shared<Runtime>(environment);
      auto exchange = tutti_test::meet(id, rank, ranks);
      ASSERT_TRUE(exchange.ok()) << exchange.status().message();
      auto made = Communicator::create(runtime, **exchange, config);
      ASSERT_TRUE(made.ok()) << made.status().message();
      body(**made);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tutti
