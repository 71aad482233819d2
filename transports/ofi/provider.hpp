// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What libfabric offers on this host. What the ranks make of it is in choice.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/ofi/library.hpp"
#include "transports/transport.hpp"

namespace tutti::ofi {

// One provider on one interface.
struct Offer {
  Info info;
  std::string provider;
  uint32_t format = 0;    // of its addresses: FI_SOCKADDR_IN, ...
  std::string interface;  // of the system if it has one, else the provider's name for it
  std::string device;     // the provider's name for it: "mlx5_0"
  std::string address;    // for texts
  std::string network;    // what addresses on one network have in common
  bool loopback = false;
  bool likely = false;  // not made by a container engine or the like
  bool named = false;   // by the user
  int grade = 0;        // those of one grade are equally good, as far as find_offers() knows
};

// Those that can carry the endpoints, best first:
// 1. fast networks before TCP;
// 2. interfaces in the order of `config.interfaces` if that names any (no others then);
// 3. those that no container engine has made;
// 4. that of the default route, which leads somewhere: on a network that does not, the job would
//    not run at all, while a device at the far end of the machine makes it somewhat slower;
// 5. IPv4 before IPv6.
// Only those that `config.nics.names` allows. Loopback only if `alone`: all ranks share one network
// stack; it then comes before 3.
Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone);

}  // namespace tutti::ofi
