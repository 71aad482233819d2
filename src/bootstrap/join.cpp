// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/join.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include "bootstrap/line.hpp"
#include "bootstrap/parts.hpp"
#include "bootstrap/place.hpp"
#include "bootstrap/session.hpp"
#include "core/caught.hpp"
#include "core/interrupt.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace bootstrap {
namespace {

// The service knows better why something is late, so a member waits a little longer than it.
constexpr int64_t kGraceMs = 2000;
// One attempt to connect over TCP, and then for the service to show that it knows the secret:
// enough for some lost packets, or until a busy service gets to it.
constexpr int64_t kConnectMs = 3000;
constexpr int64_t kProofMs = 10000;

class Member final : public Exchange {
 public:
  Member(const UniqueId& id, Fd socket, const Joiner& joiner, int64_t deadline_ms)
      : id_(id),
        socket_(std::move(socket)),
        session_(Session::Side::kMember, id.name, id.secret),
        joiner_(joiner),
        deadline_ms_(deadline_ms),
        proof_by_ms_(std::min(deadline_with_grace(), now_ms() + kProofMs)) {}
  ~Member() override {
    // The service tells a rank that leaves from one that died by this; no answer, no wait.
    if (!socket_.open() || !session_.established()) return;
    try_to([this] { session_.put(FrameKind::kLeave, {}); });
    (void)::send(socket_.get(), session_.out().data(), session_.out().size(), MSG_NOSIGNAL);
  }
  Member(const Member&) = delete;

  [[nodiscard]] int rank() const override { return seat_.rank; }
  [[nodiscard]] int ranks() const override { return seat_.ranks; }

  Status arrive();
  // The service ended just when this rank knocked, has not got to it, or serves another meeting.
  [[nodiscard]] bool unheard() const { return unheard_; }

  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override;
  Result<std::unique_ptr<Control>> stay() override;

 private:
  Status prove();
  Status send();
  Status receive(FrameKind kind, Frame& frame);
  Status more();
  [[nodiscard]] Status refused() const;
  [[nodiscard]] int64_t deadline_with_grace() const {
    return deadline_ms_ > kNever - kGraceMs ? kNever : deadline_ms_ + kGraceMs;
  }

  const UniqueId id_;
  Fd socket_;
  Session session_;
  const Joiner joiner_;
  Seat seat_{};  // once all have met
  const int64_t deadline_ms_;
  const int64_t proof_by_ms_;
  bool unheard_ = true;  // until admitted
};

Status Member::arrive() {
  TUTTI_RETURN_IF_ERROR(prove());
  Hello hello{.rank = joiner_.rank,
              .ranks = joiner_.ranks,
              .newcomers = joiner_.newcomers,
              .pid = getpid(),
              .timeout_ms = -1,
              .host = host_field(host_name())};
  if (deadline_ms_ != kNever) {
    hello.timeout_ms =
        static_cast<int32_t>(std::clamp<int64_t>(deadline_ms_ - now_ms(), 0, INT32_MAX));
  }
  session_.put(FrameKind::kHello, {bytes_of(hello)});
  TUTTI_RETURN_IF_ERROR(send());
  Frame frame{};
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kAdmitted, frame));
  unheard_ = false;
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kWelcome, frame));
  if (frame.body.size() == sizeof seat_ && take(frame.body, seat_)) return {};
  return {Code::kInternal, "the service does not say which rank this one is"};
}

Status Member::prove() {
  Frame frame{};
  for (;;) {
    TUTTI_RETURN_IF_ERROR(send());
    if (session_.established()) return {};
    TUTTI_RETURN_IF_ERROR(more());
    // The service says nothing before the hello, so there is no frame to lose.
    if (session_.next(frame) == Session::Got::kRefused) {
      unheard_ = session_.refusal() == Refusal::kElsewhere;
      return refused();
    }
  }
}

