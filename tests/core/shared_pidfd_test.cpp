// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/shared_pidfd.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/socket.hpp"

namespace tutti {
namespace {

TEST(SharedPidfd, IsTheSameForAProcessAsLongAsAnybodyHoldsIt) {
  SharedPidfd first = share_pidfd(pidfd_of(getpid()), getpid());
  if (first == nullptr) GTEST_SKIP() << "this system has no pidfds";
  SharedPidfd second = share_pidfd(pidfd_of(getpid()), getpid());
  EXPECT_EQ(first, second);
  EXPECT_NE(share_pidfd(pidfd_of(getppid()), getppid()), first);
  const std::weak_ptr<const Fd> seen = first;
  first = nullptr;
  second = nullptr;
  EXPECT_TRUE(seen.expired());
  EXPECT_NE(share_pidfd(pidfd_of(getpid()), getpid()), nullptr);
}

// A number may be another process's once the one that had it has ended.
TEST(SharedPidfd, OfAProcessThatHasEndedIsNotTakenForAnothers) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const SharedPidfd first = share_pidfd(pidfd_of(child), child);
  if (first == nullptr) {
    waitpid(child, nullptr, 0);
    GTEST_SKIP() << "this system has no pidfds, or opens none of a process that has ended";
  }
  EXPECT_NE(share_pidfd(pidfd_of(child), child), first);
  const SharedPidfd alive = share_pidfd(pidfd_of(getpid()), getpid());
  EXPECT_NE(share_pidfd(pidfd_of(child), getpid()), alive);
  waitpid(child, nullptr, 0);
}

TEST(SharedPidfd, OfAProcessThatCannotBeSeenIsNotShared) {
  const SharedPidfd first = share_pidfd(pidfd_of(getpid()), 0);
  if (first == nullptr) GTEST_SKIP() << "this system has no pidfds";
  EXPECT_NE(share_pidfd(pidfd_of(getpid()), 0), first);
  EXPECT_EQ(share_pidfd(Fd(), getpid()), nullptr);
}

}  // namespace
}  // namespace tutti
