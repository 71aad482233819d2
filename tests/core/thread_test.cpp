// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/thread.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "support/processes.hpp"

namespace tutti {
namespace {

TEST(Thread, BeginsWithAllSignalsBlockedAndLeavesThoseOfItsStarterAlone) {
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  sigset_t inside;
  sigemptyset(&inside);
  auto thread =
      start_thread("tutti-test", "a test", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &inside); });
  ASSERT_TRUE(thread.ok()) << thread.status().message();
  thread->join();
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

// Bytes that this process has mapped.
rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(getpagesize());
}

TEST(Thread, ThatCannotBeStartedIsNamedWithTheLikelyReason) {
  if (tutti_test::kSanitized) GTEST_SKIP() << "sanitizers need address space";
  tutti_test::run_processes({.count = 1, .killed = {}}, [](int) {
    // Address space for what malloc may need, and too little for a stack.
    const rlim_t limit = address_space() + (rlim_t{1} << 20);
    const rlimit little = {limit, limit};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
    // The C library may have kept stacks of threads that have ended.
    Result<std::thread> thread = Status();
    for (int tries = 0; tries < 100; ++tries) {
      thread = start_thread("tutti-test", "a thread for this test", [] { pause(); });
      if (!thread.ok()) break;
      thread->detach();
    }
    ASSERT_FALSE(thread.ok());
    EXPECT_EQ(thread.status().code(), Code::kSystem);
    const std::string text(thread.status().message());
    EXPECT_NE(text.find("starting a thread for this test (tutti-test)"), std::string::npos) << text;
    EXPECT_NE(text.find("ulimit -u"), std::string::npos) << text;
    EXPECT_NE(text.find("pids.max"), std::string::npos) << text;
  });
}

}  // namespace
}  // namespace tutti
