// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The clock of a process, by which deadlines count.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/socket.hpp"
#include "core/wait.hpp"

namespace tutti {
namespace {

// What is less than one unit of the clock, at both ends.
constexpr int64_t kInexactMs = 20;

// Runs body() in a process, which may stop itself: it goes on after so long. 0: all was well.
template <typename Body>
int in_a_process_that_stops(int64_t stop_ms, const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
    usleep(static_cast<useconds_t>(stop_ms * 1000));
    kill(child, SIGCONT);
  }
  return status;
}

TEST(OwnTime, StandsStillWhileTheProcessIsStopped) {
  constexpr int64_t kStopMs = 4 * kMostBetweenLooksMs;
  EXPECT_EQ(in_a_process_that_stops(kStopMs,
                                    [] {
                                      const int64_t begin_ms = now_ms();
                                      const int64_t rough_begin_ms = rough_ms();
                                      const int64_t host_begin_ms = host_ms();
                                      raise(SIGSTOP);
                                      const int64_t most = kMostBetweenLooksMs + kInexactMs;
                                      return host_ms() - host_begin_ms >= kStopMs &&
                                             now_ms() - begin_ms <= most &&
                                             rough_ms() - rough_begin_ms <= most + kRoughMs;
                                    }),
            0);
}

TEST(OwnTime, GoesOnWithThatOfTheHostWhileSomebodyLooks) {
  const int64_t begin_ms = now_ms();
  const int64_t host_begin_ms = host_ms();
  int64_t missed_ms = 0;  // where this test itself did not run for long
  int64_t last_ms = host_begin_ms;
  while (last_ms - host_begin_ms < 2 * kMostBetweenLooksMs) {
    (void)now_ms();
    const int64_t host = host_ms();
    if (host - last_ms > kMostBetweenLooksMs / 2) missed_ms += host - last_ms;
    last_ms = host;
  }
  EXPECT_GE(now_ms() - begin_ms, host_ms() - host_begin_ms - missed_ms - kInexactMs);
}

TEST(OwnTime, NeverGoesBack) {
  EXPECT_EQ(in_a_process_that_stops(2 * kMostBetweenLooksMs,
                                    [] {
                                      int64_t last_ms = now_ms();
                                      for (int i = 0; i < 1000; ++i) {
                                        if (i == 500) raise(SIGSTOP);
                                        const int64_t now = now_ms();
                                        if (now < last_ms - kInexactMs) return false;
                                        last_ms = now;
                                      }
                                      return true;
                                    }),
            0);
}

// One may have read the clock before a stop that another notes first: a deadline from a time that
// is too early would pass at once.
TEST(OwnTime, NeverGoesBackForAnyOfSeveralThreads) {
  constexpr int kStops = 8;
  EXPECT_EQ(in_a_process_that_stops(2 * kMostBetweenLooksMs,
                                    [] {
                                      std::atomic<bool> over{false};
                                      std::atomic<bool> back{false};
                                      const auto look = [&] {
                                        int64_t last_ms = now_ms();
                                        while (!over) {
                                          const int64_t now = now_ms();
                                          if (now < last_ms - kInexactMs) back = true;
                                          last_ms = now;
                                        }
                                      };
                                      std::vector<std::thread> threads;
                                      for (int i = 0; i < 4; ++i) threads.emplace_back(look);
                                      for (int stop = 0; stop < kStops; ++stop) {
                                        usleep(20'000);
                                        raise(SIGSTOP);
                                      }
                                      over = true;
                                      for (std::thread& thread : threads) thread.join();
                                      return !back;
                                    }),
            0);
}

// As of whoever waits for a peer that was stopped, too, and for whom it is not too late yet.
TEST(OwnTime, LeavesAWaitForASocketItsTimeAfterAStop) {
  constexpr int64_t kStopMs = 4 * kMostBetweenLooksMs;
  constexpr int64_t kLimitMs = 3 * kMostBetweenLooksMs;
  EXPECT_EQ(in_a_process_that_stops(kStopMs,
                                    [] {
                                      int ends[2];
                                      if (pipe(ends) != 0) return false;
                                      const int64_t deadline_ms = now_ms() + kLimitMs;
                                      if (fork() == 0) {
                                        kill(getppid(), SIGSTOP);
                                        usleep((kStopMs + kMostBetweenLooksMs) * 1000);
                                        _exit(write(ends[1], "", 1) == 1 ? 0 : 1);
                                      }
                                      return wait_for(ends[0], POLLIN, deadline_ms);
                                    }),
            0);
}

}  // namespace
}  // namespace tutti
