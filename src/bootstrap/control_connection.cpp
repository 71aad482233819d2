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

#include "bootstrap/contributions.hpp"
#include "core/caught.hpp"
#include "core/process_state.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {
namespace {

// The bytes that wait to be sent beyond which pages, for who looks from outside, are left out.
constexpr size_t kMostUnsent = 4 << 20;
// The time for a rank that comes back to connect to the service and to prove the secret.
constexpr int64_t kComeBackMs = 3000;
// The looks in a row that find the relay's process stopped before a rank goes around it.
constexpr int kLooks = 2;
// The most ranks of a round of regrouping.
constexpr size_t kMostRegrouping = 1 << 20;

// The process of the relay to which a rank is connected.
struct RelayProcess {
  // The relay's pidfd, until that process has ended: a child that it forked may hold the other end
  // of the socket open. Not open if there is no relay, or no pidfd.
  Fd end;
  // The connection to it that a bypass has replaced. Closed at once, a relay that runs could tell
  // the service that this rank has gone before the service knows that it came back.
  Fd replaced;
  int pid = 0;  // 0: not known, or there is no relay, or in this process
};

// A socket, and what is said and heard over it.
struct Line {
  Fd socket;
  Session session;
  bool waits_for_room = false;  // the epoll instance waits for room to write

  // Takes in some of what has come; returns as recv(2), but is never interrupted.
  ssize_t receive() {
    std::byte buffer[4 << 10];
    ssize_t got = 0;
    while ((got = recv(socket.get(), buffer, sizeof buffer, 0)) < 0 && errno == EINTR) {
    }
    if (got > 0) session.append({buffer, static_cast<size_t>(got)});
    return got;
  }
};

class ControlConnection final : public Control {
 public:
  ControlConnection(Line line, RelayProcess relay, Fd epoll, const Keeper& keeper,
                    const WayBack& back)
      : back_(back),
        line_(std::move(line)),
        relay_(std::move(relay)),
        epoll_(std::move(epoll)),
        keeper_(keeper) {}
  ~ControlConnection() override;
  ControlConnection(const ControlConnection&) = delete;

  [[nodiscard]] int fd() const override { return epoll_.get(); }
  std::vector<ControlNews> read() override;
  void look() override;
  void tell(int rank, std::span<const std::byte> body) override;
  void send_page(int rank, std::span<const std::byte> page) override;
  Status regroup(std::span<const std::byte> contribution) override;
  void withdraw() override;
  [[nodiscard]] bool is_open() override;
  void fail(const Status& cause) override;
  void leave() override;

 private:
  // A connection to the service, in the making. It takes the place of the one to the relay once the
  // service has proved that it knows the secret.
  struct Bypass {
    Line line;
    int64_t until_ms;
  };

  [[nodiscard]] std::string keeper_name() const;
  bool flush() { return flush(line_); }
  bool flush(Line& line) const;
  void say_farewell();
  void hear(std::vector<ControlNews>& news);
  void understand(std::vector<ControlNews>& news);
  bool take_regroup_parts(std::span<const std::byte> body, std::vector<ControlNews>& news);
  bool begin_bypass();
  bool prove(Line& line) const;
  void go_on(std::vector<ControlNews>& news);
  void say_again();
  void drop_relay();
  void broken(int error, std::vector<ControlNews>& news);
  void lost(int error, std::vector<ControlNews>& news);

