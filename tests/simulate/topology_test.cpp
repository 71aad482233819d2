// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "simulate/jobs.hpp"

namespace tutti_test {
namespace {

const LinkFigures kLinks{.host_byte_s = 1e-9, .fabric_byte_s = 1e-9};

// The switches between two hosts.
int switches_between(Network& network, int source, int target) {
  int switches = 0;
  for (int node = source; node != target; ++switches) {
    const int link = network.next(node, source, target);
    if (link < 0 || switches > 64) return -1;
    node = network.links()[static_cast<size_t>(link)].to;
  }
  return switches - 1;
}

Network made(const std::string& topology, int hosts) {
  auto network = make_network(topology, hosts, kLinks);
  EXPECT_TRUE(network.ok()) << network.status().message();
  EXPECT_TRUE(network->complete().ok());
  return *std::move(network);
}

TEST(Topology, EveryHostReachesEveryOther) {
  for (const std::string topology :
       {"single-switch", "fat-tree", "fat-tree:4", "dragonfly", "dragonfly:2", "torus"}) {
    for (const int hosts : {1, 2, 7, 16}) {
      Network network = made(topology, hosts);
      for (int source = 0; source < hosts; ++source) {
        for (int target = 0; target < hosts; ++target) {
          EXPECT_GE(switches_between(network, source, target), -1 + (source != target)) << topology;
        }
      }
    }
  }
}

TEST(Topology, AFatTreeHasAsManySwitchesOnTheWayAsLevels) {
  Network network = made("fat-tree:4", 16);  // pods of two leaves of two hosts
  EXPECT_EQ(switches_between(network, 0, 1), 1);
  EXPECT_EQ(switches_between(network, 0, 2), 3);
  EXPECT_EQ(switches_between(network, 0, 15), 5);
}

TEST(Topology, ADragonflyHasAtMostFourSwitchesOnTheWay) {
  Network network = made("dragonfly:2", 72);
  for (int target = 1; target < 72; ++target) EXPECT_LE(switches_between(network, 0, target), 4);
}

TEST(Topology, ATorusTakesTheShorterWayAround) {
  Network network = made("torus:2x4x8", 64);
  EXPECT_EQ(switches_between(network, 0, 1), 2);
  EXPECT_EQ(switches_between(network, 0, 7), 2);        // around the last dimension
  EXPECT_EQ(switches_between(network, 0, 4), 5);        // the farthest in it
  EXPECT_EQ(switches_between(network, 0, 8), 2);        // the second dimension
  EXPECT_EQ(switches_between(network, 0, 32), 2);       // the first
  EXPECT_EQ(switches_between(network, 0, 63), 4);       // one step in each
  EXPECT_EQ(switches_between(network, 0, 32 + 20), 8);  // the farthest of all
  EXPECT_EQ(made("torus", 512).description, "torus of 8 x 8 x 8 hosts");
  EXPECT_EQ(made("torus", 24).description, "torus of 2 x 3 x 4 hosts");
}

TEST(Topology, ErrorsNameWhatWasGivenAndExpected) {
  const auto error = [](const std::string& topology, int hosts) {
    return std::string(make_network(topology, hosts, kLinks).status().message());
  };
  EXPECT_EQ(error("fat-tree:4", 17), "a fat tree of radix 4 has room for 16 hosts, given are 17");
  EXPECT_EQ(error("fat-tree:x", 2), "'x' of fat-tree:x: expected a number");
  EXPECT_EQ(error("fat-tree:5", 2),
            "a fat tree of radix 5: expected an even number from 4 to 1024");
  EXPECT_EQ(error("fat-tree:2000000", 2),
            "a fat tree of radix 2000000: expected an even number from 4 to 1024");
  EXPECT_EQ(error("torus:4x4", 8), "a torus of 4x4 is not one of 8 hosts");
  for (const char* sizes : {"x", "4x", "x4", "4xx2", "-2x-4", "0x8", "4*2"}) {
    EXPECT_NE(error(std::string("torus:") + sizes, 8).find("expected sizes such as 4x4x8"),
              std::string::npos)
        << sizes;
  }
  EXPECT_NE(error("star", 2).find("'star' is neither single-switch"), std::string::npos);
  Network network = made("single-switch", 2);
  EXPECT_NE(network.fail("host0-host1").message().find("there is no link 'host0-host1'"),
            std::string::npos);
}

class TopologyFile {
 public:
  explicit TopologyFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TopologyFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "tutti_topology_" + std::to_string(getpid()) + ".json";
};

TEST(Topology, AFileNamesTheLinks) {
  const TopologyFile file(R"({"links": [{"between": ["host0", "a"]}, {"between": ["host1", "b"]},
    {"between": ["a", "b"], "rate_gbit": 8, "latency_us": 2, "kind": "long"}]})");
  Network network = made(file.path(), 2);
  EXPECT_EQ(switches_between(network, 0, 1), 2);
  EXPECT_EQ(network.kinds(),
            (std::vector<std::string>{"host up", "host down", "long up", "long down"}));
  EXPECT_DOUBLE_EQ(network.links()[4].byte_s, 1e-9);
}

