// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The network interfaces of this host, and which of them other hosts are spoken to through.
#pragma once

#include <string>
#include <vector>

#include "core/network.hpp"

namespace tutti {

// An address of an interface that is up.
struct Interface {
  std::string name;
  NetAddress address;  // port 0
  int prefix = 0;      // how many of its bits those on its network have in common
};

// The interfaces that other hosts can reach, and the loopback interface.
Result<std::vector<Interface>> list_interfaces();

// The name of the interface over which the rest of the world is reached by IPv4; empty if there is
// none.
std::string default_route_ipv4();

// The address (port 0) of the interface that `wanted` names, by its name or its address; an error
// that lists what there is, if there is no such. With an empty `wanted`: of the interface of the
// default route, else of the first that is up and not the loopback, else not known.
Result<NetAddress> choose_interface(const std::string& wanted, bool prefer_ipv6);

}  // namespace tutti
