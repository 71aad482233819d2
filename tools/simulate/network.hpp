// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The network of a simulation: hosts and switches joined by links, each way a link of its own. A
// message takes a shortest way; where several are as short, a hash of its two hosts chooses one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/status.hpp"

namespace tutti::simulate {

struct Link {
  int from = 0;  // nodes: hosts first, then switches
  int to = 0;
  int kind = 0;  // index of Network::kinds()
  double byte_s = 0;
  double latency_s = 0;
  double burst_s = 0;  // what may pass at once, in seconds of its rate
  bool failed = false;
};

// The figures of a topology's links.
struct LinkFigures {
  double host_byte_s = 0;     // seconds per byte of a host's line
  double fabric_byte_s = 0;   // seconds per byte of a link between switches
  double host_latency_s = 0;  // latency of a host's line, each way
  double hop_latency_s = 0;   // latency of a link between switches
};

class Network {
 public:
  explicit Network(int hosts);

  // Returns its node.
  int add_switch(std::string name);
  // Links both ways; their kinds are named after those of the ends: "leaf up", "leaf down".
  void connect(int below, int above, std::string_view kind, double byte_s, double latency_s);
  // Both ways between two nodes, "leaf0-spine1".
  Status fail(const std::string& pair);
  // Hosts' lines let so many bytes pass at once before they slow down to their rate.
  void let_pass(uint64_t bytes);
  // Ends the construction: every host must have one link.
  Status complete();

  // The next link of a message at `node` between two hosts; -1: there is no way.
  [[nodiscard]] int next(int node, int source, int target);

  // Seconds per byte of these messages between two hosts each, all under way at once: the median.
  [[nodiscard]] double usual_byte_s(const std::vector<std::pair<int, int>>& messages);

  [[nodiscard]] int hosts() const { return hosts_; }
  [[nodiscard]] int switches() const { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::string>& kinds() const { return kinds_; }
  [[nodiscard]] std::string node_name(int node) const;
  [[nodiscard]] std::string link_name(int link) const;
  [[nodiscard]] std::vector<std::string> failed() const;
  std::string description;  // "fat tree of radix 8, 2 levels: 4 leaves, 4 spines"
  // Hosts that are nearer to one another than to all others; 0: no difference.
  int hosts_near = 0;

 private:
  [[nodiscard]] std::vector<int> way_of(int source, int target);
  [[nodiscard]] int kind_of(const std::string& name);
  [[nodiscard]] const std::vector<uint32_t>& hops_to(int target_switch);
  [[nodiscard]] int node_of(const std::string& name) const;

  const int hosts_;
  std::vector<std::string> names_;  // of switches
  std::vector<std::string> kinds_;
  std::vector<Link> links_;
  // Links by host: its link up; the link down is the next.
  std::vector<int> line_of_;
  std::vector<std::vector<int>> links_out_;  // links by switch, to switches, without failed ones
  std::unordered_map<int, std::vector<uint32_t>> hops_;  // to a switch, by switch
};

// The network of a topology: "single-switch", "fat-tree[:RADIX]", "dragonfly[:HOSTS_PER_SWITCH]",
// "torus[:SIZES]", or a file.
Result<Network> make_network(const std::string& topology, int hosts, const LinkFigures& links);
Result<Network> network_of_file(const std::string& path, int hosts, const LinkFigures& links);

}  // namespace tutti::simulate
