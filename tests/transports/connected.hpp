// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Forked processes that a transport has connected.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <span>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "support/processes.hpp"
#include "transports/transport.hpp"

namespace tutti {

// For the names of tests.
inline void PrintTo(const TransportKind* kind, std::ostream* out) { *out << kind->name; }

}  // namespace tutti

namespace tutti_test {

inline tutti::TransportConfig config_of(int lanes) {
  tutti::TransportConfig config;
  config.lanes = lanes;
  config.channels = lanes + 1;
  config.deadline_ms = tutti::now_ms() + kLongMs;
  config.label = "test";
  config.shared.sizes = {.slots = {.slot_bytes = 4096}, .window_bytes = 65536};
  return config;
}

struct Connected {
  int rank;
  tutti::Transport& transport;
  tutti::Exchange& exchange;

  // Until all have come here.
  void meet_all() const { ASSERT_TRUE(exchange.allgather({}).ok()); }

  // Polls until ready() holds, sleeping when nothing comes, as the library does. False: the test's
  // time is over.
  template <typename Ready>
  bool wait(tutti::Endpoint& endpoint, const Ready& ready) const {
    const tutti::SpinBudget budget{50, 50, !tutti::register_membarrier()};
    tutti::Waiter waiter;
    waiter.bell = transport.bell(rank);
    waiter.sleepers = transport.sleepers();
    waiter.budget = &budget;
    waiter.deadline_ms = tutti::now_ms() + kLongMs;
    waiter.polls = !endpoint.rings_bell();
    const auto poll = [&] {
      if (ready()) return true;
      while (endpoint.poll()) {
      }
      return ready();
    };
    return tutti::wait_until(waiter, poll) == tutti::WaitEnd::kReady;
  }
  bool wait_all(tutti::Endpoint& endpoint, std::span<const tutti::Transfer> transfers) const {
    return wait(endpoint, [&] {
      for (const tutti::Transfer& transfer : transfers) {
        if (!transfer.done) return false;
      }
      return true;
    });
  }
};

// Runs body in `ranks` processes; `killed` as in Processes.
inline void run_connected(const tutti::TransportKind& kind, int ranks, int lanes,
                          const std::function<void(const Connected&)>& body,
                          std::vector<int> killed = {}) {
  const tutti::UniqueId id = test_id();
  run_processes({ranks, kLimit, std::move(killed)}, [&](int rank) {
    auto exchange = meet(id, rank, ranks);
    ASSERT_TRUE(exchange.ok()) << error_of(exchange);
    auto transport = kind.connect(**exchange, config_of(lanes));
    ASSERT_TRUE(transport.ok()) << error_of(transport);
    body({rank, **transport, **exchange});
  });
}

// A test that runs over every transport.
class TransportTest : public testing::TestWithParam<const tutti::TransportKind*> {
 protected:
  void SetUp() override {
    const tutti::Status usable = GetParam()->available();
    if (!usable.ok()) GTEST_SKIP() << usable.message();
    if (GetParam()->name == "mpi") {
      if (!launched()) GTEST_SKIP() << "needs mpiexec: tests/launchers runs it there";
      start_mpi();
    }
  }
  // MPI wants all processes at its beginning.
  static void start_mpi() {
    static bool started = false;
    if (started) return;
    started = true;
    run_connected(*GetParam(), launched()->size, 1, [](const Connected& self) { self.meet_all(); });
  }
  static bool one_host() { return GetParam()->reach == tutti::Reach::kHost; }
};

#define TUTTI_FOR_ALL_TRANSPORTS(fixture)                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                \
      Transports, fixture,                                                                 \
      testing::ValuesIn(tutti::transport_kinds().begin(), tutti::transport_kinds().end()), \
      testing::PrintToStringParamName())

}  // namespace tutti_test
