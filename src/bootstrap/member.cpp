// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/member.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "bootstrap/control_connection.hpp"
#include "bootstrap/service.hpp"

namespace tutti::bootstrap {
namespace {

// The service knows better why something is late, so a member waits a little longer than it.
constexpr int64_t kGraceMs = 2000;
// For the service to show that it knows the secret: until a busy one gets to it.
constexpr int64_t kProofMs = 10000;
// For it to take note of a failure, and to say if another one came first.
constexpr int64_t kFailMs = 2000;

int64_t with_grace(int64_t deadline_ms) {
  return deadline_ms > kNever - kGraceMs ? kNever : deadline_ms + kGraceMs;
}

// Whether a rank's failure may well follow from another's.
bool may_follow(Code code) {
  return code == Code::kPeerFailed || code == Code::kTimeout || code == Code::kInterrupted;
}

Status tampered_with() {
  return {Code::kSystem,
          "what the service at which ranks meet said to this rank was changed on its way: its seal "
          "is wrong"};
}

Status nonsense() {
  return {Code::kInternal, "the service at which ranks meet answered with nonsense"};
}

}  // namespace

Member::Member(const UniqueId& id, Fd socket, const Joiner& joiner, int64_t deadline_ms)
    : id_(id),
      socket_(std::move(socket)),
      session_(Session::Side::kMember, id.name, id.secret),
      joiner_(joiner),
      deadline_ms_(deadline_ms),
      wait_until_ms_(std::min(with_grace(deadline_ms), now_ms() + kProofMs)) {}

Member::~Member() {
  // The service tells a rank that leaves from one that died by this; no answer, no wait.
  if (!socket_.open() || !session_.established()) return;
  try_to([this] { session_.put(FrameKind::kLeave, {}); });
  (void)::send(socket_.get(), session_.out().data(), session_.out().size(), MSG_NOSIGNAL);
}

void Member::say_hello() {
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
}

Status Member::arrive() {
  TUTTI_RETURN_IF_ERROR(prove());
  say_hello();
  TUTTI_RETURN_IF_ERROR(send());
  Frame frame{};
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kAdmitted, frame));
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kWelcome, frame));
  if (frame.body.size() == sizeof seat_ && take(frame.body, seat_)) return {};
  return {Code::kInternal, "the service does not say which rank this one is"};
}

Status Member::prove() {
  Frame frame{};
  for (;;) {
    TUTTI_RETURN_IF_ERROR(send());
    if (session_.established()) {
      wait_until_ms_ = with_grace(deadline_ms_);
      return {};
    }
    TUTTI_RETURN_IF_ERROR(more());
    // The service says nothing before the hello, so there is no frame to lose.
    if (session_.next(frame) == Session::Got::kRefused) {
      unheard_ = session_.refusal() == Refusal::kElsewhere;
      unproved_ = session_.refusal() == Refusal::kSecret;
      return refused();
    }
  }
}

// ---- failing -----------------------------------------------------------------------------------

void Member::stay_away(const Status& why) {
  if (!prove().ok()) return;
  say_hello();
  (void)tell_failure(why);
}

Status Member::release() {
  const Status proved = prove();
  if (!proved.ok()) return unheard_ ? Status() : proved;  // it may have ended meanwhile
  session_.put(FrameKind::kRelease, {});
  TUTTI_RETURN_IF_ERROR(send());
  Frame frame{};
  return receive(FrameKind::kGoodbye, frame);
}

// Known failures are not told again: the service has failed for all.
Status Member::fail(const Status& mine) {
  if (!socket_.open() || !session_.proved()) return mine;
  const bool tells = told_.ok() && failed_.ok();
  if (tells) failed_ = mine;
  const Status first = tells ? tell_failure(mine) : told_;
  return !first.ok() && may_follow(mine.code()) ? first : mine;
}

// Between rounds the service says nothing but that the meeting has failed.
Status Member::failure() {
  if (receiving_ || !failed_.ok() || !told_.ok() || !socket_.open()) return told_;
  std::byte buffer[4 << 10];
  for (;;) {
    const size_t wanted = std::min(sizeof buffer, session_.wants());
    const ssize_t got = recv(socket_.get(), buffer, wanted, MSG_DONTWAIT);
    if (got == 0) told_ = ended();
    if (got <= 0) return told_;
    session_.append({buffer, static_cast<size_t>(got)});
    Frame frame{};
    if (session_.next(frame) != Session::Got::kFrame) continue;
    if (frame.kind == FrameKind::kError) told_ = failure_in(frame.body);
    return told_;
  }
}

// Gives the failure of another rank that came first, if there is one. Nothing else that goes wrong
// here matters.
Status Member::tell_failure(const Status& mine) {
  try {
    session_.put(FrameKind::kFail, {failure_bytes(mine)});
    wait_until_ms_ = std::min(with_grace(deadline_ms_), now_ms() + (serves() ? kTellMs : kFailMs));
    Frame frame{};
    bool goes_on = send().ok();
    while (goes_on) goes_on = receive(frame).ok() && frame.kind != FrameKind::kGoodbye;
  } catch (...) {  // the failure may be that there is no memory
  }
  return told_;
}

