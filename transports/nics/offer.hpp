// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The offers of a transport between hosts on this host, and which of them the user wants. The
// ranks' choice among them is in choice.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/transport.hpp"

namespace tutti::nics {

// One provider on one interface.
struct Offer {
  std::shared_ptr<void> own;  // the transport's own object for it
  std::string provider;       // "tcp;ofi_rxm"
  int place = 0;              // rank of its provider among all: less is better
  std::string format;         // of its addresses: "IPv4"
  std::string interface;      // name of the system's interface, else the provider's name for it
  std::string device;         // the provider's name for it: "mlx5_0"
  std::string address;        // in texts
  std::string network;        // common part of all addresses on one network
  bool loopback = false;
  bool likely = false;  // not made by a container engine or the like
  bool named = false;   // the user named it
  size_t wanted = 0;    // place among the interfaces that the user named
  int grade = 0;        // equal grades are equally good, as far as keep_usable() knows
};

inline constexpr std::string_view kIpv4 = "IPv4";
inline constexpr std::string_view kIpv6 = "IPv6";

// "tcp;ofi_rxm on eth0 (10.0.0.1)".
std::string text_of(const Offer& offer);
// All of them, separated by commas; "nothing" if there is none.
std::string list_of(const std::vector<Offer>& offers);

// Keeps those that `config` allows and puts them in order, best first:
// 1. by the place of the provider: fast networks before TCP;
// 2. interfaces in the order of `config.interfaces` (InterfaceList) if that names any;
// 3. those that no container engine has made;
// 4. that of the default route, which leads somewhere: on a network that does not, the job would
//    not run at all, while a device at the far end of the machine makes it somewhat slower;
// 5. IPv4 before IPv6.
// Only those that `config.nics.names` allows. Loopback only if `alone`: all ranks share one network
// stack; it then comes before 3. An error says what is wrong with what the user wants.
Status keep_usable(std::vector<Offer>& offers, const TransportConfig& config, bool alone);
// The conditions that an offer had to fulfil, for errors.
std::string conditions(const TransportConfig& config, bool alone);

}  // namespace tutti::nics
