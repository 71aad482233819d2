// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tutti {
namespace {

// Descriptor 7 is a socket, 9 an eventfd, all others pipes; a poll and an epoll wait for `several`.
Descriptors descriptors(const std::vector<int>& several = {}) {
  return {.target =
              [](int descriptor) {
                if (descriptor == 9) return std::string("anon_inode:[eventfd]");
                return std::string(descriptor == 7 ? "socket:[4711]" : "pipe:[4712]");
              },
          .selected = [several](uint64_t, uint64_t) { return several; },
          .polled = [several](uint64_t, uint64_t) { return several; },
          .in_set = [several](int) { return several; }};
}

BlockedOn in_call(long number, uint64_t first = 0, uint64_t second = 0,
                  const std::vector<int>& several = {}) {
  const auto line =
      fmt::format("{} {:#x} {:#x} 0x0 0x0 0x0 0x0 0x7ffd 0x7f6e", number, first, second);
  return blocked_in(line, descriptors(several));
}

TEST(Blocked, KnowsWhatSystemCallsWaitFor) {
  EXPECT_EQ(in_call(SYS_clock_nanosleep), BlockedOn::kTime);
  EXPECT_EQ(in_call(SYS_futex), BlockedOn::kLock);
  EXPECT_EQ(in_call(SYS_wait4), BlockedOn::kChild);
  EXPECT_EQ(in_call(SYS_recvmsg), BlockedOn::kSocket);
  EXPECT_EQ(in_call(SYS_rt_sigsuspend), BlockedOn::kSignal);
  EXPECT_EQ(in_call(SYS_getpid), BlockedOn::kUnknown);
}

TEST(Blocked, TellsASocketFromAPipeByItsDescriptor) {
  EXPECT_EQ(in_call(SYS_read, 7), BlockedOn::kSocket);
  EXPECT_EQ(in_call(SYS_read, 8), BlockedOn::kFile);
}

TEST(Blocked, TakesAPollWithoutDescriptorsForASleep) {
  EXPECT_EQ(in_call(SYS_ppoll, 1, 0), BlockedOn::kTime);
  EXPECT_EQ(in_call(SYS_ppoll, 1, 2), BlockedOn::kSocket);
}

TEST(Blocked, TellsWhatAPollWaitsForByItsDescriptors) {
  EXPECT_EQ(in_call(SYS_ppoll, 1, 1, {8}), BlockedOn::kFile);
  EXPECT_EQ(in_call(SYS_ppoll, 1, 2, {8, 7}), BlockedOn::kSocket);
  EXPECT_EQ(in_call(SYS_ppoll, 1, 2, {9, 8}), BlockedOn::kFile);
  EXPECT_EQ(in_call(SYS_epoll_pwait, 3, 1, {9}), BlockedOn::kLock);
  EXPECT_EQ(in_call(SYS_epoll_pwait, 3, 1, {7}), BlockedOn::kSocket);
}

TEST(Blocked, TakesOnlyAWaitForALockOfAFileForOne) {
  EXPECT_EQ(in_call(SYS_fcntl, 3, F_SETLKW), BlockedOn::kLock);
  EXPECT_EQ(in_call(SYS_fcntl, 3, F_GETFL), BlockedOn::kUnknown);
}

TEST(Blocked, KnowsNothingOfAProcessThatRunsOrIsNotThere) {
  EXPECT_EQ(blocked_in("running", descriptors()), BlockedOn::kUnknown);
  EXPECT_EQ(blocked_in("", descriptors()), BlockedOn::kUnknown);
  EXPECT_EQ(blocked_on(-1), BlockedOn::kUnknown);
}

// What a process is seen to wait for that does this; the wait for it ends a hang and nothing else.
BlockedOn seen_in(const std::function<void()>& does, BlockedOn awaited) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    does();
    _exit(0);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (blocked_on(pid) != awaited && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const BlockedOn seen = blocked_on(pid);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return seen;
}

TEST(Blocked, SeesAProcessThatWaitsForAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const auto reads = [&] {
    char byte = 0;
    (void)!read(ends[0], &byte, 1);
  };
  const auto polls = [&] {
    pollfd one{.fd = ends[0], .events = POLLIN, .revents = 0};
    (void)poll(&one, 1, -1);
  };
  const auto selects = [&] {
    fd_set read;
    FD_ZERO(&read);
    FD_SET(ends[0], &read);
    (void)select(ends[0] + 1, &read, nullptr, nullptr, nullptr);
  };
  const auto polls_a_set = [&] {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{.events = EPOLLIN, .data = {}};
    (void)epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    (void)epoll_wait(set, &event, 1, -1);
  };
  EXPECT_EQ(seen_in(reads, BlockedOn::kFile), BlockedOn::kFile);
  EXPECT_EQ(seen_in(polls, BlockedOn::kFile), BlockedOn::kFile);
  EXPECT_EQ(seen_in(selects, BlockedOn::kFile), BlockedOn::kFile);
  EXPECT_EQ(seen_in(polls_a_set, BlockedOn::kFile), BlockedOn::kFile);
  close(ends[0]);
  close(ends[1]);
}

TEST(Blocked, SeesWhatAnotherThreadWaitsForOnceTheFirstHasEnded) {
  const auto leaves_a_thread_behind = [] {
    std::thread([] {
      prctl(PR_SET_NAME, "tutti-monitor");  // is no thread of the program
      for (;;) pause();
    }).detach();
    std::thread([] {
      for (;;) sleep(1000);
    }).detach();
    syscall(SYS_exit, 0);  // as pthread_exit, which would unwind the test's frames
  };
  EXPECT_EQ(seen_in(leaves_a_thread_behind, BlockedOn::kTime), BlockedOn::kTime);
}

}  // namespace
}  // namespace tutti
