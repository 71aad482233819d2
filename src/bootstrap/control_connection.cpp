// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/control_connection.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "bootstrap/parts.hpp"
#include "core/caught.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {
namespace {

// Pages for who looks from outside are left out beyond this.
constexpr size_t kMostUnsent = 4 << 20;
// How long a rank that comes back waits for its connection to the service and the proof of the
// secret. Its monitor watches nothing else meanwhile.
constexpr int64_t kComeBackMs = 3000;
// Ranks of a round of regrouping.
constexpr size_t kMostRegrouping = 1 << 20;

class ControlConnection final : public Control {
 public:
  ControlConnection(Fd socket, Fd relay, Fd epoll, Session session, const Keeper& keeper,
                    const WayBack& back)
      : back_(back),
        socket_(std::move(socket)),
        relay_(std::move(relay)),
        epoll_(std::move(epoll)),
        session_(std::move(session)),
        keeper_(keeper) {}
  ~ControlConnection() override;
  ControlConnection(const ControlConnection&) = delete;

  [[nodiscard]] int fd() const override { return epoll_.get(); }
  std::vector<ControlNews> read() override;
  void tell(int rank, std::span<const std::byte> note) override;
  void send_page(int rank, std::span<const std::byte> page) override;
  Status regroup(std::span<const std::byte> part) override;
  void withdraw() override;
  [[nodiscard]] bool is_open() override;
  void fail(const Status& cause) override;
  void leave() override;

 private:
  [[nodiscard]] std::string keeper_name() const;
  bool flush();
  void watch_for_room(bool wanted);
  void say_farewell();
  void understand(std::vector<ControlNews>& news);
  bool take_regroup_parts(std::span<const std::byte> body, std::vector<ControlNews>& news);
  bool come_back();
  static bool prove(Session& session, const Fd& socket, int64_t deadline_ms);
  void broken(int error, std::vector<ControlNews>& news);