  WayBack back_;
  std::mutex mutex_;  // guards everything below but epoll_ and keeper_
  Line line_;
  RelayProcess relay_;
  int stopped_looks_ = 0;  // how often in a row the relay's process was seen to be stopped
  std::optional<Bypass> bypass_;
  // An epoll instance that watches the descriptors: a closed socket would be readable for ever.
  const Fd epoll_;
  const Keeper keeper_;
  bool failed_ = false;  // has said so; once is enough
  bool left_ = false;
  // The service's process may end without that being a failure: its ranks have left.
  bool may_end_ = false;
  bool answered_ = false;                // kLeave was answered
  Contributions regroup_contributions_;  // contributions to the round whose outcome is coming
  // Words that are to be said again after a return, and what this rank has been told.
  Status failure_;
  std::optional<std::vector<std::byte>> regroups_;  // this rank's contribution to the round
  bool withdraws_ = false;
  Return heard_{};
};

std::vector<ControlNews> ControlConnection::read() {
  const std::lock_guard lock(mutex_);
  std::vector<ControlNews> news;
  flush();
  hear(news);
  if (bypass_.has_value()) go_on(news);
  return news;
}

void ControlConnection::hear(std::vector<ControlNews>& news) {
  // The end is asked for first: then all that the relay has said is in the socket.
  const bool relay_ended = relay_.end.open() && wait_for(relay_.end.get(), POLLIN, 0);
  while (line_.socket.open()) {
    const ssize_t got = line_.receive();
    const bool no_more = got < 0 && errno == EAGAIN;
    if (no_more && !(relay_ended && relay_.end.open())) return;
    if (got <= 0) return broken(got < 0 && !no_more ? errno : 0, news);
    understand(news);
  }
}

void ControlConnection::understand(std::vector<ControlNews>& news) {
  MeetingFrame frame{};
  Session::Got got;
  while ((got = line_.session.next(frame)) == Session::Got::kFrame) {
    int32_t rank = -1;
    if (frame.kind == MeetingFrameKind::kGoodbye) {
      may_end_ = true;
      answered_ = left_;
    } else if (frame.kind == MeetingFrameKind::kServiceLost &&
               take(frame.body, rank)) {  // the error
      back_.by_relay = false;
      return broken(rank, news);
    } else if (frame.kind == MeetingFrameKind::kFailed && take(frame.body, rank)) {
      ++heard_.failures;
      news.push_back({ControlNews::Kind::kFailed, rank, 0, failure_in(frame.body), {}});
    } else if (frame.kind == MeetingFrameKind::kLeft) {
      while (take(frame.body, rank)) {
        ++heard_.left;
        news.push_back({.kind = ControlNews::Kind::kLeft, .rank = rank});
      }
    } else if (frame.kind == MeetingFrameKind::kTold && take(frame.body, rank)) {
      news.push_back(
          {ControlNews::Kind::kTold, rank, 0, {}, {frame.body.begin(), frame.body.end()}});
    } else if (frame.kind == MeetingFrameKind::kPage && take(frame.body, rank)) {
      news.push_back(
          {ControlNews::Kind::kPage, rank, 0, {}, {frame.body.begin(), frame.body.end()}});
    } else if (frame.kind == MeetingFrameKind::kRegroupContributions) {
      if (!take_regroup_parts(frame.body, news)) return broken(EPROTO, news);
    } else if (frame.kind == MeetingFrameKind::kWithdrawn && take(frame.body, rank)) {
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
  if (!body.empty()) return take_contributions(body, kMostRegrouping, regroup_contributions_);
  for (const std::vector<std::byte>& contribution : std::exchange(regroup_contributions_, {})) {
    std::span<const std::byte> rest = contribution;
    int32_t rank = -1;
    if (!take(rest, rank) || rest.size() > kMostNewsBytes) return false;
    news.push_back({ControlNews::Kind::kContribution, rank, 0, {}, {rest.begin(), rest.end()}});
  }
  news.push_back({.kind = ControlNews::Kind::kRegrouped, .rank = -1});
  ++heard_.rounds;
  regroups_.reset();
  withdraws_ = false;
  return true;
}

// Goes around the relay, if the broken connection led to one, in one attempt.
void ControlConnection::broken(int error, std::vector<ControlNews>& news) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line_.socket.get(), nullptr);
  line_.socket.reset();
  drop_relay();
  if (!bypass_.has_value() && !answered_ && begin_bypass()) return;
  if (!bypass_.has_value()) lost(error, news);
}

void ControlConnection::lost(int error, std::vector<ControlNews>& news) {
  const bool by_relay = std::exchange(back_.by_relay, false);
  if (answered_ || left_ || may_end_) return;
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

// ---- around the relay --------------------------------------------------------------------------

// A relay whose process is stopped passes nothing on. A bypass that takes too long is cut, so that
// read() finds its end: nothing may come over it.
void ControlConnection::look() {
  const std::lock_guard lock(mutex_);
  if (bypass_.has_value() && now_ms() >= bypass_->until_ms) {
    shutdown(bypass_->line.socket.get(), SHUT_RDWR);
  }
  if (!back_.by_relay || bypass_.has_value() || !line_.socket.open()) return;
  stopped_looks_ = process_state(relay_.pid).stopped() ? stopped_looks_ + 1 : 0;
  if (stopped_looks_ >= kLooks && begin_bypass()) stopped_looks_ = 0;
}

// The connection to the relay, if there still is one, is in use until the bypass has succeeded.
bool ControlConnection::begin_bypass() {
  if (!back_.by_relay || !keeper_.returns.known()) return false;
  Line line{.socket = {},
            .session = Session(Session::Side::kMember, back_.id.name, back_.id.secret),
            .waits_for_room = true};
  if (start_tcp({}, keeper_.returns, line.socket) != 0) return false;
  epoll_event event{.events = EPOLLIN | EPOLLOUT, .data = {}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, line.socket.get(), &event) != 0) return false;
  bypass_.emplace(Bypass{std::move(line), now_ms() + kComeBackMs});
  return true;
}

// Goes on with the proof of the secret as far as it can; false: it has failed.
bool ControlConnection::prove(Line& line) const {
  MeetingFrame frame{};
  while (!line.session.established()) {
    if (!flush(line)) return false;
    const ssize_t got = line.receive();
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0 || line.session.next(frame) == Session::Got::kRefused) return false;
  }
  return true;
}

