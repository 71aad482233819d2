// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The address at which a service listens on the network.
#pragma once

#include <cstdint>
#include <string>

#include "bootstrap/unique_id.hpp"

namespace tutti::bootstrap {

// The backlog of a service; the system's own limit may be lower.
inline constexpr int kBacklog = 4096;

// Gives a new id an address and the socket that listens there, or neither where this host has no
// network and none was asked for.
Status give_address(UniqueId& id);
// The socket that listens at the id's address, for its service; not open for an id without one.
// Waits until the deadline for a service before at the same port.
Result<Fd> listen_at_address(const UniqueId& id, int64_t deadline_ms);

// The address at which rank 0 is to be met, on the host of that name. A host's own name may mean
// its loopback on that host alone; there the address is that of the interface that other hosts
// reach.
Result<NetAddress> address_on_host(const std::string& host, uint16_t port, bool prefer_ipv6);

// The error where there is no Unix socket, and the id has no address to meet at instead.
Status no_meeting_here(std::string_view what, const UniqueId& id, int error);

}  // namespace tutti::bootstrap