  WayBack back_;
  std::mutex mutex_;  // guards everything below but epoll_ and keeper_
  Fd socket_;
  // A pidfd of the relay's process, until that has ended: a child that it forked may hold the other
  // end of the socket open. Not open if there is no relay, or no pidfd.
  Fd relay_;
  // Watches the two: a socket that is closed would be readable for ever, this is so only once.
  const Fd epoll_;
  Session session_;
  const Keeper keeper_;
  bool failed_ = false;  // has said so; once is enough
  bool left_ = false;
  bool waits_for_room_ = false;
  // The service's process may end without that being a failure: its ranks have left.
  bool may_end_ = false;
  bool answered_ = false;  // its kLeave has been
  Parts regroup_parts_;    // of the round whose outcome is coming
  // What is to be said again after a return, and what this rank has been told.
  Status failure_;
  std::optional<std::vector<std::byte>> regroups_;  // its part of the round under way
  bool withdraws_ = false;
  Return heard_{};
};

std::vector<ControlNews> ControlConnection::read() {
  const std::lock_guard lock(mutex_);
  std::vector<ControlNews> news;
  flush();
  // Asked first: then all that it has said is in the socket.
  const bool relay_ended = relay_.open() && wait_for(relay_.get(), POLLIN, 0);
  while (socket_.open()) {
    std::byte buffer[4 << 10];
    const ssize_t got = recv(socket_.get(), buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    const bool no_more = got < 0 && errno == EAGAIN;
    if (no_more && !(relay_ended && relay_.open())) break;
    if (got <= 0) {
      broken(got < 0 && !no_more ? errno : 0, news);
      break;
    }
    session_.append({buffer, static_cast<size_t>(got)});
    understand(news);
  }
  return news;
}

void ControlConnection::understand(std::vector<ControlNews>& news) {
  Frame frame{};
  Session::Got got;
  while ((got = session_.next(frame)) == Session::Got::kFrame) {
    int32_t rank = -1;
    if (frame.kind == FrameKind::kGoodbye) {
      may_end_ = true;
      answered_ = left_;
    } else if (frame.kind == FrameKind::kServiceLost && take(frame.body, rank)) {  // the error
      back_.by_relay = false;
      return broken(rank, news);
    } else if (frame.kind == FrameKind::kFailed && take(frame.body, rank)) {
      ++heard_.failures;
      news.push_back({ControlNews::Kind::kFailed, rank, 0, failure_in(frame.body), {}});
    } else if (frame.kind == FrameKind::kLeft) {
      while (take(frame.body, rank)) {
        ++heard_.left;
        news.push_back({.kind = ControlNews::Kind::kLeft, .rank = rank});
      }
    } else if (frame.kind == FrameKind::kTold && take(frame.body, rank)) {
      news.push_back(
          {ControlNews::Kind::kTold, rank, 0, {}, {frame.body.begin(), frame.body.end()}});
    } else if (frame.kind == FrameKind::kPage && take(frame.body, rank)) {
      news.push_back(
          {ControlNews::Kind::kPage, rank, 0, {}, {frame.body.begin(), frame.body.end()}});
    } else if (frame.kind == FrameKind::kRegroupParts) {
      if (!take_regroup_parts(frame.body, news)) return broken(EPROTO, news);
    } else if (frame.kind == FrameKind::kWithdrawn && take(frame.body, rank)) {
      int32_t count = 0;
      if (!take(frame.body, count)) continue;
      regroups_.reset();
      withdraws_ = false;
      news.push_back({.kind = ControlNews::Kind::kWithdrawn, .rank = rank, .count = count});
    }
  }
  if (got == Session::Got::kRefused) broken(EPROTO, news);
}

// False if they make no sense.
bool ControlConnection::take_regroup_parts(std::span<const std::byte> body,
                                           std::vector<ControlNews>& news) {
  if (!body.empty()) return take_parts(body, kMostRegrouping, regroup_parts_);
  for (const std::vector<std::byte>& part : std::exchange(regroup_parts_, {})) {
    std::span<const std::byte> rest = part;
    int32_t rank = -1;
    if (!take(rest, rank) || rest.size() > kMaxNoteBytes) return false;
    news.push_back({ControlNews::Kind::kPart, rank, 0, {}, {rest.begin(), rest.end()}});
  }
  news.push_back({.kind = ControlNews::Kind::kRegrouped, .rank = -1});
  ++heard_.rounds;
  regroups_.reset();
  withdraws_ = false;
  return true;
}

void ControlConnection::broken(int error, std::vector<ControlNews>& news) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket_.get(), nullptr);
  socket_.reset();
  if (relay_.open()) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, relay_.get(), nullptr);
  relay_.reset();
  const bool by_relay = back_.by_relay;
  if (answered_ || come_back() || left_ || may_end_) return;
  const std::string text =
      by_relay ? keeper_name() +
                     " does not answer, and the relay of this host, which led there, has ended"
               : keeper_name() + connection_broke(error);
  news.push_back({ControlNews::Kind::kFailed, keeper_.rank, 0, {Code::kPeerFailed, text}, {}});
}

std::string ControlConnection::keeper_name() const {
  const std::string host = text_of(keeper_.host);
  if (keeper_.rank >= 0) {
    return fmt::format("rank {} (pid {} on host {})", keeper_.rank, keeper_.pid, host);
  }
  return fmt::format("the process that keeps the ranks in touch (pid {} on host {})", keeper_.pid,
                     host);
}

// Whether the service has this rank back, whose relay has ended. What it missed comes as news.
// There is one attempt: whoever does not answer it within that time counts as gone.
bool ControlConnection::come_back() {
  if (!std::exchange(back_.by_relay, false) || !keeper_.returns.known()) return false;
  Fd socket;
  Session session(Session::Side::kMember, back_.id.name, back_.id.secret);
  const int64_t deadline_ms = now_ms() + kComeBackMs;
  if (connect_tcp(keeper_.returns, deadline_ms, socket) != 0) return false;
  if (!prove(session, socket, deadline_ms)) return false;
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) return false;
  socket_ = std::move(socket);
  session_ = std::move(session);
  waits_for_room_ = false;
  regroup_parts_.clear();
  heard_.rank = back_.rank;
  session_.put(FrameKind::kReturn, {bytes_of(heard_)});
  if (failed_) session_.put(FrameKind::kFail, {failure_bytes(failure_)});
  if (regroups_.has_value()) session_.put(FrameKind::kRegroup, {*regroups_});
  if (withdraws_) session_.put(FrameKind::kWithdraw, {});
  if (left_) session_.put(FrameKind::kLeave, {});
  flush();
  return true;
}

