// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Arrivals at a meeting: whether a client belongs there, and whether the ranks make sense together.
#include <unistd.h>

#include "bootstrap/meeting_state.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

constexpr int kMaxRanks = 1 << 16;

bool is_newcomer(const Hello& hello) { return hello.ranks == 0 && hello.newcomers > 0; }

std::string name_of(const Hello& hello) {
  return fmt::format("{} {}", is_newcomer(hello) ? "newcomer" : "rank", hello.rank);
}

std::string with_process(const std::string& name, const Client& client) {
  return fmt::format("{} (pid {} on host {})", name, client.pid, client.host);
}

}  // namespace

// Decides whether the client belongs here at all.
void Meeting::greet(Client& client, const Frame& frame) {
  Hello hello{};
  std::span<const std::byte> body = frame.body;
  const bool releases = frame.kind == FrameKind::kRelease;
  const bool says_hello =
      frame.kind == FrameKind::kHello && body.size() == sizeof hello && take(body, hello);
  if (!releases && !says_hello) return lost(client, 0);
  client.pid = client.origin.pid > 0 ? client.origin.pid : hello.pid;
  client.host = text_of(hello.host);
  if (!client.origin.welcome) {
    refused_.count("being of another user", client.origin.from);
    return refuse(client, Code::kSystem,
                  fmt::format("the service for the id runs as user {}: only that user may join it",
                              geteuid()));
  }
  if (releases) return release(client);
  if (phase_ == Phase::kFailed) {
    ++arrived_;
    return refuse(client, failure_code_, failure_);
  }
  if (phase_ != Phase::kArriving) {
    return refuse(client, Code::kInvalidUsage,
                  fmt::format("{} comes after all {} ranks have met: an id is good for one "
                              "communicator, once per rank",
                              with_process(name_of(hello), client), ranks_));
  }
  admit(client, hello);
}

// Nobody is to meet here, unless all have met.
void Meeting::release(Client& client) {
  client.session.put(FrameKind::kGoodbye, {});
  client.ending = true;
  client.give_up_ms = now_ms() + kHandshakeMs;
  if (phase_ != Phase::kArriving) return;
  fail(Code::kAborted,
       fmt::format("the id ({}) was given back before all ranks had met", id_.describe()));
  linger_ms_ = now_ms();
}

// Decides whether the ranks so far make sense together.
void Meeting::admit(Client& client, const Hello& hello) {
  if (arrived_++ == 0) {
    deadline_ms_ = kNever;
    newcomers_ = hello.newcomers;
    first_ = name_of(hello);
    first_arrival_ms_ = now_ms();
  }
  const std::string wrong = objection(hello);
  if (wrong.empty() && ranks_ == 0 && !is_newcomer(hello)) learn_ranks(hello);
  const int before = is_newcomer(hello) && ranks_ > 0 ? ranks_ - newcomers_ : 0;
  const Client* twin = wrong.empty() ? member(before + hello.rank) : nullptr;
  client.rank = wrong.empty() ? before + hello.rank : 0;  // a member as far as being told goes
  client.newcomer = is_newcomer(hello);
  client.give_up_ms = kNever;
  client.session.put(FrameKind::kAdmitted, {});
  if (hello.timeout_ms >= 0) deadline_ms_ = std::min(deadline_ms_, now_ms() + hello.timeout_ms);
  if (!wrong.empty()) {
    return fail(Code::kInvalidArgument, with_process(name_of(hello), client) + " " + wrong);
  }
  if (twin != nullptr) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} arrived twice: pid {} on host {}, and pid {} on host {}",
                            name_of(hello), twin->pid, twin->host, client.pid, client.host));
  }
  if (ranks_ == 0 || arrived_ < ranks_) return;
  phase_ = Phase::kComplete;
  for (Client& other : clients_) {
    if (other.rank < 0) continue;
    other.session.put(FrameKind::kWelcome, {bytes_of(Seat{other.rank, ranks_})});
  }
}

// The objection to a rank, given those that have arrived; empty if there is none.
std::string Meeting::objection(const Hello& hello) const {
  if (hello.newcomers != newcomers_ || hello.newcomers < 0 || hello.newcomers >= kMaxRanks) {
    return fmt::format("said that {} ranks are new, {} said {}", hello.newcomers, first_,
                       newcomers_);
  }
  if (is_newcomer(hello)) {
    if (hello.rank >= 0 && hello.rank < newcomers_) return {};
    return fmt::format("is out of range: there are {} newcomers, 0 to {}", newcomers_,
                       newcomers_ - 1);
  }
  if (hello.ranks < 1 || hello.ranks > kMaxRanks) {
    return fmt::format("said there are {} ranks, expected 1 to {}", hello.ranks, kMaxRanks);
  }
  if (ranks_ != 0 && hello.ranks != ranks_) {
    return fmt::format("said there are {} ranks, {} said {}", hello.ranks, knows_, ranks_);
  }
  const int known = hello.ranks - newcomers_;
  if (hello.rank >= 0 && hello.rank < known) return {};
  return fmt::format("is out of range: there are {} {}ranks, 0 to {}", known,
                     newcomers_ > 0 ? "old " : "", known - 1);
}

// Newcomers that came before get their ranks.
void Meeting::learn_ranks(const Hello& hello) {
  ranks_ = hello.ranks;
  knows_ = name_of(hello);
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.newcomer) client.rank += ranks_ - newcomers_;
  }
}

std::string Meeting::who(const Client& client) const {
  const bool numbered = ranks_ > 0 || !client.newcomer;
  return with_process(fmt::format("{} {}", numbered ? "rank" : "newcomer", client.rank), client);
}

Client* Meeting::member(int rank) {
  for (Client& client : clients_) {
    if (client.rank >= 0 && client.rank == rank && !client.gone) return &client;
  }
  return nullptr;
}

}  // namespace tutti::bootstrap
