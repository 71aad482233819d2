// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which interfaces ranks choose, from what they are offered.
#include "transports/nics/choice.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/topology.hpp"
#include "support/two_packages.hpp"

namespace tutti::nics {
namespace {

using Which = NicSet::Which;

Offer offer(const std::string& interface, const std::string& network, int grade = 0) {
  Offer made;
  made.provider = "tcp;ofi_rxm";
  made.interface = interface;
  made.device = interface;
  made.network = network;
  made.likely = true;
  made.grade = grade;
  return made;
}

std::vector<Offer> list(Offer first, Offer second) {
  std::vector<Offer> offers;
  offers.push_back(std::move(first));
  offers.push_back(std::move(second));
  return offers;
}
std::vector<Offer> list(Offer first, Offer second, Offer third) {
  std::vector<Offer> offers = list(std::move(first), std::move(second));
  offers.push_back(std::move(third));
  return offers;
}

std::string names_of(const std::vector<Offer>& offers) {
  std::string text;
  for (const Offer& one : offers) text += (text.empty() ? "" : " ") + one.interface;
  return text;
}

std::vector<int> unknown(std::span<const std::string> names) {
  return std::vector<int>(names.size());
}
std::vector<int> never(std::span<const std::string> /*names*/) {
  ADD_FAILURE() << "there is nothing to be found out";
  return {};
}
// To cores 2 and 3 of the machine of two packages, where eth1 is.
std::vector<int> in_second_package(std::span<const std::string> names) {
  const auto near = device_locality(names, std::array{2, 3}, tutti_test::kTwoPackages);
  EXPECT_TRUE(near.ok()) << near.status().message();
  return *near;
}

Candidates wanting(std::vector<Offer> offers, Which which = Which::kGlobal,
                   const Locality& locality = unknown) {
  return candidates(std::move(offers), {.which = which, .names = {}, .most = 64}, locality);
}

// What each rank gets.
std::vector<std::string> agreed(std::vector<Candidates> ranks) {
  std::vector<std::string> texts;
  for (const Candidates& one : ranks) texts.push_back(shown(one));
  std::vector<std::string> got;
  for (Candidates& one : ranks) {
    const auto rails = agree(texts, std::move(one));
    got.push_back(rails.ok() ? names_of(*rails) : std::string(rails.status().message()));
  }
  return got;
}
std::vector<std::string> agreed(Candidates first, Candidates second) {
  std::vector<Candidates> ranks;
  ranks.push_back(std::move(first));
  ranks.push_back(std::move(second));
  return agreed(std::move(ranks));
}

using Names = std::vector<std::string>;

TEST(Nearest, IsTheFirstOfEquallyGoodOnes) {
  EXPECT_EQ(
      names_of(wanting(list(offer("eth0", "a"), offer("eth1", "a")), Which::kOne, in_second_package)
                   .offers),
      "eth1 eth0");
}

TEST(Nearest, CountsLessThanWhatIsBetter) {
  EXPECT_EQ(names_of(wanting(list(offer("eth0", "a", 0), offer("eth1", "a", 1)), Which::kLocal,
                             in_second_package)
                         .offers),
            "eth0 eth1");
}

TEST(Nearest, IsAskedForOnlyIfThereIsAChoice) {
  wanting(list(offer("eth0", "a", 0), offer("eth1", "a", 1)), Which::kOne, never);
  wanting(list(offer("eth0", "a", 0), offer("eth0", "b", 0)), Which::kOne, never);
  std::vector<Offer> containers = list(offer("docker0", "a"), offer("br-1", "b"));
  for (Offer& one : containers) one.likely = false;
  wanting(std::move(containers), Which::kOne, never);
}

TEST(Nearest, IsChosenWhereAllAreOnOneNetwork) {
  const auto near = [] {
    return wanting(list(offer("eth0", "a"), offer("eth1", "a")), Which::kOne, in_second_package);
  };
  const auto far = [] {
    return wanting(list(offer("eth0", "a"), offer("eth1", "a")), Which::kOne);
  };
  EXPECT_EQ(agreed(near(), far()), (Names{"eth1", "eth0"}));
}

TEST(RailChoice, PairsInterfacesOfOneNetwork) {
  EXPECT_EQ(agreed(wanting(list(offer("eth0", "a"), offer("eth1", "b"))),
                   wanting(list(offer("ib1", "b"), offer("ib0", "a")))),
            (Names{"eth0 eth1", "ib0 ib1"}));
}

TEST(RailChoice, TakesAsManyAsTheRankThatHasTheFewest) {
  EXPECT_EQ(agreed(wanting(list(offer("eth0", "a"), offer("eth1", "b"), offer("eth2", "c"))),
                   wanting(list(offer("eth0", "b"), offer("eth1", "a")))),
            (Names{"eth0 eth1", "eth1 eth0"}));
  EXPECT_EQ(agreed(wanting(list(offer("eth0", "a"), offer("eth1", "a"), offer("eth2", "a"))),
                   wanting(list(offer("eth10", "a"), offer("eth9", "a")))),
            (Names{"eth0 eth1", "eth9 eth10"}));
}

TEST(RailChoice, LeavesOutNetworksThatAreNotForAll) {
  EXPECT_EQ(agreed(wanting(list(offer("eth0", "a"), offer("eth1", "b"), offer("lan", "x"))),
                   wanting(list(offer("lan", "y"), offer("eth0", "a"), offer("eth1", "b")))),
            (Names{"eth0 eth1", "eth0 eth1"}));
  EXPECT_EQ(agreed(wanting(list(offer("lan", "x"), offer("eth0", "a"))),
                   wanting(list(offer("lan", "y"), offer("eth0", "a")))),
            (Names{"eth0", "eth0"}));
}

TEST(RailChoice, TrustsRoutersWhereNoNetworkIsForAll) {
  EXPECT_EQ(agreed(wanting(list(offer("eth1", "a"), offer("eth0", "b"))),
                   wanting(list(offer("eth0", "c"), offer("eth1", "d")))),
            (Names{"eth0 eth1", "eth0 eth1"}));
}

TEST(RailChoice, TakesNoMoreThanAnyRankWants) {
  const auto three = [] {
    return list(offer("eth0", "a"), offer("eth1", "b"), offer("eth2", "c"));
  };
  const auto counted = [&](uint32_t most) {
    return candidates(three(), {.which = Which::kGlobal, .names = {}, .most = most}, unknown);
  };
  EXPECT_EQ(agreed(counted(2), counted(3)), (Names{"eth0 eth1", "eth0 eth1"}));
  EXPECT_EQ(agreed(counted(3), counted(1)), (Names{"eth0", "eth0"}));
  EXPECT_EQ(agreed(counted(3), wanting(three(), Which::kOne)), (Names{"eth0", "eth0"}));
}

TEST(RailChoice, CountsAnInterfaceOnce) {
  EXPECT_EQ(agreed(wanting(list(offer("eth0", "a"), offer("eth0", "b"))),
                   wanting(list(offer("eth0", "a"), offer("eth0", "b")))),
            (Names{"eth0", "eth0"}));
}

TEST(RailChoice, LeavesOutLoopbackAndContainersUnlessTheyAreNamed) {
  for (const bool named : {false, true}) {
    const auto offers = [&] {
      std::vector<Offer> made = list(offer("lo", "l"), offer("docker0", "d"), offer("eth0", "e"));
      made[0].loopback = true;
      made[1].likely = false;
      for (Offer& one : made) one.named = named;
      return wanting(std::move(made));
    };
    const std::string expected = named ? "lo docker0 eth0" : "lo";
    EXPECT_EQ(agreed(offers(), offers()), (Names{expected, expected}));
  }
}

TEST(RailChoice, LocalOnesAreTheNearest) {
  const auto local = [](const Locality& locality) {
    return wanting(list(offer("eth0", "a"), offer("eth1", "a"), offer("mlx5_0", "a")),
                   Which::kLocal, locality);
  };
  EXPECT_EQ(agreed(local(in_second_package), local(in_second_package)),
            (Names{"eth1 mlx5_0", "eth1 mlx5_0"}));
  EXPECT_EQ(agreed(local(unknown), local(unknown)),
            (Names{"eth0 eth1 mlx5_0", "eth0 eth1 mlx5_0"}));
}

// Each rank has one near interface, but not the same network: one for all is better than none.
TEST(RailChoice, LocalOnesOnDifferentNetworksGiveWay) {
  const auto rank = [](std::vector<int> near) {
    return wanting(list(offer("eth0", "a"), offer("eth1", "b")), Which::kLocal,
                   [near](std::span<const std::string>) {
                     return std::vector<int>{near[0], near[0], near[1], near[1]};
                   });
  };
  EXPECT_EQ(agreed(rank({1, 0}), rank({0, 1})), (Names{"eth0", "eth0"}));
}

TEST(RailChoice, TheProviderIsOneThatAllHave) {
  const auto with = [](const std::string& provider) {
    std::vector<Offer> made = list(offer("a0", "a"), offer("a1", "b"));
    for (Offer& one : made) one.provider = provider;
    return wanting(std::move(made));
  };
  EXPECT_EQ(agreed(with("verbs;ofi_rxm"), with("psm3")).front(),
            "nothing is there on all ranks: rank 0 has verbs;ofi_rxm; rank 1 has psm3");
}

}  // namespace
}  // namespace tutti::nics
