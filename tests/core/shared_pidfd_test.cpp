// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/shared_pidfd.hpp"

#include <gtest/gtest.h>
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

TEST(SharedPidfd, OfAProcessThatCannotBeSeenIsNotShared) {
  const SharedPidfd first = share_pidfd(pidfd_of(getpid()), 0);
  if (first == nullptr) GTEST_SKIP() << "this system has no pidfds";
  EXPECT_NE(share_pidfd(pidfd_of(getpid()), 0), first);
  EXPECT_EQ(share_pidfd(Fd(), getpid()), nullptr);
}

}  // namespace
}  // namespace tutti
