// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors that are handed over when asked for.
#include "views/handed_fds.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

constexpr uint64_t kAllocation = 7;

// What who asks for that of an owner who has `allocation` under that number is answered.
Status answer_to(uint64_t allocation) {
  Result<Fd> got = Fd();
  run_thread_ranks(1, [&](Communicator& comm) {
    FdServer server;
    const Fd shown(dup(STDERR_FILENO));
    Task task = ask_for_fd(server.address(), {allocation, shown.get()}, comm, got);
    for (;;) {
      const Result<bool> over = task.poll();
      ASSERT_TRUE(over.ok());
      if (*over) break;
      server.serve([&](const WantedFd& wanted) {
        return wanted.allocation == kAllocation && wanted.fd == shown.get();
      });
    }
    if (got.ok()) {
      EXPECT_TRUE(got->open());
      EXPECT_NE(got->get(), shown.get());
    }
  });
  return got.status();
}

TEST(HandedFds, AreThoseOfTheAllocationThatIsAskedFor) { EXPECT_TRUE(answer_to(kAllocation).ok()); }

TEST(HandedFds, AreRefusedIfAnotherAllocationHasTheNumberByNow) {
  EXPECT_FALSE(answer_to(kAllocation + 1).ok());
}

}  // namespace
}  // namespace tutti