Result<std::vector<std::vector<std::byte>>> Member::allgather(std::span<const std::byte> mine) {
  if (mine.size() > kMaxGatherBytes) {
    return Status::format(Code::kInternal, "{} bytes were given to an exchange, at most {} fit",
                          mine.size(), kMaxGatherBytes);
  }
  session_.put(FrameKind::kGather, {mine});
  TUTTI_RETURN_IF_ERROR(send());
  std::vector<std::vector<std::byte>> all;
  const auto ranks = static_cast<size_t>(seat_.ranks);
  while (all.size() < ranks) {
    Frame frame{};
    TUTTI_RETURN_IF_ERROR(receive(FrameKind::kParts, frame));
    if (!take_parts(frame.body, ranks, all)) {
      return Status::format(Code::kInternal,
                            "the service sent an exchange of {} ranks in parts of another form",
                            ranks);
    }
  }
  return all;
}

Result<std::unique_ptr<Control>> Member::stay() {
  session_.put(FrameKind::kStay, {});
  TUTTI_RETURN_IF_ERROR(send());
  Frame frame{};
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kStayed, frame));
  Keeper keeper;
  if (frame.body.size() != sizeof keeper || !take(frame.body, keeper)) {
    return Status(Code::kInternal, "the service does not say whose process it is");
  }
  return make_line(std::move(socket_), std::move(session_), keeper);
}

Status Member::send() {
  std::vector<std::byte>& out = session_.out();
  while (!out.empty()) {
    const ssize_t sent = ::send(socket_.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      out.erase(out.begin(), out.begin() + sent);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      out.clear();  // the service's last frame says why
    } else if (errno != EAGAIN && errno != EINTR) {
      return Status::system(errno, "writing to the service at which ranks meet");
    } else if (!wait_for(socket_.get(), POLLOUT, deadline_with_grace())) {
      return {Code::kTimeout, "the service at which ranks meet takes nothing"};
    }
  }
  return {};
}

// The next frame, which must be of this kind, or the error that came instead.
Status Member::receive(FrameKind kind, Frame& frame) {
  Session::Got got;
  while ((got = session_.next(frame)) == Session::Got::kMore) TUTTI_RETURN_IF_ERROR(more());
  if (got == Session::Got::kFrame && frame.kind == kind) return {};
  // Whatever it is, the service has spoken to this rank.
  unheard_ = false;
  if (got == Session::Got::kFrame && frame.kind == FrameKind::kError) return failure_in(frame.body);
  return {Code::kInternal, "the service at which ranks meet answered with nonsense"};
}

// Reads what the next frame lacks and no more, so that what comes after the last one that is
// expected here stays in the socket.
Status Member::more() {
  const int64_t until_ms = session_.established() ? deadline_with_grace() : proof_by_ms_;
  std::byte buffer[16 << 10];
  for (;;) {
    const ssize_t got = recv(socket_.get(), buffer, std::min(sizeof buffer, session_.wants()), 0);
    if (got > 0) {
      session_.append({buffer, static_cast<size_t>(got)});
      return {};
    }
    if (got == 0 || errno == ECONNRESET) {
      return Status::format(Code::kPeerFailed,
                            "the service at which the ranks meet ended: the process that ran it "
                            "is gone (id {})",
                            id_.describe());
    }
    if (errno != EAGAIN && errno != EINTR) {
      return Status::system(errno, "reading from the service at which ranks meet");
    }
    if (!wait_for(socket_.get(), POLLIN, until_ms)) {
      return Status::format(Code::kTimeout,
                            "the service at which the ranks meet does not answer (id {})",
                            id_.describe());
    }
  }
}

