// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/listener.hpp"

#include <sodium.h>

#include <cerrno>
#include <cstring>

#include "core/log.hpp"
#include "core/wait.hpp"

namespace tutti::tcp {
namespace {

constexpr char kMark[] = "tuttitcp";
static_assert(sizeof kMark == sizeof(Opening::mark) + 1);

// In the queue at once. One more, and the oldest is sent away: a rank says at once who it is.
constexpr size_t kMostVisitors = 128;
constexpr int64_t kVisitMs = 5000;

}  // namespace

Opening opening(const Random128& key, int rank) {
  Opening made{};
  std::memcpy(made.mark, kMark, sizeof made.mark);
  made.key = key;
  made.rank = static_cast<uint32_t>(rank);
  return made;
}

OpeningReader::Outcome OpeningReader::read(int socket) {
  while (bytes_ < sizeof opening_) {
    const ssize_t got = recv(socket, reinterpret_cast<std::byte*>(&opening_) + bytes_,
                             sizeof opening_ - bytes_, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Outcome::kNotYet;
    if (got <= 0) return Outcome::kClosed;
    bytes_ += static_cast<size_t>(got);
  }
  return Outcome::kWhole;
}

bool OpeningReader::fits(const Random128& key) const {
  return std::memcmp(opening_.mark, kMark, sizeof opening_.mark) == 0 &&
         sodium_memcmp(opening_.key.data(), key.data(), key.size()) == 0;
}

int say(int socket, const Opening& opening) {
  const ssize_t sent = ::send(socket, &opening, sizeof opening, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno;
  return sent == static_cast<ssize_t>(sizeof opening) ? 0 : ENOBUFS;
}

Result<Listener> Listener::open(NetAddress address) {
  Listener listener;
  const Result<Random128> key = random_128();
  if (!key.ok()) return key.status();
  address.port = 0;
  if (const int error = listen_tcp(address, SOMAXCONN, listener.socket_)) {
    return Status::system(error, fmt::format("listening at {}", address.host_text()));
  }
  listener.address_ = {local_address(listener.socket_.get()), *key};
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
    visitors_.push_back({std::move(visitor), now_ms() + kVisitMs, {}});
  }
}

std::vector<Caller> Listener::answer() {
  let_in();
  std::vector<Caller> callers;
  if (visitors_.empty()) return callers;
  const int64_t now = now_ms();
  std::erase_if(visitors_, [&](Visitor& visitor) {
    const auto outcome = visitor.reader.read(visitor.socket.get());
    if (outcome == OpeningReader::Outcome::kNotYet) return visitor.deadline_ms < now;
    if (outcome == OpeningReader::Outcome::kWhole && visitor.reader.fits(address_.key)) {
      callers.push_back({std::move(visitor.socket), visitor.reader.rank()});
      return true;
    }
    log::info("a connection from {} was refused: it did not show the key",
              remote_address(visitor.socket.get()).text());
    return true;
  });
  return callers;
}

}  // namespace tutti::tcp
