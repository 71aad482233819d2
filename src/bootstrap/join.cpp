// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/join.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "bootstrap/member.hpp"
#include "bootstrap/service.hpp"
#include "bootstrap/service_address.hpp"
#include "bootstrap/spare_descriptors.hpp"
#include "core/interrupt.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace bootstrap {
namespace {

// One attempt to connect over TCP: enough for some lost packets.
constexpr int64_t kConnectMs = 3000;
// The number of times that the proof of a secret may fail over TCP.
constexpr int kProofs = 3;

class Alone final : public Exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    return std::vector<std::vector<std::byte>>{{mine.begin(), mine.end()}};
  }
};

// Another rank may have taken the place of the relay and not start it, as when it is stopped. So
// long a rank waits for it. After that the rank looks for the service itself, once in so long. A
// relay starts as soon as the service answers, so few ranks are faster than it.
constexpr int64_t kPatienceMs = 3000;

constexpr int kOtherUser = -1;  // no error number of the system's

// A connection to a service of this host and user.
int connect_here(const std::string& name, Fd& socket) {
  const int error = connect_abstract(name, SocketType::kStream, socket);
  if (error != 0) return error;
  const auto identity = peer_identity(socket.get());
  if (identity.ok() && identity->uid == geteuid()) return 0;
  socket.reset();
  return kOtherUser;
}

int connect_here(const UniqueId& id, Fd& socket) {
  return connect_here(socket_name(id.name), socket);
}

Status other_user(const UniqueId& id) {
  return Status::format(Code::kInvalidUsage,
                        "the meeting place of the id ({}) is served by a process of another user "
                        "than this one's ({}): all ranks of a host must run as one user",
                        id.describe(), geteuid());
}

// The user's part of a job's key, so that ranks of several users derive several ids from it.
std::string perhaps_other_users(const UniqueId& id) {
  if (id.maker_pid != 0) return "";
  return fmt::format(", or runs as another user than this rank's ({})", geteuid());
}

// One attempt at a service that is there if it is not over.
int connect_once(const UniqueId& id, Fd& socket) {
  const int error = connect_here(id, socket);
  if (error == 0 || !id.address.known()) return error;
  return connect_tcp(id.address, now_ms() + kConnectMs, socket);
}

struct Connection {
  Fd socket;
  bool by_relay = false;
};

// Where the service is on another host: the way there by the relay of this one. The first rank that
// finds none takes its place, and starts it once the service answers.
class WayByRelay {
 public:
  // One attempt; 0 or the system's error number.
  int connect(const UniqueId& id, Via via, int64_t until_ms, Connection& made);

 private:
  Fd place_;  // bound, and not listened at: this rank is to start the relay
  bool barred_ = false;
  int64_t patient_until_ms_ = now_ms() + kPatienceMs;
};

int WayByRelay::connect(const UniqueId& id, Via via, int64_t until_ms, Connection& made) {
  bool impatient = false;
  if (!place_.open() && !barred_) {
    const int error = connect_here(relay_name(id.name), made.socket);
    made.by_relay = error == 0;
    if (error == 0 || error == EAGAIN || error == EINTR) return error;
    barred_ = error != ECONNREFUSED;
    if (!barred_) {
      const int taken = bind_abstract(relay_name(id.name), SocketType::kStream, place_);
      if (taken == EADDRINUSE) {  // another rank is about to start it
        if (now_ms() < patient_until_ms_) return error;
        patient_until_ms_ = now_ms() + kPatienceMs;
        impatient = true;
      }
      barred_ = taken != 0 && !impatient;
    }
  }
  const int error = connect_tcp(id.address, until_ms, made.socket);
  if (error != 0 || barred_ || impatient) return error;
  // A service listens on its own host first: one that has come there needs no relay.
  if (Fd here; via != Via::kRelay && connect_here(id, here) == 0) {
    made.socket = std::move(here);
    return 0;
  }
  barred_ = !start_relay(id, std::move(place_), std::move(made.socket)).ok();
  return connect(id, via, until_ms, made);
}

