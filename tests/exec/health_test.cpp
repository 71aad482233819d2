// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/health.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_transport.hpp"

namespace tutti {
namespace {

// A rank that notices that its neighbor has stopped may tell it to other hosts before the neighbor
// does.
TEST(Health, TellsOtherHostsTheFirstCauseWhoeverOfThisHostTellsIt) {
  SharedState state{};
  FakeTransport transport(state);
  Health first(0, transport);
  Health second(1, transport);
  std::vector<std::string> told;
  const auto tell = [&](const Status& cause) { told.emplace_back(cause.message()); };
  first.tell_others_by(tell);
  second.tell_others_by(tell);
  first.fail({Code::kPeerFailed, "the cause"});
  second.fail({Code::kAborted, "a consequence"});
  second.fail({Code::kAborted, "another"});
  for (const Health* health : {&first, &second}) {
    EXPECT_EQ(health->cause().code(), Code::kPeerFailed);
    EXPECT_EQ(health->cause().message(), "the cause");
  }
  ASSERT_FALSE(told.empty());
  for (const std::string& text : told) EXPECT_EQ(text, "the cause");
}

// A stray write of any process of the host must not pass for success, nor for a code of its own.
TEST(Health, WhatIsNoErrorCodeInSharedMemoryIsAnErrorOfItsOwn) {
  for (const uint32_t code : {0U, 777U, 0xffffffffU}) {
    SharedState state{};
    FakeTransport transport(state);
    const Health health(0, transport);
    state.cause_code = code;
    state.cause_rank = 1;
    state.stop.store(1);
    EXPECT_TRUE(health.stopped());
    EXPECT_EQ(health.cause().code(), Code::kInternal) << code;
    EXPECT_NE(health.cause().message().find("shared state is corrupt"), std::string::npos)
        << health.cause().message();
    EXPECT_NE(health.cause().message().find(std::to_string(code)), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
