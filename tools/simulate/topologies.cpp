// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The networks that `tutti simulate --topology` knows by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "tools/simulate/network.hpp"

namespace tutti::simulate {
namespace {

constexpr int kUsualRadix = 64;  // most ports of a switch, unless the topology names a number
constexpr int kMostRadix = 1024;
constexpr int kMostHostsPerSwitch = 64;

Status wrong(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

Network single_switch(int hosts, const LinkFigures& links) {
  Network network(hosts);
  const int all = network.add_switch("switch");
  for (int host = 0; host < hosts; ++host) {
    network.connect(host, all, "host", links.host_byte_s, links.host_latency_s);
  }
  network.description = "a switch with a line to each host";
  return network;
}

// Hosts on leaves of `per_leaf` each; returns the leaves.
std::vector<int> add_leaves(Network& network, int per_leaf, const LinkFigures& links) {
  std::vector<int> leaves;
  for (int host = 0; host < network.hosts(); ++host) {
    if (host % per_leaf == 0) {
      leaves.push_back(network.add_switch(fmt::format("leaf{}", leaves.size())));
    }
    network.connect(host, leaves.back(), "host", links.host_byte_s, links.host_latency_s);
  }
  return leaves;
}

// Leiserson 1985, as folded Clos networks of equal switches (Al-Fares et al., SIGCOMM 2008): half
// of a switch's ports go up, half go down.
Network fat_tree(int hosts, int radix, const LinkFigures& links) {
  Network network(hosts);
  const int half = radix / 2;
  const std::vector<int> leaves = add_leaves(network, half, links);
  network.hosts_near = half;
  const auto up = [&](int below, int above, std::string_view kind) {
    network.connect(below, above, kind, links.fabric_byte_s, links.hop_latency_s);
  };
  if (hosts <= half * radix) {
    for (int spine = 0; spine < half; ++spine) {
      const int node = network.add_switch(fmt::format("spine{}", spine));
      for (const int leaf : leaves) up(leaf, node, "leaf");
    }
    network.description = fmt::format("fat tree of radix {}, 2 levels: {} leaves, {} spines", radix,
                                      leaves.size(), half);
    return network;
  }
  std::vector<int> cores;
  for (int i = 0; i < half * half; ++i) {
    cores.push_back(network.add_switch(fmt::format("core{}", i)));
  }
  const size_t per_pod = static_cast<size_t>(half);
  size_t pods = 0;
  for (size_t first = 0; first < leaves.size(); first += per_pod, ++pods) {
    for (int i = 0; i < half; ++i) {
      const int spine = network.add_switch(fmt::format("pod{}spine{}", pods, i));
      for (size_t leaf = first; leaf < std::min(first + per_pod, leaves.size()); ++leaf) {
        up(leaves[leaf], spine, "leaf");
      }
      for (size_t j = 0; j < per_pod; ++j) {
        up(spine, cores[static_cast<size_t>(i) * per_pod + j], "spine");
      }
    }
  }
  network.description = fmt::format("fat tree of radix {}, 3 levels: {} pods, {} leaves, {} cores",
                                    radix, pods, leaves.size(), cores.size());
  return network;
}

Result<Network> fat_tree_for(int hosts, std::optional<int> radix, const LinkFigures& links) {
  if (!radix) {
    for (radix = 4; *radix < kUsualRadix && *radix * *radix / 2 < hosts;) *radix += 2;
  }
  if (*radix < 4 || *radix > kMostRadix || *radix % 2 != 0) {
    return wrong(fmt::format("a fat tree of radix {}: expected an even number from 4 to {}", *radix,
                             kMostRadix));
  }
  const int64_t most = int64_t{*radix} * *radix * *radix / 4;
  if (hosts > most) {
    return wrong(fmt::format("a fat tree of radix {} has room for {} hosts, given are {}", *radix,
                             most, hosts));
  }
  return fat_tree(hosts, *radix, links);
}

// Kim et al., ISCA 2008, balanced: p hosts on a switch, 2p switches in a group, p links to other
// groups from each. Links between groups are spread evenly over the pairs.
Network dragonfly(int hosts, int p, const LinkFigures& links) {
  Network network(hosts);
  const int a = 2 * p;
  const int groups = (hosts + p * a - 1) / (p * a);
  network.hosts_near = p * a;
  std::vector<int> switches;
  for (int group = 0; group < groups; ++group) {
    for (int i = 0; i < a; ++i) {
      switches.push_back(network.add_switch(fmt::format("group{}switch{}", group, i)));
    }
  }
  for (int host = 0; host < hosts; ++host) {
    network.connect(host, switches[static_cast<size_t>(host / p)], "host", links.host_byte_s,
                    links.host_latency_s);
  }
  const auto join = [&](int one, int other, std::string_view kind) {
    network.connect(switches[static_cast<size_t>(one)], switches[static_cast<size_t>(other)], kind,
                    links.fabric_byte_s, links.hop_latency_s);
  };
  for (int group = 0; group < groups; ++group) {
    for (int i = 0; i < a; ++i) {
      for (int j = i + 1; j < a; ++j) join(group * a + i, group * a + j, "local");
    }
  }
  const int per_pair = groups > 1 ? std::max(1, a * p / (groups - 1)) : 0;
  std::vector<int> used(static_cast<size_t>(groups), 0);  // global links of each group so far
  for (int group = 0; group < groups; ++group) {
    for (int other = group + 1; other < groups; ++other) {
      for (int i = 0; i < per_pair; ++i) {
        const int from = used[static_cast<size_t>(group)]++ / p % a;
        join(group * a + from, other * a + used[static_cast<size_t>(other)]++ / p % a, "global");
      }
    }
  }
  network.description = fmt::format(
      "dragonfly: {} groups of {} switches with {} hosts each, {} links between two groups", groups,
      a, p, per_pair);
  return network;
}

Result<Network> dragonfly_for(int hosts, std::optional<int> per_switch, const LinkFigures& links) {
  const auto room = [](int64_t p) { return 2 * p * p * (2 * p * p + 1); };
  if (!per_switch) {
    for (per_switch = 1; room(*per_switch) < hosts;) ++*per_switch;
  }
  if (*per_switch < 1 || *per_switch > kMostHostsPerSwitch) {
    return wrong(fmt::format("a dragonfly with {} hosts per switch: expected 1 to {}", *per_switch,
                             kMostHostsPerSwitch));
  }
  if (room(*per_switch) < hosts) {
    return wrong(fmt::format("a dragonfly with {} hosts per switch has room for {}, given are {}",
                             *per_switch, room(*per_switch), hosts));
  }
  return dragonfly(hosts, *per_switch, links);
}

// Three sizes whose product is the number of hosts, as nearly alike as can be.
std::vector<int> cube_of(int hosts) {
  std::vector<int> sizes;
  for (int dimensions = 3; dimensions > 1; --dimensions) {
    int size = 1;
    for (int factor = 1, power = 1; power <= hosts; ++factor) {
      if (hosts % factor == 0) size = factor;
      power = 1;
      for (int i = 0; i < dimensions; ++i) power *= factor + 1;
    }
    sizes.push_back(size);
    hosts /= size;
  }
  sizes.push_back(hosts);
  return sizes;
}

// A switch with a host at each place of a grid whose ends meet; the last dimension varies fastest.
Network torus(int hosts, const std::vector<int>& sizes, const LinkFigures& links) {
  Network network(hosts);
  network.hosts_near = sizes.back();
  for (int host = 0; host < hosts; ++host) {
    const int node = network.add_switch(fmt::format("switch{}", host));
    network.connect(host, node, "host", links.host_byte_s, links.host_latency_s);
  }
  for (int place = 0, stride = hosts; place < static_cast<int>(sizes.size()); ++place) {
    const int size = sizes[static_cast<size_t>(place)];
    const int row = stride;
    stride /= size;
    for (int host = 0; host < hosts; ++host) {
      const int at = host % row / stride;
      if (size == 1 || (size == 2 && at == 1)) continue;  // two are joined once
      const int next = host + ((at + 1) % size - at) * stride;
      network.connect(hosts + host, hosts + next, "grid", links.fabric_byte_s, links.hop_latency_s);
    }
  }
  network.description = fmt::format("torus of {} hosts", fmt::join(sizes, " x "));
  return network;
}

Result<Network> torus_for(int hosts, const std::string& text, const LinkFigures& links) {
  std::vector<int> sizes = text.empty() ? cube_of(hosts) : std::vector<int>();
  const char* at = text.data();
  const char* const end = at + text.size();
  int64_t product = text.empty() ? hosts : 1;
  while (at < end && product <= hosts) {
    int size = 0;
    const auto [behind, error] = std::from_chars(at, end, size);
    const bool last = behind == end;
    if (error != std::errc() || size < 1 || (!last && (*behind != 'x' || behind + 1 == end))) {
      return wrong(fmt::format("'{}' of torus:{}: expected sizes such as 4x4x8", text, text));
    }
    sizes.push_back(size);
    product *= size;
    at = behind + (last ? 0 : 1);
  }
  if (product != hosts) {
    return wrong(fmt::format("a torus of {} is not one of {} hosts", text, hosts));
  }
  return torus(hosts, sizes, links);
}

}  // namespace

Result<Network> make_network(const std::string& topology, int hosts, const LinkFigures& links) {
  const size_t colon = topology.find(':');
  const std::string name = topology.substr(0, colon);
  if (name == "single-switch" && colon == std::string::npos) return single_switch(hosts, links);
  const std::string rest = colon == std::string::npos ? "" : topology.substr(colon + 1);
  if (name == "torus") return torus_for(hosts, rest, links);
  if (name != "fat-tree" && name != "dragonfly") return network_of_file(topology, hosts, links);
  std::optional<int> size;
  if (colon != std::string::npos) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || end != rest.data() + rest.size()) {
      return wrong(fmt::format("'{}' of {}: expected a number", rest, topology));
    }
    size = number;
  }
  return name == "fat-tree" ? fat_tree_for(hosts, size, links) : dragonfly_for(hosts, size, links);
}

}  // namespace tutti::simulate
