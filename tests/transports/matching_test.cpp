// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/match/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace tutti::match {
namespace {

constexpr int kRanks = 3;
constexpr Tag kUserTag = 0x7fffffff;

struct Receive : PendingTransfer<Receive> {};
struct Unexpected : UnexpectedMessage<Unexpected, Receive> {};

// Any receive, as users post them: for one tag or any, from one source or any.
Receive any_receive(std::mt19937& random, uint32_t tags) {
  Receive receive;
  receive.peer = random() % 8 == 0 ? kAnySource : static_cast<int>(random() % kRanks);
  receive.mask = random() % 8 == 0 ? 0 : kUserTag;
  receive.tag = Tag{random() % 4} << 31 | random() % tags;
  return receive;
}

bool takes(const Receive& receive, int source, Tag tag) {
  return (receive.peer == kAnySource || receive.peer == source) &&
         ((receive.tag ^ tag) & receive.mask) == 0;
}

// However many are posted, and whichever are taken back.
TEST(Matching, AMessageMeetsTheOldestReceiveThatTakesIt) {
  for (const uint32_t tags : {3U, 1000U}) {
    for (uint32_t seed = 1; seed <= 20; ++seed) {
      std::mt19937 random(seed);
      std::deque<Receive> receives;  // whose addresses stay
      std::vector<Receive*> posted;  // in order
      Matching<Receive, Unexpected> matching(kRanks);
      for (int step = 0; step < 2000; ++step) {
        const uint32_t kind = random() % 8;
        if (kind < (step < 1000 ? 6U : 3U)) {
          posted.push_back(&receives.emplace_back(any_receive(random, tags)));
          matching.post(*posted.back());
        } else if (kind == 7 && !posted.empty()) {
          const auto back = posted.begin() + static_cast<int>(random() % posted.size());
          matching.unpost(**back);
          posted.erase(back);
        } else {
          const int source = static_cast<int>(random() % kRanks);
          const Tag tag = random() % tags;
          const auto expected = std::ranges::find_if(
              posted, [&](const Receive* receive) { return takes(*receive, source, tag); });
          Receive* const taken = matching.take_posted(source, tag);
          ASSERT_EQ(taken, expected == posted.end() ? nullptr : *expected) << seed << " " << step;
          if (taken != nullptr) posted.erase(expected);
        }
      }
      for (Receive* receive : posted) matching.unpost(*receive);
    }
  }
}

}  // namespace
}  // namespace tutti::match
