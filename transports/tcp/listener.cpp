// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/listener.hpp"

#include <cerrno>

#include "core/log.hpp"
#include "core/wait.hpp"

namespace tutti::tcp {
namespace {

constexpr uint32_t kProtocol = 1;

// The most visitors at once. One more, and the oldest is sent away: a rank says at once who it is.
constexpr size_t kMostVisitors = 128;
constexpr int64_t kVisitMs = 5000;

}  // namespace

Rendezvous rendezvous(const ListenerAddress& listener) {
  return {.protocol = kProtocol, .name = {}, .secret = listener.key};
}

Result<Listener> Listener::open(NetAddress address) {
  Listener listener;
  TUTTI_ASSIGN_OR_RETURN(const Random128 key, random_128());
  address.port = 0;
  if (const int error = listen_tcp(address, SOMAXCONN, listener.socket_)) {
    return Status::system(error, fmt::format("listening at {}", address.host_text()));
  }
  listener.address_ = {local_address(listener.socket_.get()), key};
  return listener;
}

void Listener::close() {
  socket_.reset();
  visitors_.clear();
}

void Listener::let_in() {
  while (true) {
    Fd visitor = accept_client(socket_.get());
    if (!visitor.open() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!visitor.open()) return;
    tune_tcp(visitor.get());
    if (visitors_.size() == kMostVisitors) visitors_.pop_front();
    visitors_.push_back(
        {Introduction::answer(std::move(visitor), rendezvous(address_)), now_ms() + kVisitMs});
  }
}

std::vector<Introduction> Listener::answer() {
  let_in();
  std::vector<Introduction> callers;
  if (visitors_.empty()) return callers;
  const int64_t now = now_ms();
  std::erase_if(visitors_, [&](Visitor& visitor) {
    const Introduction::Outcome outcome = visitor.introduction.go_on();
    if (outcome == Introduction::Outcome::kNotYet) return visitor.deadline_ms < now;
    if (outcome == Introduction::Outcome::kProved) {
      callers.push_back(std::move(visitor.introduction));
      return true;
    }
    (void)visitor.introduction.answer_call();  // nothing to one that is none of ours
    log::info("a connection from {} was refused: it did not prove that it knows the key",
              remote_address(visitor.introduction.socket()).text());
    return true;
  });
  return callers;
}

}  // namespace tutti::tcp
