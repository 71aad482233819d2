// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/monitor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "support/forbidden.hpp"

namespace tutti {
namespace {

const std::vector<tutti_test::ForbiddenCall> kNoSleep = {
#if defined(SYS_epoll_wait)
    {SYS_epoll_wait, EPERM},
#endif
#if defined(SYS_poll)
    {SYS_poll, EPERM},
#endif
    {SYS_epoll_pwait, EPERM},
    {SYS_ppoll, EPERM}};

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
    end_unnoticed();
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void end_unnoticed() const { kill(pid_, SIGKILL); }
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

TEST_P(MonitorTest, SaysSoThoughTheParentHasNotTakenNote) {
  const Child child;
  Monitor monitor;
  std::atomic<int> died{-1};
  const auto token = monitor.watch({child.peer(1, GetParam())}, [&](int r) { died.store(r); });
  ASSERT_TRUE(token.ok()) << token.status().message();
  child.end_unnoticed();
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

// The kernel takes its memory apart, and only then is its descriptor readable.
TEST(Monitor, SaysSoByTheSignOfAProcessThatIsNotGoneYet) {
  const Child child;
  LifeSign sign{};
  Monitor monitor;
  std::atomic<int> died{-1};
  Monitor::Peer peer = child.peer(1, true);
  peer.sign = &sign;
  sign.signer = 1 | FUTEX_OWNER_DIED;
  const auto token = monitor.watch({peer}, [&](int rank) { died.store(rank); });
  ASSERT_TRUE(token.ok()) << token.status().message();
  wait_for(died, 1);
  EXPECT_TRUE(Monitor::has_ended(peer));
  monitor.remove(*token);
}

TEST(Monitor, SignsWhileItWatches) {
  const Child child;
  LifeSign own{};
  Monitor monitor;
  const auto token = monitor.watch(
      {child.peer(1, true)}, [](int) {}, {-1, nullptr, nullptr}, &own);
  ASSERT_TRUE(token.ok()) << token.status().message();
  while (own.signer.load() == 0) std::this_thread::yield();
  EXPECT_FALSE(has_ended(own));
  monitor.remove(*token);
  EXPECT_EQ(own.signer.load(), 0u);
}

TEST(Monitor, SeesDeathsThoughItMaySleepOnDescriptorsNoLonger) {
  if (!tutti_test::can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  const pid_t test = fork();
  if (test != 0) {
    int status = 0;
    ASSERT_EQ(waitpid(test, &status, 0), test);
    EXPECT_EQ(status, 0);
    return;
  }
  {
    Child child;
    Monitor monitor;
    std::atomic<int> died{-1};
    const auto token = monitor.watch({child.peer(1, true)}, [&](int r) { died.store(r); });
    if (!token.ok() || !tutti_test::forbid(kNoSleep)) _exit(1);
    child.end();
    wait_for(died, 1);
    monitor.remove(*token);
  }
  _exit(0);
}

// As communicators do that have ranks in one and the same process.
TEST(Monitor, TellsAllWhoWatchOneDescriptor) {
  Child child;
  Monitor monitor;
  std::atomic<int> told{0};
  const auto count = [&](int rank) { told.fetch_add(rank); };
  const auto first = monitor.watch({child.peer(1, true)}, count);
  const auto second = monitor.watch({child.peer(10, true)}, count);
  const auto third = monitor.watch({child.peer(100, true)}, count);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok()) << second.status().message();
  monitor.remove(*first);
  child.end();
  wait_for(told, 110);
  const auto late = monitor.watch({child.peer(1000, true)}, count);
  ASSERT_TRUE(late.ok()) << late.status().message();
  wait_for(told, 1110);
  for (const auto& token : {second, third, late}) monitor.remove(*token);
}

// So a stopped relay has been seen twice before a command that asks twice gives up.
TEST(Monitor, LooksSeveralTimesWithinASecond) {
  Monitor monitor;
  std::atomic<int> came{0};
  int looks = 0;  // since the last second; of the monitor's thread
  const auto token = monitor.watch({}, nullptr, {-1, nullptr, [&] { ++looks; }}, nullptr, [&] {
    if (looks >= 2) came.store(1);
    looks = 0;
  });
  ASSERT_TRUE(token.ok()) << token.status().message();
  wait_for(came, 1);
  monitor.remove(*token);
}

}  // namespace
}  // namespace tutti
