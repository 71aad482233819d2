// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls in which a rank only gives end before the others have entered them: how far ahead it gets.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

void share_one_core() {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  int core = 0;
  while (!CPU_ISSET(core, &usable)) ++core;
  CPU_ZERO(&usable);
  CPU_SET(core, &usable);
  ASSERT_EQ(sched_setaffinity(0, sizeof usable, &usable), 0);
}

// The root makes so many broadcasts before the other rank begins with them.
void broadcast_ahead(tutti_comm_t comm, int rank, const std::array<int, 2>& pipe, int calls,
                     size_t bytes) {
  char word = 'x';
  if (rank == 1) {
    ASSERT_EQ(read(pipe[0], &word, 1), 1);
  }
  for (int i = 0; i < calls; ++i) {
    std::vector<unsigned char> data(bytes, static_cast<unsigned char>(rank == 0 ? i : 255));
    ASSERT_OK(tutti_broadcast(data.data(), bytes, TUTTI_UINT8, 0, comm));
    EXPECT_EQ(data, std::vector<unsigned char>(bytes, static_cast<unsigned char>(i)));
  }
  if (rank == 0) {
    ASSERT_EQ(write(pipe[1], &word, 1), 1);
  }
  ASSERT_OK(tutti_barrier(comm));
}

void run_ahead(int calls, bool one_core) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Ranks ranks;
  ranks.before = [&](int) {
    setenv("TUTTI_TIMEOUT_MS", "20000", 1);  // for a root that must wait
    if (one_core) share_one_core();
  };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    // So many that slots are walked through as they are later.
    for (int i = 0; i < 1200; ++i) {
      unsigned char data[256] = {};
      ASSERT_OK(tutti_broadcast(data, sizeof data, TUTTI_UINT8, 0, comm));
    }
    ASSERT_OK(tutti_barrier(comm));
    for (const size_t bytes : {size_t{8}, size_t{256}, size_t{1}}) {
      for (int turn = 0; turn < 3; ++turn) broadcast_ahead(comm, rank, pipe, calls, bytes);
    }
  });
  for (const int end : pipe) close(end);
}

TEST(Ahead, TheRootOfBroadcastsMayBeSomeCalls) { run_ahead(15, false); }
TEST(Ahead, WhereRanksShareCoresItMayBeMore) { run_ahead(63, true); }

}  // namespace
}  // namespace tutti_test
