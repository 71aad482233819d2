// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/introduction.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <span>

namespace tutti::tcp {

Introduction::Introduction(Fd socket, Handshake handshake, Handshake::Message first)
    : socket_(std::move(socket)), handshake_(std::move(handshake)), unsaid_(std::move(first)) {}

Introduction Introduction::answer(Fd socket, const Rendezvous& where) {
  return {std::move(socket), Handshake(Handshake::Side::kAnswerer, where), {}};
}

Introduction Introduction::call(Fd socket, const Rendezvous& where, int rank) {
  Handshake handshake(Handshake::Side::kCaller, where, static_cast<uint32_t>(rank));
  Handshake::Message first = handshake.begin();
  return {std::move(socket), std::move(handshake), std::move(first)};
}

// Whole, which a fresh connection has room for. 0 or the system's error number (EAGAIN: it is not
// connected yet).
int Introduction::say() {
  if (unsaid_.empty()) return 0;
  const ssize_t sent =
      send(socket_.get(), unsaid_.data(), unsaid_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno;
  if (static_cast<size_t>(sent) != unsaid_.size()) return ENOBUFS;
  unsaid_.clear();
  return 0;
}

Introduction::Outcome Introduction::go_on() {
  while (!handshake_.done()) {
    error_ = say();
    if (error_ == EAGAIN || error_ == EINTR) return Outcome::kNotYet;
    if (error_ != 0) return Outcome::kClosed;
    const size_t wanted = handshake_.expects();
    const ssize_t got =
        recv(socket_.get(), heard_.data() + heard_bytes_, wanted - heard_bytes_, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Outcome::kNotYet;
    error_ = got < 0 ? errno : ECONNRESET;
    if (got <= 0) return Outcome::kClosed;
    heard_bytes_ += static_cast<size_t>(got);
    if (heard_bytes_ < wanted) continue;
    unsaid_ = handshake_.hear(std::span(heard_).first(wanted));
    heard_bytes_ = 0;
    answered_ = true;
    if (handshake_.refusal() != Refusal::kNone) return Outcome::kRefused;
  }
  return Outcome::kProved;
}

}  // namespace tutti::tcp