// Whether the service runs in this process, which may end once its rank knows that it failed.
bool Member::serves() const {
  const auto identity = peer_identity(socket_.get());
  return identity.ok() && identity->pid == getpid();
}

// ---- a round -----------------------------------------------------------------------------------

Result<Parts> Member::allgather(std::span<const std::byte> mine) {
  if (mine.size() > kMaxGatherBytes) {
    return Status::format(Code::kInternal, "{} bytes were given to an exchange, at most {} fit",
                          mine.size(), kMaxGatherBytes);
  }
  TUTTI_RETURN_IF_ERROR(told_);
  TUTTI_RETURN_IF_ERROR(failed_);
  session_.put(FrameKind::kGather, {mine});
  TUTTI_RETURN_IF_ERROR(send());
  Parts all;
  const auto ranks = static_cast<size_t>(seat_.ranks);
  while (all.size() < ranks) {
    Frame frame{};
    TUTTI_RETURN_IF_ERROR(receive(FrameKind::kParts, frame));
    if (take_parts(frame.body, ranks, all)) continue;
    return Status::format(Code::kInternal,
                          "the service sent an exchange of {} ranks in parts of another form",
                          ranks);
  }
  return all;
}

// ---- frames ------------------------------------------------------------------------------------

Result<std::unique_ptr<Control>> Member::stay() {
  TUTTI_RETURN_IF_ERROR(told_);
  TUTTI_RETURN_IF_ERROR(failed_);
  session_.put(FrameKind::kStay, {});
  TUTTI_RETURN_IF_ERROR(send());
  Frame frame{};
  TUTTI_RETURN_IF_ERROR(receive(FrameKind::kStayed, frame));
  Keeper keeper;
  if (frame.body.size() != sizeof keeper || !take(frame.body, keeper)) {
    return Status(Code::kInternal, "the service does not say whose process it is");
  }
  return make_control_connection(std::move(socket_), std::move(session_), keeper);
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
    } else if (!wait_for(socket_.get(), POLLOUT, wait_until_ms_)) {
      return {Code::kTimeout, "the service at which ranks meet takes nothing"};
    }
  }
  return {};
}

// The next frame, or the error that came instead.
Status Member::receive(Frame& frame) {
  Session::Got got;
  receiving_ = true;
  while ((got = session_.next(frame)) == Session::Got::kMore) {
    if (Status status = more(); !status.ok()) {
      receiving_ = false;
      return status;
    }
  }
  receiving_ = false;
  // Whatever it is, the service has spoken to this rank.
  unheard_ = false;
  if (got != Session::Got::kFrame) return tampered_with();
  if (frame.kind == FrameKind::kError) told_ = failure_in(frame.body);
  return told_;
}

// Receives a frame, which must be of this kind.
Status Member::receive(FrameKind kind, Frame& frame) {
  TUTTI_RETURN_IF_ERROR(receive(frame));
  return frame.kind == kind ? Status() : nonsense();
}

// Reads what the next frame lacks and no more, so that what comes after the last one that is
// expected here stays in the socket.
Status Member::more() {
  std::byte buffer[16 << 10];
  for (;;) {
    const ssize_t got = recv(socket_.get(), buffer, std::min(sizeof buffer, session_.wants()), 0);
    if (got > 0) {
      session_.append({buffer, static_cast<size_t>(got)});
      return {};
    }
    if (got == 0 || errno == ECONNRESET) return ended();
    if (errno != EAGAIN && errno != EINTR) {
      return Status::system(errno, "reading from the service at which ranks meet");
    }
    if (!wait_for(socket_.get(), POLLIN, wait_until_ms_)) {
      return Status::format(Code::kTimeout,
                            "the service at which the ranks meet does not answer (id {})",
                            id_.describe());
    }
  }
}

Status Member::ended() const {
  return Status::format(Code::kPeerFailed,
                        "the service at which the ranks meet ended: the process that ran it is "
                        "gone (id {})",
                        id_.describe());
}

Status Member::refused() const {
  switch (session_.refusal()) {
    case Refusal::kSecret:
      return {Code::kInvalidArgument,
              "the secret is wrong: this id belongs to another communicator, or what was said was "
              "changed on its way"};
    case Refusal::kElsewhere:
      return Status::format(Code::kTimeout,
                            "the service that listens there serves another meeting (id {})",
                            id_.describe());
    case Refusal::kProtocol:
      return Status::format(Code::kUnsupported,
                            "the service at which ranks meet is of {}, this rank of Tutti {}, "
                            "which speaks protocol {}: all ranks need the same version",
                            session_.other(), version_text(TUTTI_VERSION), kProtocol);
    case Refusal::kNone:
    case Refusal::kNonsense: break;
  }
  return Status::format(Code::kInternal, "what listens there is no service of Tutti (id {})",
                        id_.describe());
}

}  // namespace tutti::bootstrap
