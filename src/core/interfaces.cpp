// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <tuple>

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

// The name of the interface of the kernel's default route. is_default(line, route) fills in the
// route if the line is one.
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
    // Unreachable addresses have an entry of this kind, too, at the loopback.
    return std::sscanf(line, "%*32s %x %*32s %*x %*32s %x %*x %*x %x %15s", &bits, &route.metric,
                       &flags, route.name) == 4 &&
           bits == 0 && (flags & 1u) != 0 && std::string_view(route.name) != "lo";
  });
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

// ---- lists of interfaces -----------------------------------------------------------------------

namespace {

Status wrong_list(std::string_view variable, std::string_view text, std::string_view why) {
  const auto interfaces = list_interfaces();
  return Status::format(
      Code::kInvalidArgument, "{} is \"{}\"{}: expected {}; this host has: {}", variable, text, why,
      kInterfaceForms, interfaces.ok() ? listing(*interfaces) : "interfaces that it does not list");
}

int bits_of_address(const NetAddress& address) {
  return address.family == NetAddress::Family::kIpv4 ? 32 : 128;
}

bool same_network(const NetAddress& one, const NetAddress& other, int prefix) {
  return one.known() && one.family == other.family &&
         one.network_text(prefix) == other.network_text(prefix);
}

}  // namespace

Result<InterfaceList> InterfaceList::parse(std::string_view variable, std::string_view text) {
  InterfaceList list;
  const bool all_but = text.starts_with('^');
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end + 1;
    Item item;
    item.excludes = all_but || word.starts_with('^');
    if (word.starts_with('^')) word.remove_prefix(1);
    if (word.empty()) continue;
    item.text = word;
    const size_t slash = word.find('/');
    item.network = parse_address(std::string(word.substr(0, slash)), 0);
    if (slash == std::string_view::npos) {
      item.prefix = bits_of_address(item.network);
    } else {
      const std::string_view bits = word.substr(slash + 1);
      const char* const stop = bits.data() + bits.size();
      const auto [rest, error] = std::from_chars(bits.data(), stop, item.prefix);
      const bool network = item.network.known() && error == std::errc() && rest == stop &&
                           item.prefix >= 0 && item.prefix <= bits_of_address(item.network);
      if (!network) {
        return wrong_list(variable, text, fmt::format(", where \"{}\" is no network", word));
      }
    }
    list.items_.push_back(std::move(item));
  }
  if (list.items_.empty() && !text.empty()) return wrong_list(variable, text, "");
  return list;
}

bool InterfaceList::selects() const {
  return std::ranges::any_of(items_, [](const Item& item) { return !item.excludes; });
}

bool InterfaceList::means(const Item& item, const NamedInterface& one, bool exactly) {
  if (item.network.known()) return same_network(one.address, item.network, item.prefix);
  if (exactly) return one.name == item.text || one.device == item.text;
  return one.name.starts_with(item.text) || one.device.starts_with(item.text);
}

bool InterfaceList::fits(const Item& item, const NamedInterface& one,
                         const std::vector<NamedInterface>& all) {
  if (means(item, one, true)) return true;
  const bool exact = std::ranges::any_of(
      all, [&](const NamedInterface& other) { return means(item, other, true); });
  return !exact && means(item, one, false);
}

std::vector<std::optional<size_t>> InterfaceList::places(
    const std::vector<NamedInterface>& candidates) const {
  std::vector<std::optional<size_t>> places;
  const bool some = selects();
  for (const NamedInterface& one : candidates) {
    std::optional<size_t> place;
    if (!some) place = 0;
    bool excluded = false;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!fits(items_[i], one, candidates)) continue;
      excluded = excluded || items_[i].excludes;
      if (!items_[i].excludes && !place) place = i;
    }
    places.push_back(excluded ? std::nullopt : place);
  }
  return places;
}

std::vector<std::string> InterfaceList::unknown(
    const std::vector<NamedInterface>& candidates) const {
  std::vector<std::string> texts;
  for (const Item& item : items_) {
    const bool known = std::ranges::any_of(
        candidates, [&](const NamedInterface& one) { return means(item, one, false); });
    if (!known && !item.excludes) texts.push_back(item.text);
  }
  return texts;
}

Result<NetAddress> choose_interface(std::string_view variable, std::string_view wanted,
                                    bool prefer_ipv6) {
  TUTTI_ASSIGN_OR_RETURN(auto interfaces, list_interfaces());
  TUTTI_ASSIGN_OR_RETURN(const auto list, InterfaceList::parse(variable, wanted));
  std::vector<NamedInterface> candidates;
  for (const Interface& one : interfaces) candidates.push_back({one.name, one.name, one.address});
  const auto places = list.places(candidates);
  const std::string ipv4 = default_route_ipv4();
  const std::string ipv6 = default_route_ipv6();
  const auto rank = [&](size_t i) {
    const Interface& one = interfaces[i];
    const bool is_ipv6 = one.address.family == NetAddress::Family::kIpv6;
    const bool preferred = is_ipv6 == prefer_ipv6;
    if (list.selects()) return std::tuple(*places[i], 0, preferred ? 0 : 1);
    const int route = one.name == (prefer_ipv6 ? ipv6 : ipv4)   ? 0
                      : one.name == (prefer_ipv6 ? ipv4 : ipv6) ? 1
                                                                : 2;
    return std::tuple(size_t{0}, route, preferred ? 0 : 1);
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < interfaces.size(); ++i) {
    if (!places[i] || (!list.selects() && interfaces[i].address.loopback())) continue;
    if (!best || rank(i) < rank(*best)) best = i;
  }
  if (best) return interfaces[*best].address;
  if (wanted.empty()) return NetAddress();
  return wrong_list(variable, wanted, ", and no interface that is up is meant");
}

}  // namespace tutti