// Goes on with the bypass. What this rank missed comes as news. There is one attempt if the relay
// has ended: a service that does not answer in time counts as gone.
void ControlConnection::go_on(std::vector<ControlNews>& news) {
  Line& line = bypass_->line;
  if (!prove(line) || (!line.session.established() && now_ms() >= bypass_->until_ms)) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line.socket.get(), nullptr);
    bypass_.reset();
    if (!line_.socket.open()) lost(0, news);
    return;
  }
  if (!line.session.established()) return;
  heard_.relay_runs = line_.socket.open() ? 1 : 0;
  if (line_.socket.open()) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line_.socket.get(), nullptr);
  drop_relay();
  relay_.replaced = std::exchange(line_, std::move(line)).socket;
  bypass_.reset();
  back_.by_relay = false;
  say_again();
}

void ControlConnection::say_again() {
  regroup_contributions_.clear();
  heard_.rank = back_.rank;
  line_.session.put(MeetingFrameKind::kReturn, {bytes_of(heard_)});
  if (failed_) line_.session.put(MeetingFrameKind::kFail, {failure_bytes(failure_)});
  if (regroups_.has_value()) line_.session.put(MeetingFrameKind::kRegroup, {*regroups_});
  if (withdraws_) line_.session.put(MeetingFrameKind::kWithdraw, {});
  if (left_) line_.session.put(MeetingFrameKind::kLeave, {});
  flush();
}

void ControlConnection::drop_relay() {
  if (relay_.end.open()) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, relay_.end.get(), nullptr);
  relay_.end.reset();
}

// ---- what is said ------------------------------------------------------------------------------

// Sends what the system takes at once; fd() becomes readable when it takes more. False if the
// connection is broken, which read() would find, too.
bool ControlConnection::flush(Line& line) const {
  bool open = line.socket.open();
  std::vector<std::byte>& out = line.session.out();
  while (line.socket.open() && !out.empty()) {
    const ssize_t sent =
        send(line.socket.get(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      open = errno != EPIPE && errno != ECONNRESET;
      break;
    }
    out.erase(out.begin(), out.begin() + sent);
  }
  const bool wanted = !out.empty();
  if (wanted == line.waits_for_room || !line.socket.open()) return open;
  epoll_event event{.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {}};
  const int changed = epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, line.socket.get(), &event);
  if (changed == 0) line.waits_for_room = wanted;
  return open;
}

