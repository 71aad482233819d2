// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Notices the death of peer processes (a failure detector). One thread per process sleeps in epoll
// on the pidfds of all peers of all communicators. It looks at the life signs of all of them every
// kLookWithinMs.
//
// Either tells of a death what the other does not. A life sign tells at once, but rests on memory
// that a dying process may have spoilt. A pidfd tells of every end, but only when the kernel has
// taken the memory of the process apart.
#pragma once

#include <atomic>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/fd.hpp"
#include "core/life_sign.hpp"
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
    int pidfd = -1;  // stays the caller's, may be in several watches; -1: `pid` is looked up
    int pid = 0;
    int rank = 0;
    const LifeSign* sign = nullptr;  // life sign of the peer's monitor; null: it has none
  };
  // Whether the process of a peer has ended, by its life sign, its pidfd or its pid.
  static bool has_ended(const Peer& peer);
  // A descriptor that is readable when other hosts have news; negative: none.
  struct ControlWatch {
    int fd;  // descriptor, which stays the caller's
    std::function<void()> readable;
    std::function<void()> look;  // several times a second; may be null
  };
  // Starts the thread and opens its descriptors. Else the first watch() does.
  Status begin();
  // Calls died(rank) once for each peer that ends, and control.readable() whenever it is. Both are
  // called in the monitor's thread, until the watch is removed. `own` is signed for that thread
  // at once and until then, and each_second() is called about once a second; both may be null.
  Result<Token> watch(std::vector<Peer> peers, std::function<void(int rank)> died,
                      ControlWatch control = {-1, nullptr, nullptr}, LifeSign* own = nullptr,
                      std::function<void()> each_second = nullptr);
  // Afterwards died() is not running and will not run.
  void remove(Token token);

 private:
  struct Watch {
    std::vector<Peer> peers;
    std::function<void(int)> died;
    ControlWatch control;
    LifeSign* own;
    std::function<void()> each_second;
  };
  Status start();
  void wake() const;
  Status expect_end_of(int pidfd) const;
  [[nodiscard]] bool is_watched(int pidfd) const;
  void run();
  int sleep() const;
  void look_now_and_then();
  void report_deaths(int readable);
  void listen();

  std::mutex mutex_;
  std::map<Token, Watch> watches_;  // guarded by mutex_
  Token next_token_ = 1;            // guarded by mutex_
  LifeSigns signs_;                 // guarded by mutex_; of the monitor's thread
  std::latch begun_{1};             // the thread runs, and its signs are ready
  int64_t next_look_ms_ = 0;        // the thread's own, as is the next
  int64_t next_second_ms_ = 0;
  Fd epoll_;
  Fd wake_;  // eventfd: look at what has changed
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tutti
