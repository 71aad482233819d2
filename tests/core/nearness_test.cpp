// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "core/topology.hpp"
#include "support/two_packages.hpp"

namespace tutti {
namespace {

const std::array<std::string, 5> kNames = {"eth0", "eth1", "mlx5_0", "bond0", "nowhere"};

std::vector<int> near_to(const std::vector<int>& cores) {
  const auto near = device_locality(kNames, cores, tutti_test::kTwoPackages);
  EXPECT_TRUE(near.ok()) << near.status().message();
  return near.ok() ? *near : std::vector<int>();
}

TEST(DeviceLocality, IsMoreInThePackageOfTheCores) {
  EXPECT_EQ(near_to({0, 1}), (std::vector{1, 0, 0, 0, 0}));
  EXPECT_EQ(near_to({0}), (std::vector{1, 0, 0, 0, 0}));
  EXPECT_EQ(near_to({3}), (std::vector{0, 1, 1, 0, 0}));
}

TEST(DeviceLocality, IsTheSameForAllWhereTheCoresAreEverywhere) {
  EXPECT_EQ(near_to({0, 1, 2, 3}), (std::vector{0, 0, 0, 0, 0}));
  EXPECT_EQ(near_to({1, 2}), (std::vector{0, 0, 0, 0, 0}));
  EXPECT_EQ(near_to({1000}), (std::vector{0, 0, 0, 0, 0})) << "a core that is not there";
}

TEST(DeviceLocality, OfThisMachineIsTheSameForWhatItDoesNotKnow) {
  const auto near =
      device_locality(std::array<std::string, 2>{"nowhere0", "nowhere1"}, usable_cores());
  ASSERT_TRUE(near.ok()) << near.status().message();
  EXPECT_EQ((*near)[0], (*near)[1]);
}

TEST(DeviceLocality, OfNoMachineIsAnError) {
  EXPECT_FALSE(device_locality(kNames, std::array{0}, "<no topology").ok());
}

}  // namespace
}  // namespace tutti
