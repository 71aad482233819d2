// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A communicator that breaks while others are made of it.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/join.hpp"
#include "bootstrap/opened_meeting.hpp"
#include "comm/communicator.hpp"
#include "core/interrupt.hpp"
#include "support/processes.hpp"

namespace tutti {
namespace {

using tutti_test::kill_myself;
using tutti_test::Meeting;
using tutti_test::Processes;
using tutti_test::Shared;

// The time within which an end shows that it was no limit that ended it.
constexpr int64_t kInitTimeoutMs = 100'000;

CommunicatorConfig config_named(const std::string& name) {
  CommunicatorConfig config;
  config.timeout_ms = kInitTimeoutMs;
  config.init_timeout_ms = kInitTimeoutMs;
  config.name = name;
  return config;
}

// Runs body(communicator) as every rank of one.
void run_ranks(const Processes& processes, const std::function<void(Communicator&)>& body) {
  const Shared<tutti_unique_id> id;
  const Meeting named(processes.count);
  run_processes(processes, [&](int rank) {
    if (rank == 0) {
      const auto made = open_meeting();
      ASSERT_TRUE(made.ok()) << made.status().message();
      *id = *made;
    }
    named.wait();
    const auto decoded = decode(*id);
    ASSERT_TRUE(decoded.ok());
    auto exchange = join(*decoded, rank, processes.count, kNever);
    ASSERT_TRUE(exchange.ok()) << exchange.status().message();
    auto runtime = Runtime::get();
    ASSERT_TRUE(runtime.ok());
    auto made = Communicator::create(*runtime, **exchange, config_named("all"));
    ASSERT_TRUE(made.ok()) << made.status().message();
    body(**made);
  });
}

// Takes part in what a split gathers, and does not come to the meeting.
void split_half_way(Communicator& communicator) {
  for (const size_t bytes : {2 * sizeof(int32_t), sizeof(OpenedMeeting)}) {
    const std::vector<std::byte> mine(bytes);
    std::vector<std::byte> all(bytes * static_cast<size_t>(communicator.ranks()));
    Call call;
    call.collective = Collective::kAllgather;
    call.purpose = Purpose::kSplit;
    call.count = bytes;
    call.send = mine.data();
    call.recv = all.data();
    ASSERT_TRUE(communicator.executor().run(call).ok());
  }
}

void expect_split_ends(Communicator& communicator, Code code, const std::string& part) {
  const int64_t begun = now_ms();
  const auto made = communicator.split(0, 0, config_named("part"));
  EXPECT_EQ(made.status().code(), code) << made.status().message();
  EXPECT_NE(made.status().message().find(part), std::string::npos) << made.status().message();
  EXPECT_LT(now_ms() - begun, kInitTimeoutMs / 2);
}

TEST(Split, IsToldOfADeathOnTheWayToTheNewMeeting) {
  run_ranks({.count = 3, .killed = {2}}, [](Communicator& communicator) {
    if (communicator.rank() == 2) {
      split_half_way(communicator);
      kill_myself();
    }
    expect_split_ends(communicator, Code::kPeerFailed, "rank 2 (pid ");
  });
}

TEST(Split, EndsWhenItsCommunicatorIsAborted) {
  const Meeting over(3);
  run_ranks({.count = 3, .killed = {}}, [&](Communicator& communicator) {
    if (communicator.rank() == 2) {
      split_half_way(communicator);
      communicator.health().abort("enough");
    } else {
      expect_split_ends(communicator, Code::kAborted, "aborted by rank 2");
    }
    over.wait();
  });
}

TEST(Split, EndsWhenAnotherThreadOfARankAbortsItsCommunicator) {
  const Meeting over(2);
  run_ranks({.count = 2, .killed = {}}, [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      split_half_way(communicator);
    } else {
      std::thread abort([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        communicator.health().abort("enough");
      });
      expect_split_ends(communicator, Code::kAborted, "enough");
      abort.join();
    }
    over.wait();
  });
}

TEST(Split, IsToldOfARankThatIsInterruptedOnTheWayToTheNewMeeting) {
  const Meeting over(3);
  run_ranks({.count = 3, .killed = {}}, [&](Communicator& communicator) {
    if (communicator.rank() == 2) {
      split_half_way(communicator);
      over.wait();
      return;
    }
    if (communicator.rank() == 1) set_interrupt_check([](void*) { return 1; }, nullptr);
    const auto made = communicator.split(0, 0, config_named("part"));
    EXPECT_FALSE(made.ok());
    set_interrupt_check(nullptr, nullptr);
    EXPECT_EQ(communicator.health().cause().code(), Code::kAborted);
    EXPECT_NE(communicator.health().cause().message().find("aborted by rank 1"), std::string::npos);
    over.wait();
  });
}

}  // namespace
}  // namespace tutti
