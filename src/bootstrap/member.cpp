// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/member.hpp"

#include <poll.h>

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
// The time for the service to take note of a failure, and to say if another one came first.
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

Member::Member(const UniqueId& id, Fd socket, const Joiner& joiner, int64_t deadline_ms,
               bool by_relay)
    : id_(id),
      socket_(std::move(socket)),
      state_(id),
      joiner_(joiner),
      deadline_ms_(deadline_ms),
      by_relay_(by_relay),
      wait_until_ms_(std::min(with_grace(deadline_ms), now_ms() + kProofMs)) {}

Member::~Member() {
  // The service tells a rank that leaves from one that died by this; no answer, no wait.
  if (!socket_.open() || !session().established()) return;
  try_to([this] { say_farewell(); });
}

void Member::say_farewell() {
  state_.leave();
  (void)::send(socket_.get(), session().out().data(), session().out().size(), MSG_NOSIGNAL);
  if (!by_relay_ || !serves()) return;
  // The relay is to pass that on before this process may end.
  const int64_t until_ms = now_ms() + kFarewellMs;
  std::byte buffer[1 << 10];
  while (wait_for(socket_.get(), POLLIN, until_ms) &&
         recv(socket_.get(), buffer, sizeof buffer, 0) > 0) {
  }
}

void Member::say_hello() {
  int32_t timeout_ms = -1;
  if (deadline_ms_ != kNever) {
    timeout_ms = static_cast<int32_t>(std::clamp<int64_t>(deadline_ms_ - now_ms(), 0, INT32_MAX));
  }
  state_.say_hello(joiner_, timeout_ms);
}

Status Member::arrive() {
  TUTTI_RETURN_IF_ERROR(prove());
  say_hello();
  TUTTI_RETURN_IF_ERROR(await_this(Event::kAdmitted));
  return await_this(Event::kWelcome);
}

Status Member::prove() {
  Event event{};
  TUTTI_RETURN_IF_ERROR(go_on_to(event));
  if (event == Event::kProved) {
    wait_until_ms_ = with_grace(deadline_ms_);
    return {};
  }
  unheard_ = session().refusal() == Refusal::kElsewhere;
  unproved_ = session().refusal() == Refusal::kSecret;
  return refusal_by(session(), id_);
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
  state_.release();
  const Status answered = await_this(Event::kGoodbye);
  return answered.code() == Code::kPeerFailed ? Status() : answered;  // it ended just then
}

// Known failures are not told again: the service has failed for all.
Status Member::fail(const Status& mine) {
  if (!socket_.open() || !session().proved()) return mine;
  const bool tells = told_.ok() && failed_.ok();
  if (tells) failed_ = mine;
  const Status first = tells ? tell_failure(mine) : told_;
  return !first.ok() && may_follow(mine.code()) ? first : mine;
}

// The service says nothing between rounds but that the meeting has failed.
Status Member::failure() {
  if (receiving_ || !failed_.ok() || !told_.ok() || !socket_.open()) return told_;
  std::byte buffer[4 << 10];
  for (;;) {
    const size_t wanted = std::min(sizeof buffer, session().wants());
    const ssize_t got = recv(socket_.get(), buffer, wanted, MSG_DONTWAIT);
    if (got == 0) told_ = ended();
    if (got <= 0) return told_;
    session().append({buffer, static_cast<size_t>(got)});
    const Event event = state_.next();
    if (event == Event::kMore) continue;
    if (event == Event::kFailed) told_ = state_.told();
    return told_;
  }
}

// Gives the failure of another rank that came first, if there is one. Nothing else that goes wrong
// here matters.
Status Member::tell_failure(const Status& mine) {
  try {
    state_.fail(mine);
    wait_until_ms_ = std::min(with_grace(deadline_ms_), now_ms() + (serves() ? kTellMs : kFailMs));
    Event event{};
    bool goes_on = true;
    while (goes_on)
      goes_on = await(event).ok() && event != Event::kGoodbye && event != Event::kNonsense;
  } catch (...) {  // the failure may be that there is no memory
  }
  return told_;
}

// Whether the service runs in this process, which may end once its rank knows that it failed.
bool Member::serves() const { return peer_is_this_process(socket_.get()); }

// ---- a round -----------------------------------------------------------------------------------

Result<Contributions> Member::allgather(std::span<const std::byte> mine) {
  if (mine.size() > kMostGatherBytes) {
    return Status::format(Code::kInternal, "{} bytes were given to an exchange, at most {} fit",
                          mine.size(), kMostGatherBytes);
  }
  TUTTI_RETURN_IF_ERROR(told_);
  TUTTI_RETURN_IF_ERROR(failed_);
  state_.gather(mine);
  TUTTI_RETURN_IF_ERROR(await_this(Event::kOutcome));
  return state_.take_contributions();
}

Result<std::unique_ptr<Control>> Member::stay() {
  TUTTI_RETURN_IF_ERROR(told_);
  TUTTI_RETURN_IF_ERROR(failed_);
  state_.stay();
  TUTTI_RETURN_IF_ERROR(await_this(Event::kStayed));
  return make_control_connection(std::move(socket_), std::move(session()), state_.keeper(),
                                 {.id = id_, .rank = rank(), .by_relay = by_relay_});
}

// ---- steps -------------------------------------------------------------------------------------

Status Member::send() {
  std::vector<std::byte>& out = session().out();
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

// Says what there is to say, and waits for the next step.
Status Member::go_on_to(Event& event) {
  TUTTI_RETURN_IF_ERROR(send());
  receiving_ = true;
  Status status;
  while (status.ok() && (event = state_.next()) == Event::kMore) {
    status = send();  // the proof, once it is asked for
    if (status.ok()) status = more();
  }
  receiving_ = false;
  return status;
}

// The next step, or the error that came instead.
Status Member::await(Event& event) {
  TUTTI_RETURN_IF_ERROR(go_on_to(event));
  // Whatever it is, the service has spoken to this rank.
  unheard_ = false;
  if (event == Event::kRefused) return tampered_with();
  if (event == Event::kFailed) told_ = state_.told();
  return told_;
}

Status Member::await_this(Event wanted) {
  Event event{};
  TUTTI_RETURN_IF_ERROR(await(event));
  return event == wanted ? Status() : nonsense();
}

// Reads what the next frame lacks and no more, so that what comes after the last one that is
// expected here stays in the socket.
Status Member::more() {
  std::byte buffer[16 << 10];
  for (;;) {
    const ssize_t got = recv(socket_.get(), buffer, std::min(sizeof buffer, session().wants()), 0);
    if (got > 0) {
      session().append({buffer, static_cast<size_t>(got)});
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

}  // namespace tutti::bootstrap
