// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "line.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "peers/server.h"

namespace {

constexpr int kConnectAttempts = 1000;
constexpr useconds_t kBetweenAttempts_us = 5000;

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

sockaddr_in address_of(const char* ip) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(integer_from_environment("MASTER_PORT")));
  if (ip == nullptr || inet_pton(AF_INET, ip, &address.sin_addr) != 1)
    address.sin_addr.s_addr = htonl(INADDR_ANY);
  return address;
}

int accept_one() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = address_of(nullptr);
  int fd = -1;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(listener, 1) == 0)
    fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  close(listener);
  return fd;
}

int connect_to_first_host() {
  const sockaddr_in address = address_of(std::getenv("MASTER_ADDR"));
  for (int attempt = 0; attempt < kConnectAttempts; ++attempt) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    usleep(kBetweenAttempts_us);
  }
  return -1;
}

// Bytes that a call moved, 0 if it would have had to wait, -1 after an error.
ssize_t moved(ssize_t result) {
  if (result > 0) return result;
  return result < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

}  // namespace

Line::Line(int rank, int ranks, int ranks_per_host)
    : listens_(rank == 0 && ranks > ranks_per_host),
      connects_(rank == ranks_per_host && ranks > ranks_per_host) {}

Line::~Line() {
  if (fd_ >= 0) close(fd_);
}

bool Line::connect() {
  fd_ = listens_ ? accept_one() : connect_to_first_host();
  if (fd_ < 0) return false;
  const int yes = 1;
  (void)setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fcntl(fd_, F_SETFL, O_NONBLOCK) == 0;
}

bool Line::exchange_once(std::size_t bytes) {
  std::size_t sent = 0;
  std::size_t received = 0;
  while (sent < bytes || received < bytes) {
    if (sent < bytes) {
      const ssize_t now = moved(send(fd_, sent_.data() + sent, bytes - sent, MSG_NOSIGNAL));
      if (now < 0) return false;
      sent += static_cast<std::size_t>(now);
    }
    if (received < bytes) {
      const ssize_t now = moved(recv(fd_, received_.data() + received, bytes - received, 0));
      if (now < 0) return false;
      received += static_cast<std::size_t>(now);
    }
  }
  return true;
}

double Line::exchange(std::size_t bytes, long repetitions) {
  if (!listens_ && !connects_) return 0;
  if (fd_ < 0 && !connect()) return -1;
  sent_.resize(bytes);
  received_.resize(bytes);
  const double begin = seconds_now();
  for (long i = 0; i < repetitions; ++i)
    if (!exchange_once(bytes)) return -1;
  return (seconds_now() - begin) / static_cast<double>(repetitions);
}
