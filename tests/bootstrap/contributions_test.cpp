// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/contributions.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/exchange.hpp"

namespace tutti::bootstrap {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes made;
  for (const int value : values) made.push_back(static_cast<std::byte>(value));
  return made;
}

Bytes random_bytes(std::mt19937& random, size_t count) {
  Bytes made(count);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random());
  return made;
}

size_t total(const std::vector<Bytes>& bodies) {
  size_t sum = 0;
  for (const Bytes& body : bodies) sum += body.size();
  return sum;
}

void expect_there_and_back(const Contributions& contributions) {
  Contributions back;
  for (const Bytes& body : pack_contributions(contributions)) {
    EXPECT_LT(body.size(), kMostFrameBytes) << "the kind of the frame has to fit as well";
    EXPECT_TRUE(take_contributions(body, contributions.size(), back));
  }
  EXPECT_EQ(back, contributions);
}

TEST(Contributions, ComeBackAsTheyWere) {
  std::mt19937 random(7);
  expect_there_and_back({{}});
  expect_there_and_back({{}, {}, bytes({1}), {}, bytes({1, 2}), bytes({1, 2}), bytes({1})});
  for (int round = 0; round < 200; ++round) {
    Contributions contributions(1 + random() % 40, random_bytes(random, random() % 300));
    for (size_t i = 1; i < contributions.size(); ++i) {  // like the one before, but here and there
      contributions[i] = contributions[i - 1];
      for (size_t changes = random() % 4; changes > 0 && !contributions[i].empty(); --changes) {
        contributions[i][random() % contributions[i].size()] = static_cast<std::byte>(random());
      }
      if (random() % 8 == 0) contributions[i].resize(random() % 300);
    }
    expect_there_and_back(contributions);
  }
}

TEST(Contributions, GoIntoAsFewFramesAsTheyFit) {
  std::mt19937 random(7);
  Contributions contributions;
  for (int i = 0; i < 40; ++i) contributions.push_back(random_bytes(random, kMostGatherBytes));
  EXPECT_EQ(pack_contributions(contributions).size(), 3U);
  expect_there_and_back(contributions);
}

TEST(Contributions, TakeTheirDifferencesAlone) {
  const Contributions same(1000, Bytes(300));
  EXPECT_LT(total(pack_contributions(same)), 310U);
  Contributions numbered = same;
  for (size_t i = 0; i < numbered.size(); ++i) {
    numbered[i][100] = static_cast<std::byte>(i);
    numbered[i][101] = static_cast<std::byte>(i >> 8);
  }
  EXPECT_LT(total(pack_contributions(numbered)), 300U + 10 * numbered.size());
  expect_there_and_back(numbered);
}

TEST(Contributions, OfAnotherFormAreNotTaken) {
  const auto takes = [](std::initializer_list<int> body, size_t most = 4) {
    Contributions all = {bytes({7, 7})};
    return take_contributions(bytes(body), most, all);
  };
  EXPECT_TRUE(takes({3}));
  EXPECT_TRUE(takes({0, 2, 1, 1, 9}));
  EXPECT_FALSE(takes({})) << "no contribution";
  EXPECT_FALSE(takes({0})) << "neither a repetition nor a contribution";
  EXPECT_FALSE(takes({4})) << "more than there may be";
  EXPECT_FALSE(takes({0, 1, 0, 1, 9}, 1)) << "more than there may be";
  EXPECT_FALSE(takes({0x83})) << "a number that does not end";
  EXPECT_FALSE(takes({0x83, 0x80, 0x80, 0x80, 0})) << "a number that is too long";
  EXPECT_FALSE(takes({0, 2, 1, 1})) << "one byte was promised";
  EXPECT_FALSE(takes({0, 3, 3, 0})) << "more than the contribution before has";
  EXPECT_FALSE(takes({0, 2, 1, 2, 9, 9})) << "more than its length";
  EXPECT_FALSE(takes({0, 2, 0, 0, 2, 0})) << "a step of nothing";
  EXPECT_FALSE(takes({0, 0x81, 0x20, 0, 1, 9})) << "longer than a contribution may be";
}

// Whatever a body has, it is taken or refused, and no more contributions come of it than there may
// be.
TEST(Contributions, OfRandomBodiesAreNoMoreThanTheyMayBe) {
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    Bytes body = random_bytes(random, random() % 24);
    for (std::byte& byte : body) byte &= static_cast<std::byte>(random() % 3 == 0 ? 0xff : 7);
    Contributions all(random() % 3, bytes({1, 2, 3}));
    (void)take_contributions(body, 10, all);
    EXPECT_LE(all.size(), 10U);
  }
}

}  // namespace
}  // namespace tutti::bootstrap
