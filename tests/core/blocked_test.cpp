// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tutti {
namespace {

BlockedOn in_call(long number, uint64_t first = 0, uint64_t second = 0) {
  const auto line =
      fmt::format("{} {:#x} {:#x} 0x0 0x0 0x0 0x0 0x7ffd 0x7f6e", number, first, second);
  return blocked_in(line, [](int descriptor) {
    return std::string(descriptor == 7 ? "socket:[4711]" : "pipe:[4712]");
  });
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

TEST(Blocked, TakesOnlyAWaitForALockOfAFileForOne) {
  EXPECT_EQ(in_call(SYS_fcntl, 3, F_SETLKW), BlockedOn::kLock);
  EXPECT_EQ(in_call(SYS_fcntl, 3, F_GETFL), BlockedOn::kUnknown);
}

TEST(Blocked, KnowsNothingOfAProcessThatRunsOrIsNotThere) {
  const auto nothing = [](int) { return std::string(); };
  EXPECT_EQ(blocked_in("running", nothing), BlockedOn::kUnknown);
  EXPECT_EQ(blocked_in("", nothing), BlockedOn::kUnknown);
  EXPECT_EQ(blocked_on(-1), BlockedOn::kUnknown);
}

TEST(Blocked, SeesAProcessThatReadsAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte = 0;
    (void)!read(ends[0], &byte, 1);
    _exit(0);
  }
  // Ends a hang and nothing else.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (blocked_on(pid) != BlockedOn::kFile && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(blocked_on(pid), BlockedOn::kFile);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tutti
