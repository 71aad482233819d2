// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/handed_fds.hpp"

#include "core/fields.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

constexpr int kBacklog = 512;
// The time for an owner that cannot answer, as it has no descriptor left, where calls have no
// timeout.
constexpr int64_t kLongestAnswerMs = 10'000;

struct Question {
  Random128 secret{};
  WantedFd wanted;
};

std::string name_of(const FdAddress& address) { return "tutti-fds-" + to_hex(address.name); }

}  // namespace

// ---- the owner's side --------------------------------------------------------------------------

const FdAddress& FdServer::address() {
  if (tried_) return address_;
  tried_ = true;
  const Result<Random128> name = random_128();
  const Result<Random128> secret = random_128();
  if (!name.ok() || !secret.ok()) return address_;
  const FdAddress made{*name, *secret};
  if (listen_abstract(name_of(made), SocketType::kPackets, kBacklog, listener_) == 0) {
    address_ = made;
  }
  return address_;
}

void FdServer::take_clients() {
  if (!listener_.open()) return;
  for (Fd client = accept_client(listener_.get()); client.open();
       client = accept_client(listener_.get())) {
    clients_.push_back(std::move(client));
  }
}

bool FdServer::read_question(const Fd& client, WantedFd& wanted) const {
  Question question;
  std::vector<Fd> none;
  const Result<size_t> got =
      recv_packet(client.get(), std::as_writable_bytes(std::span(&question, 1)), none, now_ms());
  if (!got.ok()) return got.status().code() != Code::kTimeout;
  if (*got == sizeof question && question.secret == address_.secret) wanted = question.wanted;
  return true;
}

void FdServer::answer(const Fd& client, int fd) {
  const std::byte one{1};
  // A client that has gone meanwhile needs no answer.
  (void)send_packet(client.get(), std::span(&one, 1), std::span(&fd, 1), now_ms());
}

// ---- the asking side ---------------------------------------------------------------------------

Task ask_for_fd(const FdAddress& address, WantedFd wanted, Communicator& comm, Result<Fd>& fd) {
  fd = Status(Code::kUnsupported, "the peer has no socket to ask for descriptors");
  if (address.name == Random128{}) co_return;
  Fd socket;
  if (const int error = connect_abstract(name_of(address), SocketType::kPackets, socket)) {
    fd = Status::system(error, "asking a peer for a descriptor");
    co_return;
  }
  const Question question{address.secret, wanted};
  const Status asked = send_packet(socket.get(), bytes_of(question), {}, now_ms());
  if (!asked.ok()) {
    fd = asked;
    co_return;
  }
  std::vector<Fd> handed;
  // Owners answer while they wait for this rank: only one that has been stopped takes long.
  const int64_t timeout_ms = comm.executor().timeout_ms();
  const int64_t deadline_ms = now_ms() + (timeout_ms == kNever ? kLongestAnswerMs : timeout_ms);
  co_await Until(Waits::kForPeers, [&]() -> Result<bool> {
    if (comm.health().stopped()) return comm.health().cause_for_call();
    std::byte one{};
    const Result<size_t> got = recv_packet(socket.get(), std::span(&one, 1), handed, now_ms());
    const bool is_late = !got.ok() && got.status().code() == Code::kTimeout;
    if (is_late && now_ms() < deadline_ms) return false;
    fd = got.ok() ? Status(Code::kSystem, "a peer has not handed over the descriptor asked for")
                  : got.status();
    return true;
  });
  if (handed.size() == 1) fd = std::move(handed.front());
}

}  // namespace tutti
