// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// TCP: addresses, and sockets that are non-blocking, closed on exec and notice a cut link. Waits
// have a deadline on now_ms()'s clock.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.hpp"
#include "core/status.hpp"

namespace tutti {

// The address of a host, and a port there. The fields are as they travel in a tutti_unique_id.
struct NetAddress {
  enum class Family : uint16_t { kNone = 0, kIpv4 = 4, kIpv6 = 6 };
  Family family = Family::kNone;
  uint16_t port = 0;
  std::array<std::byte, 16> host{};  // in the order of the network; of IPv4 the first four

  [[nodiscard]] bool known() const { return family != Family::kNone; }
  [[nodiscard]] bool loopback() const;
  // Addresses of one cable (fe80::) mean nothing without the name of the interface.
  [[nodiscard]] bool link_local() const;
  // E.g. "10.1.2.3" or "fd00::2"; with the port "10.1.2.3:4711" or "[fd00::2]:4711".
  [[nodiscard]] std::string host_text() const;
  [[nodiscard]] std::string text() const;
  // The network that has the first `prefix` bits in common with it, e.g. "10.1.2.0/24".
  [[nodiscard]] std::string network_text(int prefix) const;
  friend bool operator==(const NetAddress&, const NetAddress&) = default;
};

// The address that the system gives; it must be IP, and no other family is understood.
NetAddress from_sockaddr(const sockaddr* address);
// The address that a text of numbers is ("10.1.2.3", "fd00::2"); kNone if it is none.
NetAddress parse_address(const std::string& text, uint16_t port);
// The address of a name, or of numbers; if there are several, the first of the preferred family.
Result<NetAddress> resolve_host(const std::string& name, uint16_t port, bool prefer_ipv6);

// Binds and listens; port 0: any. Returns 0 or the system's error number. Whoever listened there
// before may still have connections.
int listen_tcp(const NetAddress& address, int backlog, Fd& socket);
// One attempt, until the deadline at most; returns 0 or the system's error number.
int connect_tcp(const NetAddress& address, int64_t deadline_ms, Fd& socket);
// Begins a connection, from an address of this host if that is known (its port does not count). It
// is being made when this returns 0: data sent over it meanwhile gets EAGAIN.
int start_tcp(const NetAddress& from, const NetAddress& to, Fd& socket);
// The time for which a peer's system may acknowledge nothing of what was sent before it counts as
// gone.
inline constexpr int kUnansweredMs = 25'000;
// Small frames leave at once, and a peer that does not answer for about kUnansweredMs counts as
// gone. For both ends of a connection; connect_tcp() has done it.
void tune_tcp(int socket);
// Tunes a connection on which a peer may leave much unread for long. Then only data that its system
// does not acknowledge is a sign of its death. The caller asks unanswered_ms() now and then.
void tune_data_connection(int socket);
// How long something that was sent has had no acknowledgement; 0 if nothing waits for one.
int64_t unanswered_ms(int socket);

NetAddress local_address(int socket);
NetAddress remote_address(int socket);

}  // namespace tutti
