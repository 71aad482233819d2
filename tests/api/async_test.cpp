// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Requests: many at once, completed in any order, from any thread, with callbacks.
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// A non-blocking sum of `count` elements, each rank + 1 + `salt`.
struct Sum {
  std::vector<int32_t> data;
  tutti_request_t request = nullptr;

  void start(int rank, size_t count, int32_t salt, tutti_comm_t comm) {
    data.assign(count, rank + 1 + salt);
    ASSERT_OK(
        tutti_iallreduce(data.data(), data.data(), count, TUTTI_INT32, TUTTI_SUM, comm, &request));
  }
  void wait(int ranks, int32_t salt) {
    ASSERT_OK(tutti_request_wait(request));
    EXPECT_OK(tutti_request_free(request));
    const int32_t expected = ranks * (ranks + 1) / 2 + ranks * salt;
    for (const int32_t x : data) ASSERT_EQ(x, expected);
  }
};

TEST(Requests, CompleteInAnyOrder) {
  constexpr int kOutstanding = 60;
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    for (int round = 0; round < 5; ++round) {
      std::vector<Sum> sums(kOutstanding);
      for (int i = 0; i < kOutstanding; ++i) {
        sums[static_cast<size_t>(i)].start(rank, static_cast<size_t>(1 + i * i * 7), i, comm);
      }
      // 37 and 60 have no common divisor: every request once, in an odd order that differs by rank.
      for (int i = 0; i < kOutstanding; ++i) {
        const int which = (i * 37 + rank * 11) % kOutstanding;
        sums[static_cast<size_t>(which)].wait(3, which);
      }
    }
  });
}

TEST(Requests, MixWithBlockingCallsInProgramOrder) {
  run_ranks(4, [](int rank, tutti_comm_t comm) {
    for (int32_t round = 0; round < 50; ++round) {
      Sum sum;
      sum.start(rank, 5000, round, comm);
      int32_t token = rank == round % 4 ? round : -1;
      ASSERT_OK(tutti_broadcast(&token, 1, TUTTI_INT32, round % 4, comm));
      ASSERT_EQ(token, round);
      sum.wait(4, round);
    }
  });
}

TEST(Requests, OfTwoCommunicatorsMayStartInDifferentOrders) {
  run_ranks(2, [](int rank, tutti_comm_t first) {
    tutti_comm_t second = nullptr;
    ASSERT_OK(tutti_comm_split(first, 0, rank, nullptr, &second));
    for (int32_t round = 0; round < 50; ++round) {
      const size_t count = round % 2 == 0 ? 10 : 100000;
      Sum a;
      Sum b;
      if (rank == 0) {
        a.start(rank, count, 1, first);
        b.start(rank, count, 2, second);
        a.wait(2, 1);
        b.wait(2, 2);
      } else {
        b.start(rank, count, 2, second);
        a.start(rank, count, 1, first);
        b.wait(2, 2);
        a.wait(2, 1);
      }
    }
    EXPECT_OK(tutti_comm_destroy(second));
  });
}

TEST(Requests, ProgressWithoutTheCallersHelp) {
  Shared<std::atomic<int>> done;
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    Sum sum;
    sum.start(rank, 300000, 0, comm);
    // Rank 0 does not touch its request until rank 1 has its result.
    if (rank == 0) {
      while (done->load() == 0) usleep(1000);
    }
    sum.wait(2, 0);
    done->store(1);
  });
}

TEST(Requests, AWaitThatTimesOutBreaksNothing) {
  Shared<std::atomic<int>> timed_out;
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    if (rank == 1) {
      while (timed_out->load() == 0) usleep(1000);
    }
    Sum sum;
    sum.start(rank, 1000, 0, comm);
    if (rank == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_request_wait_for(sum.request, 0));
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_request_wait_for(sum.request, 30));
      EXPECT_OK(tutti_comm_state(comm));
      timed_out->store(1);
    }
    sum.wait(2, 0);
    EXPECT_OK(tutti_barrier(comm));
  });
}

TEST(Requests, MayBeWaitedForInAnotherThread) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (int32_t round = 0; round < 100; ++round) {
      Sum sum;
      sum.start(rank, 1000, round, comm);
      std::thread([&] { sum.wait(2, round); }).join();
    }
  });
}

TEST(Requests, StayCompleteUntilFreed) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_ibarrier(comm, &request));
    for (int i = 0; i < 3; ++i) EXPECT_OK(tutti_request_wait(request));
    int done = 0;
    EXPECT_OK(tutti_request_test(request, &done));
    EXPECT_EQ(done, 1);
    EXPECT_OK(tutti_request_free(request));
  });
}

TEST(Requests, FreeingOneThatIsUnderWayWaitsForIt) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    std::vector<int32_t> x(20000, rank);
    tutti_request_t request = nullptr;
    ASSERT_OK(
        tutti_iallreduce(x.data(), x.data(), x.size(), TUTTI_INT32, TUTTI_SUM, comm, &request));
    EXPECT_OK(tutti_request_free(request));
    EXPECT_EQ(x.back(), 3);
  });
}

