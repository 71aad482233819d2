// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The thread that sleeps until a peer's process ends or a control connection has news.
#include "comm/monitor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "core/log.hpp"
#include "core/process_state.hpp"
#include "core/socket.hpp"
#include "core/thread.hpp"

namespace tutti {
namespace {

// What report_deaths() gets in place of a descriptor: any may have news, or none has.
constexpr int kAny = -1;
constexpr int kNone = -2;
// The time between two looks of ControlWatch: each may read files of /proc.
constexpr int64_t kControlLookEveryMs = 300;

// Not known where the system does not let this process ask.
std::optional<bool> is_readable(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  const int ready = poll(&entry, 1, 0);
  if (ready < 0) return std::nullopt;
  return ready == 1;
}

// Whether a process has ended, though its parent may not have reaped it yet.
bool is_over(int pid) {
  if (kill(pid, 0) != 0) return errno == ESRCH;
  return process_stat(pid).dead();
}

}  // namespace

bool Monitor::has_ended(const Peer& peer) {
  if (peer.sign != nullptr && tutti::has_ended(*peer.sign)) return true;
  const std::optional<bool> told = peer.pidfd < 0 ? std::nullopt : is_readable(peer.pidfd);
  return told ? *told : peer.pid > 0 && is_over(peer.pid);
}

Monitor::~Monitor() {
  if (thread_.joinable()) {
    stopping_.store(true);
    wake();
    thread_.join();
  }
}

Status Monitor::start() {
  if (thread_.joinable()) return {};
  if (!epoll_.open()) epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!wake_.open()) wake_.reset(eventfd(0, EFD_CLOEXEC));
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.get()}};
  const bool opened = epoll_.open() && wake_.open();
  if (!opened ||
      (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0 && errno != EEXIST)) {
    return Status::system(errno, "watching peer processes: epoll");
  }
  auto thread = start_thread("tutti-monitor", "the thread that watches peers", [this] { run(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  begun_.wait();
  return {};
}

Status Monitor::begin() {
  const std::lock_guard lock(mutex_);
  return start();
}

void Monitor::wake() const {
  const uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

Result<Monitor::Token> Monitor::watch(std::vector<Peer> peers, std::function<void(int rank)> died,
                                      ControlWatch control, LifeSign* own,
                                      std::function<void()> each_second) {
  const std::lock_guard lock(mutex_);
  TUTTI_RETURN_IF_ERROR(start());
  for (const Peer& peer : peers) {
    if (peer.pidfd >= 0) TUTTI_RETURN_IF_ERROR(expect_end_of(peer.pidfd));
  }
  if (control.fd >= 0) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = control.fd}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, control.fd, &event) != 0) {
      return Status::system(errno, "listening to ranks on other hosts: epoll_ctl");
    }
  }
  const Token token = next_token_++;
  watches_[token] = {std::move(peers), std::move(died), std::move(control), own,
                     std::move(each_second)};
  if (own == nullptr) return token;
  try {
    signs_.sign(*own);  // at once: an exec ends nothing that a descriptor would tell of
  } catch (...) {
    watches_.erase(token);
    throw;
  }
  return token;
}

// A level-triggered event would repeat for ever once a peer has ended: each watch gets one event,
// which comes at once if the peer has ended already, also where another watch has had one.
Status Monitor::expect_end_of(int pidfd) const {
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = pidfd}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd, &event) == 0) return {};
  if (errno == EEXIST && epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, pidfd, &event) == 0) return {};
  return Status::system(errno, "watching peer processes: epoll_ctl");
}

void Monitor::remove(Token token) {
  const std::lock_guard lock(mutex_);
  const auto found = watches_.find(token);
  if (found == watches_.end()) return;
  const Watch removed = std::move(found->second);
  if (removed.own != nullptr) signs_.withdraw(*removed.own);
  watches_.erase(found);
  for (const Peer& peer : removed.peers) {
    const bool alone = peer.pidfd >= 0 && !is_watched(peer.pidfd);
    if (alone) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.pidfd, nullptr);
  }
  const int control = removed.control.fd;
  if (control >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, control, nullptr);
}

bool Monitor::is_watched(int pidfd) const {
  return std::ranges::any_of(watches_, [pidfd](const auto& entry) {
    const std::vector<Peer>& peers = entry.second.peers;
    return std::ranges::find(peers, pidfd, &Peer::pidfd) != peers.end();
  });
}

void Monitor::run() {
  signs_.begin();
  begun_.count_down();
  bool lacks_memory = false;
  while (!stopping_.load()) {
    const int readable = sleep();
    try {
      report_deaths(lacks_memory ? kAny : readable);
      if (readable != kNone) listen();
      look_now_and_then();
      lacks_memory = false;
    } catch (const std::bad_alloc&) {  // a death that could not be told stays to be told
      lacks_memory = true;
      pause_for(kLookWithinMs);
    }
  }
}

// Returns the descriptor that has news.
int Monitor::sleep() const {
  epoll_event event{};
  const int ready = epoll_wait(epoll_.get(), &event, 1, kLookWithinMs);
  const int error = ready < 0 ? errno : 0;
  (void)now_ms();  // the look by which all others know that this process runs
  if (ready == 0 || error == EINTR) return kNone;
  if (ready < 0) {  // a filter of system calls, set since the start
    static std::once_flag said;
    std::call_once(said, [error] {
      log::warn(
          "this process may not sleep until a peer ends (epoll_wait: {}): it looks after all "
          "of them every {} ms instead",
          std::strerror(error), kLookWithinMs);
    });
    pause_for(kLookWithinMs);
    return kAny;
  }
  uint64_t count = 0;
  if (event.data.fd == wake_.get() && read(wake_.get(), &count, sizeof count) < 0) return kNone;
  return event.data.fd;
}

void Monitor::look_now_and_then() {
  const int64_t now_ms = host_ms();
  if (now_ms < next_look_ms_) return;
  next_look_ms_ = now_ms + kControlLookEveryMs;
  const bool second = now_ms >= next_second_ms_;
  if (second) next_second_ms_ = now_ms + 1000;
  const std::lock_guard lock(mutex_);
  for (const auto& [token, watch] : watches_) {
    if (watch.control.look) watch.control.look();
    if (second && watch.each_second) watch.each_second();
  }
}

void Monitor::listen() {
  const std::lock_guard lock(mutex_);
  for (auto& [token, watch] : watches_) {
    if (watch.control.fd < 0 || !is_readable(watch.control.fd).value_or(true)) continue;
    watch.control.readable();
  }
}

// Looks at the signs of all, and at those whose descriptor is readable or that have none.
void Monitor::report_deaths(int readable) {
  const std::lock_guard lock(mutex_);
  for (auto& [token, watch] : watches_) {
    std::erase_if(watch.peers, [&watch = watch, readable](const Peer& peer) {
      const bool signs_end = peer.sign != nullptr && tutti::has_ended(*peer.sign);
      const bool may_have_ended =
          signs_end || readable == kAny || peer.pidfd < 0 || peer.pidfd == readable;
      if (!may_have_ended || !has_ended(peer)) return false;
      watch.died(peer.rank);
      return true;
    });
  }
}

}  // namespace tutti
