// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Notices the death of peer processes: one thread per process, asleep in epoll on the pidfds of all
// peers of all communicators.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/status.hpp"

namespace tutti {

class Monitor {
 public:
  Monitor() = default;
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  using Token = uint64_t;
  struct Peer {
    int pidfd = -1;  // stays the caller's, may be in several watches; -1: `pid` is looked up every
                     // 50 ms instead
    int pid = 0;
    int rank = 0;
  };
  static bool has_ended(const Peer& peer);
  // What tells of others by being readable; no descriptor: none.
  struct Line {
    int fd;  // stays the caller's
    std::function<void()> readable;
  };
  // Calls died(rank), once for each peer that ends, and line.readable() whenever it is, in the
  // monitor's thread, until removed.
  Result<Token> watch(std::vector<Peer> peers, std::function<void(int rank)> died,
                      Line line = {-1, nullptr});
  // Afterwards died() is not running and will not run.
  void remove(Token token);

 private:
  struct Watch {
    std::vector<Peer> peers;
    std::function<void(int)> died;
    Line line;
  };
  Status start();
  void wake() const;
  Status expect_end_of(int pidfd) const;
  [[nodiscard]] bool is_watched(int pidfd) const;
  void run();
  [[nodiscard]] int look_after_ms();
  void report_deaths(int readable);
  void listen();

  std::mutex mutex_;
  std::map<Token, Watch> watches_;  // guarded by mutex_
  Token next_token_ = 1;            // guarded by mutex_
  int epoll_ = -1;
  int wake_ = -1;  // eventfd: look at what has changed
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tutti
