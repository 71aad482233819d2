// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/monitor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace tutti {
namespace {

// A child that sleeps until it is killed.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  }
  ~Child() {
    end();
    if (pidfd_ >= 0) close(pidfd_);
  }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  Monitor::Peer peer(int rank, bool with_pidfd) const {
    return {.pidfd = with_pidfd ? pidfd_ : -1, .pid = pid_, .rank = rank};
  }

 private:
  pid_t pid_;
  int pidfd_ = -1;
};

void wait_for(const std::atomic<int>& value, int expected) {
  while (value.load() != expected) std::this_thread::yield();
}

class MonitorTest : public testing::TestWithParam<bool> {};

TEST_P(MonitorTest, SaysWhichPeerDied) {
  Child first;
  Child second;
  Monitor monitor;
  std::atomic<int> died{-1};
  const auto token = monitor.watch({first.peer(1, GetParam()), second.peer(2, GetParam())},
                                   [&](int rank) { died.store(rank); });
  ASSERT_TRUE(token.ok()) << token.status().message();
  second.end();
  wait_for(died, 2);
  first.end();
  wait_for(died, 1);
  monitor.remove(*token);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPidfd, MonitorTest, testing::Bool());

TEST(Monitor, SaysNothingAfterRemoval) {
  Child child;
  Child other;
  Monitor monitor;
  std::atomic<int> died{0};
  std::atomic<int> others{0};
  const auto token = monitor.watch({child.peer(1, true)}, [&](int) { died.fetch_add(1); });
  const auto kept = monitor.watch({other.peer(5, true)}, [&](int rank) { others.store(rank); });
  ASSERT_TRUE(token.ok() && kept.ok());
  monitor.remove(*token);
  child.end();
  other.end();
  wait_for(others, 5);
  EXPECT_EQ(died.load(), 0);
}

}  // namespace
}  // namespace tutti