Status Member::refused() const {
  switch (session_.refusal()) {
    case Refusal::kSecret:
      return {Code::kInvalidArgument,
              "the secret is wrong: this id belongs to another communicator"};
    case Refusal::kElsewhere:
      return Status::format(Code::kTimeout,
                            "the service that listens there serves another meeting (id {})",
                            id_.describe());
    case Refusal::kProtocol:
      return Status::format(Code::kUnsupported,
                            "the service at which ranks meet does not speak protocol {}, that of "
                            "Tutti {}: all ranks need the same version",
                            kProtocol, tutti_version_string());
    case Refusal::kNone:
    case Refusal::kNonsense: break;
  }
  return Status::format(Code::kInternal, "what listens there is no service of Tutti (id {})",
                        id_.describe());
}

class Alone final : public Exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    return std::vector<std::vector<std::byte>>{{mine.begin(), mine.end()}};
  }
};

constexpr int kOtherUser = -1;  // no error number of the system's

// A connection to a service of this host and user.
int connect_here(const UniqueId& id, Fd& socket) {
  const int error = connect_abstract(socket_name(id.name), SocketType::kStream, socket);
  if (error != 0) return error;
  const auto identity = peer_identity(socket.get());
  if (identity.ok() && identity->uid == geteuid()) return 0;
  socket.reset();
  return kOtherUser;
}

Status other_user(const UniqueId& id) {
  return Status::format(Code::kInvalidUsage,
                        "the meeting place of the id ({}) is served by a process of another user "
                        "than this one's ({}): all ranks of a host must run as one user",
                        id.describe(), geteuid());
}

// What a job's key says besides, so that ranks of several users derive several ids from it.
std::string perhaps_other_users(const UniqueId& id) {
  if (id.maker_pid != 0) return "";
  return fmt::format(", or runs as another user than this rank's ({})", geteuid());
}

// Retries while nobody listens, ever more seldom.
Result<Fd> connect_service(const UniqueId& id, int64_t deadline_ms, Via via) {
  const int64_t start = now_ms();
  Fd socket;
  for (int64_t pause_ms = 1;; pause_ms = std::min<int64_t>(2 * pause_ms, 50)) {
    int error = via == Via::kAny ? connect_here(id, socket) : ECONNREFUSED;
    if (error == 0) return socket;
    const bool later = error == ECONNREFUSED || error == EAGAIN || error == EINTR;
    if (!later && !(id.address.known() && (error == kOtherUser || refuses_unix_sockets(error)))) {
      return error == kOtherUser ? other_user(id) : no_meeting_here("connecting", id, error);
    }
    if (id.address.known()) {
      error = connect_tcp(id.address, std::min(deadline_ms, now_ms() + kConnectMs), socket);
      if (error == 0) return socket;
    }
    const int64_t now = now_ms();
    if (now >= deadline_ms || must_end_wait()) {
      return Status::format(
          Code::kTimeout,
          "nobody answers at the meeting place of the id ({}) within {:.1f} s: its "
          "process has ended, the communicator was already made and left, the id "
          "is of another job, or rank 0 has not started{}; the last attempt: {}",
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
  for (;;) {
    auto socket = bootstrap::connect_service(id, deadline_ms, via);
    if (!socket.ok()) return socket.status();
    const bool by_network = remote_address(socket->get()).known();
    auto member = std::make_unique<bootstrap::Member>(id, *std::move(socket), joiner, deadline_ms);
    const Status arrived = member->arrive();
    if (arrived.ok()) return std::unique_ptr<Exchange>(std::move(member));
    // A derived id may come again: one program after another under one launcher. Ranks of the
    // program before that are slow to leave keep its service up for a moment. Over TCP a service
    // may have had to make room, or another one may still listen.
    const bool earlier_life = arrived.code() == Code::kInvalidUsage && id.maker_pid == 0;
    const bool again = earlier_life || (member->unheard() && (id.maker_pid == 0 || by_network));
    if (!again || now_ms() >= deadline_ms || must_end_wait()) return arrived;
    pause_for(10);
  }
}

std::unique_ptr<Exchange> exchange_alone() { return std::make_unique<bootstrap::Alone>(); }

}  // namespace tutti