TEST(Topology, AWayMayBeLong) {
  std::string text = R"({"links": [{"between": ["host0", "s0"]}, {"between": ["host1", "s299"]})";
  for (int i = 0; i < 299; ++i) {
    text +=
        R"(, {"between": ["s)" + std::to_string(i) + R"(", "s)" + std::to_string(i + 1) + R"("]})";
  }
  const TopologyFile file(text + "]}");
  Network network = made(file.path(), 2);
  int switches = 0;
  for (int node = 0; node != 1 && switches <= 300; ++switches) {
    const int link = network.next(node, 0, 1);
    ASSERT_GE(link, 0);
    node = network.links()[static_cast<size_t>(link)].to;
  }
  EXPECT_EQ(switches - 1, 300);
}

TEST(Topology, AFileThatNestsDeeplyIsRefused) {
  const std::string deep(200'000, '[');
  const TopologyFile file(R"({"links": [{"between": )" + deep + std::string(200'000, ']') + "}]}");
  EXPECT_NE(make_network(file.path(), 2, kLinks).status().message().find("nest deeper than 100"),
            std::string::npos);
}

TEST(Topology, AFileThatLacksSomethingIsRefused) {
  const TopologyFile lacking(R"({"links": [{"between": ["host0", "a"]}]})");
  auto network = make_network(lacking.path(), 2, kLinks);
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(network->complete().message(), "host1 has no line; expected one");
  const TopologyFile strange(R"({"links": [{"between": ["host0", "host9"]}]})");
  EXPECT_NE(make_network(strange.path(), 2, kLinks).status().message().find("host0 to host1"),
            std::string::npos);
  for (const char* wrong : {R"("a", "a")", R"("host0", "a", "b")"}) {
    const TopologyFile file(R"({"links": [{"between": [)" + std::string(wrong) + "]}]}");
    EXPECT_NE(
        make_network(file.path(), 2, kLinks).status().message().find("expected a switch, and"),
        std::string::npos)
        << wrong;
  }
  const TopologyFile unknown(R"({"links": [{"between": ["host0", "a"], "rate": 7}]})");
  EXPECT_NE(make_network(unknown.path(), 2, kLinks)
                .status()
                .message()
                .find(R"(the link ["host0","a"] has 'rate'; expected between, rate_gbit)"),
            std::string::npos);
  EXPECT_NE(make_network(testing::TempDir(), 2, kLinks).status().message().find("is neither"),
            std::string::npos);
  const TopologyFile other(R"(["links"])");
  EXPECT_NE(make_network(other.path(), 2, kLinks).status().message().find("expected {\"links\""),
            std::string::npos);
}

}  // namespace
}  // namespace tutti_test