TEST(Requests, PersistentOnesMayBeUnderWayTogether) {
  constexpr size_t kRequests = 4;
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    std::vector<int64_t> data[kRequests];
    tutti_request_t requests[kRequests] = {};
    for (size_t i = 0; i < kRequests; ++i) {
      data[i].resize(10 + i * 4000);
      ASSERT_OK(tutti_allreduce_init(data[i].data(), data[i].data(), data[i].size(), TUTTI_INT64,
                                     TUTTI_SUM, comm, &requests[i]));
    }
    for (int64_t round = 0; round < 30; ++round) {
      for (size_t i = 0; i < kRequests; ++i) {
        data[i].assign(data[i].size(), rank + round);
        ASSERT_OK(tutti_request_start(requests[i]));
      }
      for (size_t i = kRequests; i-- > 0;) {
        ASSERT_OK(tutti_request_wait(requests[i]));
        ASSERT_EQ(data[i].front(), 3 + 3 * round);
        ASSERT_EQ(data[i].back(), 3 + 3 * round);
      }
    }
    for (tutti_request_t request : requests) EXPECT_OK(tutti_request_free(request));
  });
}

// All kinds of it: started before and waited for, started and not, never started.
TEST(Requests, OutliveTheirCommunicatorButAreNotStartedAgain) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &part));
    int32_t sums[2] = {1, 1};
    int32_t got = 0;
    tutti_request_t waited = nullptr;
    tutti_request_t drained = nullptr;
    tutti_request_t freed = nullptr;
    tutti_request_t receive = nullptr;
    tutti_request_t once = nullptr;
    ASSERT_OK(tutti_allreduce_init(&sums[0], &sums[0], 1, TUTTI_INT32, TUTTI_SUM, part, &waited));
    ASSERT_OK(tutti_allreduce_init(&sums[1], &sums[1], 1, TUTTI_INT32, TUTTI_SUM, part, &drained));
    ASSERT_OK(tutti_barrier_init(part, &freed));
    ASSERT_OK(tutti_request_free(freed));
    ASSERT_OK(tutti_recv_init(&got, 1, TUTTI_INT32, 1 - rank, 0, part, &receive));
    ASSERT_OK(tutti_request_start(waited));
    ASSERT_OK(tutti_request_wait(waited));
    ASSERT_OK(tutti_request_start(drained));
    ASSERT_OK(tutti_ibarrier(part, &once));
    ASSERT_OK(tutti_comm_destroy(part));
    EXPECT_EQ(sums[0], 2);
    EXPECT_EQ(sums[1], 2);

    for (tutti_request_t request : {waited, drained, receive}) {
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(request));
      EXPECT_ERROR_SAYS("tutti_comm_destroy");
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_on_complete(request, nullptr, nullptr));
    }
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait(receive));
    for (tutti_request_t request : {waited, drained, once}) {
      int done = 0;
      EXPECT_OK(tutti_request_test(request, &done));
      EXPECT_EQ(done, 1);
      EXPECT_OK(tutti_request_wait(request));
    }
    for (tutti_request_t request : {waited, drained, receive, once}) {
      EXPECT_OK(tutti_request_free(request));
    }
    EXPECT_OK(tutti_barrier(comm));
  });
}

// ---- callbacks ---------------------------------------------------------------------------------

struct Calls {
  std::atomic<int> count = 0;
  std::atomic<int> status = -1;
};

void count_call(tutti_status status, const char* /*error*/, void* context) {
  auto& calls = *static_cast<Calls*>(context);
  calls.status = status;
  ++calls.count;
}

TEST(Callbacks, RunOnceWithoutAnyoneWaiting) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    Calls calls;
    Sum sum;
    sum.start(rank, 50000, 0, comm);
    ASSERT_OK(tutti_request_on_complete(sum.request, count_call, &calls));
    while (calls.count == 0) usleep(200);
    EXPECT_EQ(calls.status, TUTTI_OK);
    sum.wait(2, 0);
    EXPECT_EQ(calls.count, 1);
  });
}

TEST(Callbacks, RunAtOnceIfTheOperationIsComplete) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    Calls calls;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_ibarrier(comm, &request));
    ASSERT_OK(tutti_request_wait(request));
    ASSERT_OK(tutti_request_on_complete(request, count_call, &calls));
    EXPECT_EQ(calls.count, 1);
    EXPECT_OK(tutti_request_free(request));
  });
}

TEST(Callbacks, OfAPersistentRequestRunAtEveryCompletion) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    Calls calls;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_barrier_init(comm, &request));
    ASSERT_OK(tutti_request_on_complete(request, count_call, &calls));
    for (int round = 1; round <= 10; ++round) {
      ASSERT_OK(tutti_request_start(request));
      ASSERT_OK(tutti_request_wait(request));
      while (calls.count < round) usleep(100);
      EXPECT_EQ(calls.count, round);
    }
    EXPECT_OK(tutti_request_free(request));
  });
}

TEST(Callbacks, AreToldOfAnError) {
  Ranks ranks;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Calls calls;
    int32_t x = 0;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_irecv(&x, 1, TUTTI_INT32, 1 - rank, 0, comm, &request));
    ASSERT_OK(tutti_request_on_complete(request, count_call, &calls));
    // Nobody aborts before both have come so far; whether rank 1 is out of it by then is open.
    const tutti_status met = tutti_barrier(comm);
    if (rank == 0) {
      EXPECT_EQ(met, TUTTI_OK);
      EXPECT_OK(tutti_comm_abort(comm, "enough"));
    }
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_wait(request));
    while (calls.count == 0) usleep(200);
    EXPECT_EQ(calls.status, TUTTI_ERR_ABORTED);
    EXPECT_OK(tutti_request_free(request));
  });
}

}  // namespace
}  // namespace tutti_test
