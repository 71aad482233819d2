// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who shares a host, by marks.
#include "core/hosts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

TEST(Hosts, StandInTheOrderOfTheirFirstRanks) {
  const Hosts hosts = Hosts::of(std::vector<std::string>{"b", "a", "b", "c", "a", "b"});
  EXPECT_EQ(hosts.host_of, (std::vector<int>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(hosts.ranks_of, (std::vector<std::vector<int>>{{0, 2, 5}, {1, 4}, {3}}));
  EXPECT_EQ(hosts.columns(), 1);
  EXPECT_EQ(hosts.most_on_a_host(), 3);
  EXPECT_EQ(hosts.place(4), 1);
}

TEST(Hosts, AreInGroupsByTheMarksOfTheirFirstRanks) {
  Hosts hosts = Hosts::of(std::vector<std::string>{"a", "b", "a", "c", "d"});
  hosts.group_by(std::vector<std::string>{"x", "y", "not its first", "y", "x"});
  ASSERT_NE(hosts.groups, nullptr);
  EXPECT_EQ(hosts.groups->host_of, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(hosts.groups->column(1), (std::vector<int>{3, 2}));
}

TEST(Hosts, AreInNoGroupsWhereThatDividesNothing) {
  Hosts hosts = Hosts::of(std::vector<int>{0, 1, 1, 2});
  hosts.group_by(std::vector<int>{5, 5, 5, 5});
  EXPECT_EQ(hosts.groups, nullptr);
  hosts.group_by(std::vector<int>{1, 2, 2, 3});
  EXPECT_EQ(hosts.groups, nullptr);
}

TEST(Hosts, OfNobodyAreNone) { EXPECT_EQ(Hosts::of(std::vector<int>{}).count(), 0); }

// Comparing every two ranks would not end within the test's limit.
TEST(Hosts, OfAMillionRanksAreFoundOneByOne) {
  constexpr int kRanks = 1 << 20;
  std::vector<int> marks;
  for (int rank = 0; rank < kRanks; ++rank) marks.push_back(-(rank / 2));
  const Hosts hosts = Hosts::of(marks);
  EXPECT_EQ(hosts.count(), kRanks / 2);
  EXPECT_EQ(hosts.host(kRanks - 1), kRanks / 2 - 1);
  EXPECT_EQ(hosts.columns(), 2);
}

}  // namespace
}  // namespace tutti