void ControlConnection::tell(int rank, std::span<const std::byte> body) {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  line_.session.put(MeetingFrameKind::kTell, {bytes_of(rank), body});
  flush();
}

void ControlConnection::send_page(int rank, std::span<const std::byte> page) {
  const std::lock_guard lock(mutex_);
  if (left_ || line_.session.out().size() > kMostUnsent) return;
  line_.session.put(MeetingFrameKind::kSendPage, {bytes_of(rank), page});
  flush();
}

Status ControlConnection::regroup(std::span<const std::byte> contribution) {
  const std::lock_guard lock(mutex_);
  if ((!line_.socket.open() && !bypass_.has_value()) || left_) {
    return {Code::kPeerFailed,
            keeper_name() + " kept the ranks in touch, and its line to this rank is broken"};
  }
  regroups_.emplace(contribution.begin(), contribution.end());
  line_.session.put(MeetingFrameKind::kRegroup, {contribution});
  flush();
  return {};
}

void ControlConnection::withdraw() {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  withdraws_ = regroups_.has_value();
  line_.session.put(MeetingFrameKind::kWithdraw, {});
  flush();
}

bool ControlConnection::is_open() {
  const std::lock_guard lock(mutex_);
  return line_.socket.open() || bypass_.has_value();
}

void ControlConnection::fail(const Status& cause) {
  const std::lock_guard lock(mutex_);
  if (failed_ || left_) return;
  failed_ = true;
  failure_ = cause;
  line_.session.put(MeetingFrameKind::kFail, {failure_bytes(cause)});
  flush();
}

void ControlConnection::leave() {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  left_ = true;
  line_.session.put(MeetingFrameKind::kLeave, {});
  std::vector<ControlNews> none;
  if (!flush() && back_.by_relay) broken(0, none);
}

ControlConnection::~ControlConnection() {
  try_to([this] { say_farewell(); });
}

// The service hangs up once it has told the others, a relay once they have left, too. In the
// process of either that must come before the process may end. A relay in another process may end
// before it has passed on that this rank leaves, or be stopped. Then the service is told once more,
// in one attempt, as it may be gone, too.
void ControlConnection::say_farewell() {
  const bool by_relay = back_.by_relay;
  leave();
  if (!is_open()) return;
  const bool serves = peer_is_this_process(line_.socket.get());
  if (!serves && !by_relay) return;
  int64_t deadline_ms = now_ms() + kFarewellMs;
  bool goes_around = false;
  while (is_open() && (serves || !answered_)) {
    if (bypass_.has_value()) deadline_ms = std::max(deadline_ms, bypass_->until_ms);
    if (!wait_for(epoll_.get(), POLLIN, deadline_ms)) {
      const bool stopped = !serves && process_state(relay_.pid).stopped();
      if (!stopped || bypass_.has_value() || !begin_bypass()) return;
      goes_around = true;
    }
    (void)read();
    if (goes_around && back_.by_relay && !bypass_.has_value()) return;
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
  RelayProcess relay;
  if (const auto peer = peer_identity(socket.get()); back.by_relay && peer.ok()) {
    relay.end = peer_pidfd(socket.get(), peer->pid);
    if (relay.end.open() && epoll_ctl(epoll.get(), EPOLL_CTL_ADD, relay.end.get(), &event) != 0) {
      relay.end.reset();
    }
    if (peer->pid != getpid()) relay.pid = peer->pid;
  }
  return std::unique_ptr<Control>(
      std::make_unique<ControlConnection>(Line{std::move(socket), std::move(session)},
                                          std::move(relay), std::move(epoll), keeper, back));
}

}  // namespace tutti::bootstrap
