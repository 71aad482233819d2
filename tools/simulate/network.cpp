// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/median.hpp"

namespace tutti::simulate {

namespace {

constexpr uint32_t kUnreachable = UINT32_MAX;

// Spreads the pairs of hosts over ways that are equally long.
uint64_t mixed(int source, int target) {
  uint64_t value = static_cast<uint64_t>(source) << 32 | static_cast<uint64_t>(target);
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15ULL;
  return value >> 33;
}

}  // namespace

Network::Network(int hosts) : hosts_(hosts), line_of_(static_cast<size_t>(hosts), -1) {}

int Network::add_switch(std::string name) {
  names_.push_back(std::move(name));
  return hosts_ + switches() - 1;
}

int Network::kind_of(const std::string& name) {
  const auto known = std::ranges::find(kinds_, name);
  if (known != kinds_.end()) return static_cast<int>(known - kinds_.begin());
  kinds_.push_back(name);
  return static_cast<int>(kinds_.size()) - 1;
}

void Network::connect(int below, int above, std::string_view kind, double byte_s,
                      double latency_s) {
  const int up = kind_of(fmt::format("{} up", kind));
  const int down = kind_of(fmt::format("{} down", kind));
  links_.push_back(
      {.from = below, .to = above, .kind = up, .byte_s = byte_s, .latency_s = latency_s});
  links_.push_back(
      {.from = above, .to = below, .kind = down, .byte_s = byte_s, .latency_s = latency_s});
}

std::string Network::node_name(int node) const {
  return node < hosts_ ? fmt::format("host{}", node) : names_[static_cast<size_t>(node - hosts_)];
}

std::string Network::link_name(int link) const {
  const Link& of = links_[static_cast<size_t>(link)];
  return node_name(of.from) + "-" + node_name(of.to);
}

std::vector<std::string> Network::failed() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < links_.size(); i += 2) {
    if (links_[i].failed) names.push_back(link_name(static_cast<int>(i)));
  }
  return names;
}

int Network::node_of(const std::string& name) const {
  for (int node = 0; node < hosts_ + switches(); ++node) {
    if (node_name(node) == name) return node;
  }
  return -1;
}

Status Network::fail(const std::string& pair) {
  const size_t dash = pair.find('-');
  const int a = node_of(pair.substr(0, dash));
  const int b = dash == std::string::npos ? -1 : node_of(pair.substr(dash + 1));
  bool found = false;
  for (Link& link : links_) {
    if ((link.from != a || link.to != b) && (link.from != b || link.to != a)) continue;
    found = link.failed = true;
  }
  if (found) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("there is no link '{}'; expected two nodes that a link joins, such as {}", pair,
                  link_name(static_cast<int>(links_.size()) - 2)));
}

void Network::let_pass(uint64_t bytes) {
  for (Link& link : links_) {
    if (link.from < hosts_ || link.to < hosts_) {
      link.burst_s = static_cast<double>(bytes) * link.byte_s;
    }
  }
}

Status Network::complete() {
  links_out_.assign(names_.size(), {});
  for (size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.from < hosts_) {
      int& line = line_of_[static_cast<size_t>(link.from)];
      if (line >= 0) {
        return Status(Code::kInvalidArgument,
                      node_name(link.from) + " has several lines; expected one");
      }
      line = static_cast<int>(i);
    } else if (link.to >= hosts_ && !link.failed) {
      links_out_[static_cast<size_t>(link.from - hosts_)].push_back(static_cast<int>(i));
    }
  }
  for (int host = 0; host < hosts_; ++host) {
    if (line_of_[static_cast<size_t>(host)] < 0) {
      return Status(Code::kInvalidArgument, node_name(host) + " has no line; expected one");
    }
  }
  return {};
}

const std::vector<uint32_t>& Network::hops_to(int target_switch) {
  const auto known = hops_.find(target_switch);
  if (known != hops_.end()) return known->second;
  std::vector<uint32_t>& hops = hops_[target_switch];
  hops.assign(names_.size(), kUnreachable);
  hops[static_cast<size_t>(target_switch)] = 0;
  std::deque<int> reached = {target_switch};
  for (; !reached.empty(); reached.pop_front()) {
    const auto at = static_cast<size_t>(reached.front());
    for (const int out : links_out_[at]) {  // every link has one the other way
      const int next = links_[static_cast<size_t>(out)].to - hosts_;
      if (hops[static_cast<size_t>(next)] != kUnreachable) continue;
      hops[static_cast<size_t>(next)] = hops[at] + 1;
      reached.push_back(next);
    }
  }
  return hops;
}

int Network::next(int node, int source, int target) {
  const auto usable = [&](int link) {
    return links_[static_cast<size_t>(link)].failed ? -1 : link;
  };
  if (node < hosts_) return usable(line_of_[static_cast<size_t>(node)]);
  const int down = line_of_[static_cast<size_t>(target)] ^ 1;
  const int last = links_[static_cast<size_t>(down)].from;
  if (node == last) return usable(down);
  const std::vector<uint32_t>& hops = hops_to(last - hosts_);
  const auto at = static_cast<size_t>(node - hosts_);
  if (hops[at] == kUnreachable) return -1;
  const auto is_closer = [&](int link) {
    return hops[static_cast<size_t>(links_[static_cast<size_t>(link)].to - hosts_)] + 1 == hops[at];
  };
  const std::vector<int>& out = links_out_[at];
  const auto ways = static_cast<uint64_t>(std::ranges::count_if(out, is_closer));
  uint64_t chosen = mixed(source, target) % ways;
  for (const int link : out) {
    if (is_closer(link) && chosen-- == 0) return link;
  }
  return -1;
}

// The links from source to target, as far as there is a way.
std::vector<int> Network::way_of(int source, int target) {
  std::vector<int> way;
  for (int node = source; node != target;) {
    const int link = next(node, source, target);
    if (link < 0) break;
    way.push_back(link);
    node = links_[static_cast<size_t>(link)].to;
  }
  return way;
}

double Network::usual_byte_s(const std::vector<std::pair<int, int>>& messages) {
  std::vector<double> shared(links_.size());  // seconds of each link for a byte of all its messages
  for (const auto& [source, target] : messages) {
    for (const int link : way_of(source, target)) {
      shared[static_cast<size_t>(link)] += links_[static_cast<size_t>(link)].byte_s;
    }
  }
  std::vector<double> byte_s;
  for (const auto& [source, target] : messages) {
    byte_s.push_back(0);
    for (const int link : way_of(source, target)) {
      byte_s.back() = std::max(byte_s.back(), shared[static_cast<size_t>(link)]);
    }
  }
  return byte_s.empty() ? 0 : median(std::move(byte_s));
}

}  // namespace tutti::simulate