bool ControlConnection::prove(Session& session, const Fd& socket, int64_t deadline_ms) {
  Frame frame{};
  while (!session.established()) {
    std::vector<std::byte>& out = session.out();
    if (send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(out.size())) {
      return false;
    }
    out.clear();
    if (!wait_for(socket.get(), POLLIN, deadline_ms)) return false;
    std::byte buffer[1 << 10];
    const ssize_t got = recv(socket.get(), buffer, std::min(sizeof buffer, session.wants()), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return false;
    session.append({buffer, static_cast<size_t>(got)});
    if (session.next(frame) == Session::Got::kRefused) return false;
  }
  return true;
}

// Bytes that the system does not take at once are sent by the next call; fd() becomes readable when
// it takes more.
// False if the connection is broken, which read() would find, too.
bool ControlConnection::flush() {
  bool open = socket_.open();
  std::vector<std::byte>& out = session_.out();
  while (socket_.open() && !out.empty()) {
    const ssize_t sent = send(socket_.get(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      open = errno != EPIPE && errno != ECONNRESET;
      break;
    }
    out.erase(out.begin(), out.begin() + sent);
  }
  watch_for_room(!out.empty());
  return open;
}

void ControlConnection::watch_for_room(bool wanted) {
  if (wanted == waits_for_room_ || !socket_.open()) return;
  epoll_event event{.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), &event) == 0) waits_for_room_ = wanted;
}

void ControlConnection::tell(int rank, std::span<const std::byte> note) {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  session_.put(FrameKind::kTell, {bytes_of(rank), note});
  flush();
}

void ControlConnection::send_page(int rank, std::span<const std::byte> page) {
  const std::lock_guard lock(mutex_);
  if (left_ || session_.out().size() > kMostUnsent) return;
  session_.put(FrameKind::kSendPage, {bytes_of(rank), page});
  flush();
}

Status ControlConnection::regroup(std::span<const std::byte> part) {
  const std::lock_guard lock(mutex_);
  if (!socket_.open() || left_) {
    return {Code::kPeerFailed,
            keeper_name() + " kept the ranks in touch, and its line to this rank is broken"};
  }
  regroups_.emplace(part.begin(), part.end());
  session_.put(FrameKind::kRegroup, {part});
  flush();
  return {};
}

void ControlConnection::withdraw() {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  withdraws_ = regroups_.has_value();
  session_.put(FrameKind::kWithdraw, {});
  flush();
}

bool ControlConnection::is_open() {
  const std::lock_guard lock(mutex_);
  return socket_.open();
}

void ControlConnection::fail(const Status& cause) {
  const std::lock_guard lock(mutex_);
  if (failed_ || left_) return;
  failed_ = true;
  failure_ = cause;
  session_.put(FrameKind::kFail, {failure_bytes(cause)});
  flush();
}

void ControlConnection::leave() {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  left_ = true;
  session_.put(FrameKind::kLeave, {});
  if (!flush()) (void)come_back();
}

// The service hangs up once it has told the others, a relay once they have left, too. In the
// process of either that must come before the process may end. A relay in another process may end
// before it has passed on that this rank leaves: then the service is told once more.
ControlConnection::~ControlConnection() {
  try_to([this] { say_farewell(); });
}

void ControlConnection::say_farewell() {
  const bool by_relay = back_.by_relay;
  leave();
  if (!socket_.open()) return;
  const bool serves = peer_is_this_process(socket_.get());
  if (!serves && !by_relay) return;
  const int64_t deadline_ms = now_ms() + kFarewellMs;
  while (socket_.open() && (serves || !answered_) && wait_for(epoll_.get(), POLLIN, deadline_ms)) {
    (void)read();
  }
}

}  // namespace

Result<std::unique_ptr<Control>> make_control_connection(Fd socket, Session session,
                                                         const Keeper& keeper,
                                                         const WayBack& back) {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (!epoll.open() || epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) {
    return Status::system(errno, "watching the line to the other ranks: epoll");
  }
  Fd relay;
  if (const auto peer = peer_identity(socket.get()); back.by_relay && peer.ok()) {
    relay = peer_pidfd(socket.get(), peer->pid);
    if (relay.open() && epoll_ctl(epoll.get(), EPOLL_CTL_ADD, relay.get(), &event) != 0) {
      relay.reset();
    }
  }
  return std::unique_ptr<Control>(std::make_unique<ControlConnection>(
      std::move(socket), std::move(relay), std::move(epoll), std::move(session), keeper, back));
}

}  // namespace tutti::bootstrap
