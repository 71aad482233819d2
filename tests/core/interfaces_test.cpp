// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What users say of network interfaces.
#include "core/interfaces.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

NamedInterface interface(const std::string& name, const std::string& address,
                         const std::string& device = "") {
  return {name, device.empty() ? name : device, parse_address(address, 0)};
}

const std::vector<NamedInterface> kHost = {interface("lo", "127.0.0.1"),
                                           interface("eth1", "10.91.0.1"),
                                           interface("eth10", "10.92.0.1"),
                                           interface("docker0", "172.17.0.1"),
                                           interface("ib0", "10.91.7.1", "mlx5_0"),
                                           interface("eth1", "fd00::2")};

// The place of each, "-" for none.
std::string places(const std::string& text) {
  const auto list = InterfaceList::parse("X", text);
  if (!list.ok()) return std::string(list.status().message());
  std::string places;
  for (const auto& place : list->places(kHost)) places += place ? std::to_string(*place) : "-";
  return places;
}

TEST(InterfaceList, MeansAllIfItIsEmpty) { EXPECT_EQ(places(""), "000000"); }

TEST(InterfaceList, TakesNamesTheBestFirst) {
  EXPECT_EQ(places("ib0,eth1"), "-1--01");
  EXPECT_EQ(places("mlx5_0"), "----0-");
}

TEST(InterfaceList, TakesBeginningsOfNamesWhereNoneIsCalledJustSo) {
  EXPECT_EQ(places("eth"), "-00--0");
  EXPECT_EQ(places("eth1"), "-0---0");
  EXPECT_EQ(places("mlx,docker"), "---10-");
}

TEST(InterfaceList, TakesAddressesAndNetworks) {
  EXPECT_EQ(places("10.91.0.1"), "-0----");
  EXPECT_EQ(places("10.91.0.0/16,eth10"), "-01-0-");
  EXPECT_EQ(places("fd00::/64"), "-----0");
  EXPECT_EQ(places("0.0.0.0/0"), "00000-");
}

TEST(InterfaceList, ExcludesAllThatFollowsASignAtItsBeginning) {
  EXPECT_EQ(places("^lo,docker"), "-00-00");
  EXPECT_EQ(places("^10.0.0.0/8"), "0--0-0");
  EXPECT_EQ(places("eth,^eth10"), "-0---0");
}

TEST(InterfaceList, ThatMakesNoSenseNamesTheVariableAndWhatThereIs) {
  for (const char* bad : {"10.91.0.0/33", "10.91.0.0/", "eth0/8", "fd00::/129", "^", ","}) {
    const std::string text = places(bad);
    EXPECT_NE(text.find("X is \"" + std::string(bad) + "\""), std::string::npos) << text;
    EXPECT_NE(text.find("expected names of network interfaces, addresses or networks"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("this host has: "), std::string::npos) << text;
  }
}

TEST(ChosenInterface, IsTheOneThatIsMeantInAnyForm) {
  for (const char* lo : {"lo", "127.0.0.1", "127.0.0.0/8"}) {
    const auto address = choose_interface("X", lo, false);
    ASSERT_TRUE(address.ok()) << address.status().message();
    EXPECT_EQ(address->host_text(), "127.0.0.1") << lo;
  }
  const auto none = choose_interface("X", "192.0.2.1", false);
  EXPECT_EQ(none.status().code(), Code::kInvalidArgument);
  EXPECT_NE(
      none.status().message().find("X is \"192.0.2.1\", and no interface that is up is meant"),
      std::string_view::npos)
      << none.status().message();
}

}  // namespace
}  // namespace tutti
