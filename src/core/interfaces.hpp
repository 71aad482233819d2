// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The network interfaces of this host, and which of them other hosts are spoken to through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/network.hpp"

namespace tutti {

// An address of an interface that is up.
struct Interface {
  std::string name;
  NetAddress address;  // with port 0
  int prefix = 0;      // how many of its bits those on its network have in common
};

// The interfaces that other hosts can reach, and the loopback interface.
Result<std::vector<Interface>> list_interfaces();

// The name of the interface over which the rest of the world is reached by IPv4; empty if there is
// none.
std::string default_route_ipv4();

// Something that goes over an interface, as a list of interfaces may mean it.
struct NamedInterface {
  std::string name;
  std::string device;  // device name, another one of the interface
  NetAddress address;
};

// The text of a variable on interfaces. It has names ("eth0"), beginnings of names if none is
// called just so ("eth"), addresses and networks ("10.1.0.0/16"), separated by commas, the best
// first. A ^ before the first makes it mean all but these; a ^ before another one excludes that
// one.
class InterfaceList {
 public:
  // An error names the variable, what it is, what was expected and which interfaces there are.
  static Result<InterfaceList> parse(std::string_view variable, std::string_view text);

  // Whether some are meant, and no others.
  [[nodiscard]] bool selects() const;
  // The place of each candidate among those that are meant, none if it is not. 0 for all that are
  // not excluded, if the list only excludes.
  [[nodiscard]] std::vector<std::optional<size_t>> places(
      const std::vector<NamedInterface>& candidates) const;
  // The items that mean none of these.
  [[nodiscard]] std::vector<std::string> unknown(
      const std::vector<NamedInterface>& candidates) const;

 private:
  struct Item {
    std::string text;
    bool excludes = false;
    NetAddress network;  // known: an address or a network
    int prefix = 0;
  };
  static bool means(const Item& item, const NamedInterface& one, bool exactly);
  static bool fits(const Item& item, const NamedInterface& one,
                   const std::vector<NamedInterface>& all);

  std::vector<Item> items_;
};

// The forms that such a variable takes, for errors.
inline constexpr std::string_view kInterfaceForms =
    "names of network interfaces, addresses or networks like 10.1.0.0/16, separated by commas, or "
    "after a ^ those that are not to be used";

// The address (port 0) of the first interface that `wanted` means, the text of a variable. If there
// is none, an error lists what there is. A text that is empty or only excludes means the interface
// of the default route. Else it is the first that is up and not the loopback, else not known.
Result<NetAddress> choose_interface(std::string_view variable, std::string_view wanted,
                                    bool prefer_ipv6);

}  // namespace tutti
