// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/network.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/socket.hpp"

namespace tutti {
namespace {

constexpr size_t kIpv4Bytes = 4;

socklen_t to_sockaddr(const NetAddress& address, sockaddr_storage& out) {
  out = {};
  if (address.family == NetAddress::Family::kIpv4) {
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.host.data(), kIpv4Bytes);
    return sizeof in;
  }
  auto& in = reinterpret_cast<sockaddr_in6&>(out);
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port);
  std::memcpy(&in.sin6_addr, address.host.data(), address.host.size());
  return sizeof in;
}

int open_tcp(const NetAddress& address, Fd& fd) {
  const int family = address.family == NetAddress::Family::kIpv4 ? AF_INET : AF_INET6;
  fd.reset(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd.open() ? 0 : errno;
}

void set_option(int socket, int level, int option, int value) {
  // A kernel may lack an option. That does no harm: these make a failure known sooner, not at all.
  (void)setsockopt(socket, level, option, &value, sizeof value);
}

int fail_with(int error, Fd& fd) {
  fd.reset();
  return error;
}

}  // namespace

bool NetAddress::loopback() const {
  if (family == Family::kIpv4) return host[0] == std::byte{127};
  in6_addr address;
  std::memcpy(&address, host.data(), sizeof address);
  return family == Family::kIpv6 && IN6_IS_ADDR_LOOPBACK(&address);
}

bool NetAddress::link_local() const {
  in6_addr address;
  std::memcpy(&address, host.data(), sizeof address);
  return family == Family::kIpv6 && IN6_IS_ADDR_LINKLOCAL(&address);
}

std::string NetAddress::host_text() const {
  char buffer[INET6_ADDRSTRLEN] = "no address";
  if (known()) {
    inet_ntop(family == Family::kIpv4 ? AF_INET : AF_INET6, host.data(), buffer, sizeof buffer);
  }
  return buffer;
}

std::string NetAddress::text() const {
  return family == Family::kIpv6 ? fmt::format("[{}]:{}", host_text(), port)
                                 : fmt::format("{}:{}", host_text(), port);
}

std::string NetAddress::network_text(int prefix) const {
  NetAddress network = *this;
  for (size_t i = 0; i < host.size(); ++i) {
    const int kept = std::clamp(prefix - 8 * static_cast<int>(i), 0, 8);
    network.host[i] &= static_cast<std::byte>(0xff00 >> kept & 0xff);
  }
  return fmt::format("{}/{}", network.host_text(), prefix);
}

NetAddress from_sockaddr(const sockaddr* address) {
  NetAddress out;
  if (address == nullptr) return out;
  if (address->sa_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, address, sizeof in);
    out.family = NetAddress::Family::kIpv4;
    out.port = ntohs(in.sin_port);
    std::memcpy(out.host.data(), &in.sin_addr, kIpv4Bytes);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, address, sizeof in);
    out.family = NetAddress::Family::kIpv6;
    out.port = ntohs(in.sin6_port);
    std::memcpy(out.host.data(), &in.sin6_addr, out.host.size());
  }
  return out;
}

NetAddress parse_address(const std::string& text, uint16_t port) {
  NetAddress out;
  out.port = port;
  if (inet_pton(AF_INET, text.c_str(), out.host.data()) == 1) {
    out.family = NetAddress::Family::kIpv4;
  } else if (inet_pton(AF_INET6, text.c_str(), out.host.data()) == 1) {
    out.family = NetAddress::Family::kIpv6;
  }
  return out;
}

Result<NetAddress> resolve_host(const std::string& name, uint16_t port, bool prefer_ipv6) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(found, freeaddrinfo);
  NetAddress best;
  if (error == 0) {
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
      const NetAddress address = from_sockaddr(entry->ai_addr);
      if (!address.known() || address.link_local()) continue;
      const bool preferred = (address.family == NetAddress::Family::kIpv6) == prefer_ipv6;
      if (best.known() && !preferred) continue;
      best = address;
      if (preferred) break;
    }
  }
  if (!best.known()) {
    return Status::format(Code::kSystem, "looking up the address of host \"{}\": {}", name,
                          error == 0            ? "it has no address of IPv4 or IPv6"
                          : error == EAI_SYSTEM ? std::strerror(errno)
                                                : gai_strerror(error));
  }
  best.port = port;
  return best;
}

int listen_tcp(const NetAddress& address, int backlog, Fd& fd) {
  if (const int error = open_tcp(address, fd)) return error;
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(address, name);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&name), length) != 0 ||
      listen(fd.get(), backlog) != 0) {
    return fail_with(errno, fd);
  }
  return 0;
}

int connect_tcp(const NetAddress& address, int64_t deadline_ms, Fd& fd) {
  if (const int error = open_tcp(address, fd)) return error;
  tune_tcp(fd.get());
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(address, name);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&name), length) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return fail_with(errno, fd);
    if (!wait_for(fd.get(), POLLOUT, deadline_ms)) return fail_with(ETIMEDOUT, fd);
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return fail_with(error, fd);
  }
  // A connection to a port of one's own host that nobody listens at may meet itself.
  if (local_address(fd.get()) == remote_address(fd.get())) return fail_with(ECONNREFUSED, fd);
  return 0;
}

int start_tcp(const NetAddress& from, const NetAddress& to, Fd& fd) {
  if (const int error = open_tcp(to, fd)) return error;
  tune_tcp(fd.get());
  sockaddr_storage name;
  if (from.known()) {
    // The kernel chooses the port when it connects, of those that are free towards `to`.
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    NetAddress any_port = from;
    any_port.port = 0;
    const socklen_t length = to_sockaddr(any_port, name);
    if (bind(fd.get(), reinterpret_cast<sockaddr*>(&name), length) != 0) {
      return fail_with(errno, fd);
    }
  }
  const socklen_t length = to_sockaddr(to, name);
  const int done = connect(fd.get(), reinterpret_cast<sockaddr*>(&name), length);
  return done == 0 || errno == EINPROGRESS || errno == EINTR ? 0 : fail_with(errno, fd);
}

void tune_tcp(int socket) {
  // Without traffic the system asks after a while, and again and again. A peer that answers none of
  // these questions counts as gone after as long as one that leaves sent bytes unanswered.
  constexpr int kQuietSeconds = 5;
  constexpr int kBetweenQuestionsSeconds = 5;
  constexpr int kQuestions = 4;
  static_assert((kQuietSeconds + kQuestions * kBetweenQuestionsSeconds) * 1000 == kUnansweredMs);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kQuietSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kBetweenQuestionsSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMs);
}

// With a user's timeout the system also gives up a peer that answers, but has no room.
void tune_data_connection(int socket) { set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 0); }

int64_t unanswered_ms(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  return info.tcpi_unacked > 0 ? info.tcpi_last_ack_recv : 0;
}

NetAddress local_address(int socket) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &length) != 0) return {};
  return from_sockaddr(reinterpret_cast<sockaddr*>(&name));
}

NetAddress remote_address(int socket) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&name), &length) != 0) return {};
  return from_sockaddr(reinterpret_cast<sockaddr*>(&name));
}

}  // namespace tutti
