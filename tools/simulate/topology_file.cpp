// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A network from a file:
// clang-format off
//  {"links": [{"between": ["host0", "leaf0"], "rate_gbit": 100, "latency_us": 0.5, "kind": "host"},
//             ...]}
// clang-format on
// Switches are there by being named. A link's missing figures are those of --rate and --latency.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "tools/simulate/network.hpp"

namespace tutti::simulate {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kKeys = {"between", "rate_gbit", "latency_us", "kind"};

class Reader {
 public:
  Reader(Network& network, const LinkFigures& links) : network_(network), links_(links) {}

  // Throws nlohmann::json::exception where the file's shape is another.
  Status add(const Json& link) {
    const Json& between = link.at("between");
    for (const auto& [key, value] : link.items()) {
      if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("the link {} has '{}'; expected {}", between.dump(), key,
                                fmt::join(kKeys, ", ")));
    }
    const int one = node_of(between.at(0).get<std::string>());
    const int other = node_of(between.at(1).get<std::string>());
    const bool of_hosts = one < network_.hosts() && other < network_.hosts();
    if (one < 0 || other < 0 || of_hosts || one == other || between.size() != 2) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the link {}: expected a switch, and another or one of host0 to "
                                "host{}",
                                between.dump(), network_.hosts() - 1));
    }
    const bool of_host = one < network_.hosts() || other < network_.hosts();
    double byte_s = of_host ? links_.host_byte_s : links_.fabric_byte_s;
    double latency_s = of_host ? links_.host_latency_s : links_.hop_latency_s;
    if (link.contains("rate_gbit")) byte_s = 8e-9 / link.at("rate_gbit").get<double>();
    if (link.contains("latency_us")) latency_s = link.at("latency_us").get<double>() * 1e-6;
    if (!(byte_s > 0) || byte_s > 1 || latency_s < 0) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("the link {}: expected a rate over 0, and a latency from 0", between.dump()));
    }
    const std::string kind = link.value("kind", of_host ? "host" : "fabric");
    network_.connect(std::min(one, other), std::max(one, other), kind, byte_s, latency_s);
    return {};
  }

 private:
  // -1: a host that is not there.
  int node_of(const std::string& name) {
    const std::string digits = name.starts_with("host") ? name.substr(4) : "";
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos) {
      const bool there = digits.size() < 8 && std::stoi(digits) < network_.hosts();
      return there ? std::stoi(digits) : -1;
    }
    const auto known = switches_.find(name);
    if (known != switches_.end()) return known->second;
    return switches_[name] = network_.add_switch(name);
  }

  Network& network_;
  const LinkFigures& links_;
  std::map<std::string, int> switches_;
};

}  // namespace

Result<Network> network_of_file(const std::string& path, int hosts, const LinkFigures& links) {
  std::ifstream file(path, std::ios::binary);
  std::error_code none;
  if (!file || std::filesystem::is_directory(path, none)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is neither single-switch, fat-tree[:RADIX], dragonfly[:HOSTS], "
                              "torus[:SIZES] nor a file that can be read",
                              path));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (nests_too_deep(text)) {
    return Status(Code::kInvalidArgument, fmt::format("{}: {}", path, kNestsTooDeep));
  }
  Network network(hosts);
  network.description = "the network of " + path;
  try {
    Reader reader(network, links);
    const Json all = Json::parse(text);
    for (const Json& link : all.at("links").get<std::vector<Json>>()) {
      if (Status status = reader.add(link); !status.ok()) {
        return Status(status.code(), fmt::format("{}: {}", path, status.message()));
      }
    }
  } catch (const Json::exception& error) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{}: expected {{\"links\": [{{\"between\": [\"host0\", \"switch\"]}}, "
                    "...]}}: {}",
                    path, error.what()));
  }
  return network;
}

}  // namespace tutti::simulate
