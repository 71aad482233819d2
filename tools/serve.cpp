// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/serve.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>

#include "core/fd.hpp"
#include "core/wait.hpp"

namespace tutti::tools {
namespace {

constexpr size_t kMostRequest = 8 << 10;
constexpr int64_t kMostMs = 2000;  // for a request, and for its answer
// The age up to which a page is sent again: who asks while others do need not wait for theirs.
constexpr int64_t kFreshMs = 500;
// Until a client that has said nothing is accepted all the same, and others wait for it.
constexpr int kSilentS = 5;

struct HostAndPort {
  std::string host = "127.0.0.1";
  std::string port;
};

HostAndPort host_and_port_of(const std::string& where) {
  const size_t colon = where.rfind(':');
  if (colon == std::string::npos) return {.port = where};
  std::string host = where.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {.host = host, .port = where.substr(colon + 1)};
}

// The system takes larger ones, too, and listens elsewhere.
bool is_port(const std::string& text) {
  uint32_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && behind == end && port >= 1 && port <= UINT16_MAX;
}

Result<Fd> listen_at(const HostAndPort& place) {
  if (!is_port(place.port)) {
    return Status::format(Code::kInvalidArgument, "port {}: expected 1 to 65535", place.port);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &found);
  if (error != 0) {
    return Status::format(Code::kInvalidArgument, "address {}, port {}: {}", place.host, place.port,
                          gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  Fd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int silent_s = kSilentS;
  if (!socket.open() || setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      setsockopt(socket.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_s, sizeof silent_s) != 0 ||
      bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return Status::system(errno, fmt::format("listening at {}, port {}", place.host, place.port));
  }
  return socket;
}

bool is_ready(int socket, short event, int64_t deadline_ms) {
  pollfd wanted{socket, event, 0};
  const int64_t left_ms = deadline_ms - tutti::host_ms();
  return left_ms > 0 && poll(&wanted, 1, static_cast<int>(left_ms)) > 0;
}

// The first line of the request; empty if it does not come in time or is too long.
std::string request_from(int socket) {
  const int64_t deadline_ms = tutti::host_ms() + kMostMs;
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    char part[1024];
    if (request.size() > kMostRequest || !is_ready(socket, POLLIN, deadline_ms)) return "";
    const ssize_t count = recv(socket, part, sizeof part, MSG_DONTWAIT);
    if (count <= 0) return "";
    request.append(part, static_cast<size_t>(count));
  }
  return request.substr(0, request.find("\r\n"));
}

void answer(int socket, std::string_view status, const std::string& body) {
  const int64_t deadline_ms = tutti::host_ms() + kMostMs;
  const std::string text = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
  std::string_view rest = text;
  while (!rest.empty() && is_ready(socket, POLLOUT, deadline_ms)) {
    const ssize_t count = send(socket, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) return;
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

Status serve_metrics(const std::string& where, const std::function<std::string()>& page) {
  TUTTI_ASSIGN_OR_RETURN(const Fd listener, listen_at(host_and_port_of(where)));
  std::string last;
  int64_t measured_ms = 0;
  const auto fresh_page = [&]() -> const std::string& {
    if (last.empty() || tutti::host_ms() - measured_ms > kFreshMs) {
      last = page();
      measured_ms = tutti::host_ms();
    }
    return last;
  };
  for (;;) {
    const Fd client(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return Status::system(errno, "accepting a connection");
    }
    const std::string request = request_from(client.get());
    if (request.empty()) continue;
    const bool known = request.starts_with("GET /metrics ") || request.starts_with("GET / ");
    answer(client.get(), known ? "200 OK" : "404 Not Found",
           known ? fresh_page() : "see /metrics\n");
  }
}

}  // namespace tutti::tools