// Retries while nobody listens, ever more seldom.
Result<Connection> connect_service(const UniqueId& id, int64_t deadline_ms, Via via) {
  const int64_t start = now_ms();
  Connection made;
  WayByRelay relay;
  for (int64_t pause_ms = 1;; pause_ms = std::min<int64_t>(2 * pause_ms, 50)) {
    const bool elsewhere = via == Via::kNetwork || via == Via::kRelay;
    int error = elsewhere ? ECONNREFUSED : connect_here(id, made.socket);
    if (error == 0) return Connection(std::move(made));
    const bool later = error == ECONNREFUSED || error == EAGAIN || error == EINTR;
    if (!later && !(id.address.known() && (error == kOtherUser || refuses_unix_sockets(error)))) {
      return error == kOtherUser ? other_user(id) : no_meeting_here("connecting", id, error);
    }
    if (id.address.known()) {
      const int64_t until_ms = std::min(deadline_ms, now_ms() + kConnectMs);
      const bool direct = (via != Via::kAny && via != Via::kRelay) || error != ECONNREFUSED;
      error = direct ? connect_tcp(id.address, until_ms, made.socket)
                     : relay.connect(id, via, until_ms, made);
      if (error == 0) return Connection(std::move(made));
    }
    const int64_t now = now_ms();
    if (now >= deadline_ms || must_end_wait()) {
      return Status::format(
          Code::kTimeout,
          "nobody answers at the meeting place of the id ({}) within {:.1f} s: its "
          "process has ended, the communicator was already made and left, the id "
          "was given back or not used for too long (TUTTI_ID_LIFETIME_MS), it is of another job, "
          "or rank 0 has not started{}; the last attempt: {}",
          id.describe(), static_cast<double>(now - start) / 1000, perhaps_other_users(id),
          std::generic_category().message(error));
    }
    pause_for(pause_ms, deadline_ms);
  }
}

}  // namespace
}  // namespace bootstrap

Result<std::unique_ptr<Exchange>> join(const UniqueId& id, const Joiner& joiner,
                                       int64_t deadline_ms, Via via) {
  int unproved = 0;
  for (;;) {
    auto connection = bootstrap::connect_service(id, deadline_ms, via);
    if (!connection.ok()) {
      if (bootstrap::lacks_descriptors()) stay_away(id, joiner, connection.status(), deadline_ms);
      return connection.status();
    }
    Fd socket = std::move(connection->socket);
    const bool by_network = connection->by_relay || remote_address(socket.get()).known();
    auto member = std::make_unique<bootstrap::Member>(id, std::move(socket), joiner, deadline_ms,
                                                      connection->by_relay);
    const Status arrived = member->arrive();
    // A relay whose process is stopped proves nothing: another way leads around it.
    const bool silent = member->unheard() && arrived.code() == Code::kTimeout;
    if (silent && connection->by_relay && via == Via::kAny) via = Via::kService;
    if (arrived.ok()) return std::unique_ptr<Exchange>(std::move(member));
    // A derived id may come again: one program after another under one launcher. Ranks of the
    // program before that are slow to leave keep its service up for a moment. Over TCP a service
    // may have had to make room, or another one may still listen; a relay may just have ended.
    const bool earlier_life = arrived.code() == Code::kInvalidUsage && id.maker_pid == 0;
    // A network may corrupt the bytes of a proof, so the rank tries again.
    const bool changed = member->unproved() && by_network && ++unproved < bootstrap::kProofs;
    const bool again =
        earlier_life || changed || (member->unheard() && (id.maker_pid == 0 || by_network));
    if (!again || now_ms() >= deadline_ms || must_end_wait()) {
      // The ranks that wait there are told why this one does not.
      if (const Status why = end_of_waits(); !why.ok()) (void)member->fail(why);
      return arrived;
    }
    pause_for(10);
  }
}

void stay_away(const UniqueId& id, const Joiner& joiner, const Status& why, int64_t deadline_ms) {
  const int64_t until_ms = std::min(deadline_ms, now_ms() + kTellMs);
  const bootstrap::SpareDescriptors spare;
  Fd socket;
  if (id.maker_pid != 0) {
    (void)bootstrap::connect_once(id, socket);
  } else if (auto made = bootstrap::connect_service(id, until_ms, Via::kService); made.ok()) {
    socket = std::move(made->socket);
  }
  if (!socket.open()) return;
  bootstrap::Member(id, std::move(socket), joiner, until_ms).stay_away(why);
}

Status release(const UniqueId& id) {
  Fd socket;
  const int error = bootstrap::connect_once(id, socket);
  if (error == ECONNREFUSED) return {};
  if (error == bootstrap::kOtherUser) return bootstrap::other_user(id);
  if (error != 0) return bootstrap::no_meeting_here("connecting", id, error);
  return bootstrap::Member(id, std::move(socket), {}, now_ms() + kTellMs).release();
}

std::unique_ptr<Exchange> exchange_alone() { return std::make_unique<bootstrap::Alone>(); }

}  // namespace tutti
