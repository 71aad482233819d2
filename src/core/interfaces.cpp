// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

namespace tutti {
namespace {

// How many bits of a network mask are set.
int bits_of(const NetAddress& mask) {
  int bits = 0;
  for (const std::byte byte : mask.host) bits += std::popcount(std::to_integer<unsigned>(byte));
  return bits;
}

struct Route {
  char name[IF_NAMESIZE] = {};
  unsigned metric = 0;
};

// The name of the interface through which the kernel's table sends what it has no other way for:
// is_default(line, route) fills in the route if it is such a one.
template <typename IsDefault>
std::string default_route(const char* path, IsDefault is_default) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return {};
  std::string best;
  unsigned best_metric = 0;
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Route route;
    if (!is_default(line, route)) continue;
    if (best.empty() || route.metric < best_metric) {
      best = route.name;
      best_metric = route.metric;
    }
  }
  std::fclose(file);
  return best;
}

// Destination, its bits, source, its bits, gateway, metric, uses, uses, flags, interface.
std::string default_route_ipv6() {
  return default_route("/proc/net/ipv6_route", [](const char* line, Route& route) {
    unsigned bits = 1;
    unsigned flags = 0;
    // What cannot be reached at all has an entry of this kind, too, at the loopback.
    return std::sscanf(line, "%*32s %x %*32s %*x %*32s %x %*x %*x %x %15s", &bits, &route.metric,
                       &flags, route.name) == 4 &&
           bits == 0 && (flags & 1u) != 0 && std::string_view(route.name) != "lo";
  });
}

// The best address of the interface `name` ("": of any but the loopback).
NetAddress address_of(const std::vector<Interface>& interfaces, const std::string& name,
                      bool prefer_ipv6) {
  NetAddress best;
  for (const Interface& entry : interfaces) {
    if (name.empty() ? entry.address.loopback() : entry.name != name) continue;
    const bool preferred = (entry.address.family == NetAddress::Family::kIpv6) == prefer_ipv6;
    if (preferred) return entry.address;
    if (!best.known()) best = entry.address;
  }
  return best;
}

std::string listing(const std::vector<Interface>& interfaces) {
  std::string text;
  for (const Interface& entry : interfaces) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", entry.name, entry.address.host_text());
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string default_route_ipv4() {
  // Interface, destination, gateway, flags, uses, uses, metric ...
  return default_route("/proc/net/route", [](const char* line, Route& route) {
    unsigned destination = 0;
    unsigned flags = 0;
    unsigned mask = 0;
    return std::sscanf(line, "%15s %x %*x %x %*d %*d %u %x", route.name, &destination, &flags,
                       &route.metric, &mask) == 5 &&
           destination == 0 && mask == 0 && (flags & 1u) != 0;
  });
}

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return Status::system(errno, "listing the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> freed(first, freeifaddrs);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    NetAddress address = from_sockaddr(entry->ifa_addr);
    if ((entry->ifa_flags & IFF_UP) == 0 || !address.known() || address.link_local()) continue;
    address.port = 0;
    interfaces.push_back({entry->ifa_name, address, bits_of(from_sockaddr(entry->ifa_netmask))});
  }
  return interfaces;
}

Result<NetAddress> choose_interface(const std::string& wanted, bool prefer_ipv6) {
  auto interfaces = list_interfaces();
  if (!interfaces.ok()) return interfaces.status();
  if (!wanted.empty()) {
    const NetAddress given = parse_address(wanted, 0);
    const bool there =
        given.known() && std::any_of(interfaces->begin(), interfaces->end(),
                                     [&](const Interface& one) { return one.address == given; });
    if (there) return given;
    const NetAddress named = address_of(*interfaces, wanted, prefer_ipv6);
    if (named.known()) return named;
    return Status::format(Code::kInvalidArgument,
                          "\"{}\" is no network interface of this host that is up, nor the address "
                          "of one; there are: {}",
                          wanted, listing(*interfaces));
  }
  const std::string ipv4 = default_route_ipv4();
  const std::string ipv6 = default_route_ipv6();
  for (const std::string& name : {prefer_ipv6 ? ipv6 : ipv4, prefer_ipv6 ? ipv4 : ipv6}) {
    if (name.empty()) continue;
    const NetAddress address = address_of(*interfaces, name, prefer_ipv6);
    if (address.known()) return address;
  }
  return address_of(*interfaces, "", prefer_ipv6);
}

}  // namespace tutti
