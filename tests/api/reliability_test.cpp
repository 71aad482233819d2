// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that die, hang, disagree or give up: every other rank gets an error that says who and why.
// How long it took is printed and recorded, never asserted.
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr int kMostRanks = 8;

int64_t now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// ---- death -------------------------------------------------------------------------------------

struct Death {
  std::atomic<int64_t> at_us;
  std::atomic<int> pid;
  std::atomic<int64_t> noticed_us[kMostRanks];

  void die() {
    pid = getpid();
    at_us = now_us();
    kill_myself();
  }
};

void record_delays(const Death& death, int ranks) {
  int64_t longest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (death.noticed_us[rank] != 0)
      longest = std::max(longest, death.noticed_us[rank] - death.at_us);
  }
  std::printf("  a death among %d ranks was known to all within %.1f ms\n", ranks,
              static_cast<double>(longest) / 1000);
  testing::Test::RecordProperty("longest_delay_us", std::to_string(longest));
}

void expect_death_is_told(tutti_status status, const Death& death, int victim,
                          const std::string& operation) {
  EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, status);
  EXPECT_ERROR_SAYS("rank " + std::to_string(victim));
  EXPECT_ERROR_SAYS(std::to_string(death.pid));
  EXPECT_ERROR_SAYS(operation);
}

class RankDeath : public testing::TestWithParam<int> {
 protected:
  // The victim dies as `die` says; the others repeat `call` until it fails.
  void survive(const std::string& operation,
               const std::function<tutti_status(int, tutti_comm_t)>& call,
               const std::function<void(Death&, tutti_comm_t)>& die) const {
    Shared<Death> death;
    Ranks ranks;
    ranks.count = GetParam();
    const int victim = ranks.count - 1;
    ranks.killed = {victim};
    ranks.breaks = true;
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      if (rank == victim) die(*death, comm);
      tutti_status status = TUTTI_OK;
      while (status == TUTTI_OK) status = call(rank, comm);
      death->noticed_us[rank] = now_us();
      expect_death_is_told(status, *death, victim, operation);
      // From now on the first cause, at once.
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_comm_state(comm));
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_barrier(comm));
      EXPECT_ERROR_SAYS("rank " + std::to_string(victim));
    });
    record_delays(*death, ranks.count);
  }
};

void die_after_a_while(Death& death, tutti_comm_t /*comm*/) {
  sleep_ms(50);
  death.die();
}

TEST_P(RankDeath, OfARankThatOthersWaitForInAllreduceIsTold) {
  survive(
      "allreduce",
      [](int, tutti_comm_t comm) {
        float x = 1;
        return tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      die_after_a_while);
}

TEST_P(RankDeath, OfARankThatOthersWaitForInBarrierIsTold) {
  survive(
      "barrier", [](int, tutti_comm_t comm) { return tutti_barrier(comm); }, die_after_a_while);
}

TEST_P(RankDeath, OfTheRootOfABroadcastIsTold) {
  survive(
      "broadcast",
      [](int, tutti_comm_t comm) {
        std::vector<float> x(5000);
        return tutti_broadcast(x.data(), x.size(), TUTTI_FLOAT32, GetParam() - 1, comm);
      },
      die_after_a_while);
}

TEST_P(RankDeath, OfASenderIsToldToTheReceiver) {
  survive(
      "recv",
      [](int, tutti_comm_t comm) {
        float x = 0;
        return tutti_recv(&x, 1, TUTTI_FLOAT32, GetParam() - 1, 0, comm, nullptr);
      },
      die_after_a_while);
}

TEST_P(RankDeath, InTheMiddleOfLargeAllreducesIsTold) {
  constexpr size_t kCount = 1 << 18;
  survive(
      "allreduce",
      [](int, tutti_comm_t comm) {
        static std::vector<float> x(kCount);
        return tutti_allreduce(x.data(), x.data(), kCount, TUTTI_FLOAT32, TUTTI_MAX, comm);
      },
      [](Death& death, tutti_comm_t comm) {
        std::thread([&death] { die_after_a_while(death, nullptr); }).detach();
        std::vector<float> x(kCount);
        for (;;) tutti_allreduce(x.data(), x.data(), kCount, TUTTI_FLOAT32, TUTTI_MAX, comm);
      });
}

TEST_P(RankDeath, InTheMiddleOfSmallNonBlockingCallsIsTold) {
  const auto call = [](int, tutti_comm_t comm) {
    float x = 1;
    tutti_request_t request = nullptr;
    tutti_status status = tutti_iallreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_MAX, comm, &request);
    if (status != TUTTI_OK) return status;
    status = tutti_request_wait(request);
    const std::string text = tutti_last_error();
    EXPECT_OK(tutti_request_free(request));
    EXPECT_EQ(text, tutti_last_error()) << "freeing changed the error's text";
    return status;
  };
  survive("allreduce", call, [&](Death& death, tutti_comm_t comm) {
    std::thread([&death] { die_after_a_while(death, nullptr); }).detach();
    for (;;) call(0, comm);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankDeath, testing::Values(2, 4, 5),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(Death, ARankThatLeavesWhileOthersWaitIsTold) {
  Ranks ranks;
  ranks.count = 3;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    if (rank == 1) return;  // destroys its communicator and exits
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_barrier(comm));
    EXPECT_ERROR_SAYS("rank 1");
  });
}

// ---- mismatch ----------------------------------------------------------------------------------

struct Mismatch {
  const char* name;
  std::function<tutti_status(void*, size_t, tutti_comm_t)> one, other;  // buffer, count
  std::string says_one, says_other;
  // Neither call waits for anybody: the next one tells.
  bool later = false;
};

tutti_status allreduce(void* x, size_t count, tutti_type type, tutti_op op, tutti_comm_t comm) {
  return tutti_allreduce(x, x, count, type, op, comm);
}

std::vector<Mismatch> mismatches(size_t count) {
  const auto usual = [](void* x, size_t n, tutti_comm_t comm) {
    return allreduce(x, n, TUTTI_FLOAT32, TUTTI_SUM, comm);
  };
  const auto rooted = [](int root) {
    return [root](void* x, size_t n, tutti_comm_t comm) {
      return tutti_broadcast(x, n, TUTTI_FLOAT32, root, comm);
    };
  };
  return {
      {"collective", usual, [](void*, size_t, tutti_comm_t comm) { return tutti_barrier(comm); },
       "allreduce", "barrier"},
      {"collective with a root", usual, rooted(0), "allreduce", "broadcast"},
      {"count", usual,
       [](void* x, size_t n, tutti_comm_t comm) {
         return allreduce(x, n + 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
       },
       std::to_string(count), std::to_string(count + 1)},
      {"type", usual,
       [](void* x, size_t n, tutti_comm_t comm) {
         return allreduce(x, n, TUTTI_INT32, TUTTI_SUM, comm);
       },
       "float32", "int32"},
      {"operation", usual,
       [](void* x, size_t n, tutti_comm_t comm) {
         return allreduce(x, n, TUTTI_FLOAT32, TUTTI_MAX, comm);
       },
       "sum", "max"},
      {"root", rooted(0), rooted(1), "root 0", "root 1", true},
  };
}

class MismatchedCalls : public testing::TestWithParam<std::tuple<int, size_t>> {};

TEST_P(MismatchedCalls, GiveEveryRankBothSignatures) {
  const auto [count_of_ranks, count] = GetParam();
  for (const Mismatch& mismatch : mismatches(count)) {
    SCOPED_TRACE(mismatch.name);
    Ranks ranks;
    ranks.count = count_of_ranks;
    ranks.breaks = true;
    run_ranks(ranks, [&, n = count](int rank, tutti_comm_t comm) {
      std::vector<float> x(n + 1);
      // Calls that match come first: the mismatch must be found at any call, not at the first only.
      for (int i = 0; i < 3; ++i) ASSERT_OK(tutti_barrier(comm));
      const bool differs = rank == ranks.count - 1;
      tutti_status status = (differs ? mismatch.other : mismatch.one)(x.data(), n, comm);
      if (mismatch.later && status == TUTTI_OK) status = tutti_barrier(comm);
      EXPECT_STATUS(TUTTI_ERR_MISMATCH, status);
      EXPECT_ERROR_SAYS(mismatch.says_one);
      EXPECT_ERROR_SAYS(mismatch.says_other);
      EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_comm_state(comm));
      EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_barrier(comm));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MismatchedCalls,
                         testing::Combine(testing::Values(2, 3),
                                          testing::Values(size_t{4}, size_t{3000}, size_t{300000})),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_ranks_" +
                                  std::to_string(std::get<1>(info.param)) + "_elements";
                         });

TEST(MismatchedForms, AreFoundBetweenNonBlockingAndPersistentForms) {
  Ranks ranks;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    float x[5] = {};
    tutti_request_t request = nullptr;
    if (rank == 0) {
      ASSERT_OK(tutti_iallreduce(x, x, 4, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
    } else {
      ASSERT_OK(tutti_allreduce_init(x, x, 5, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
      ASSERT_OK(tutti_request_start(request));
    }
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_request_wait(request));
    EXPECT_ERROR_SAYS("4");
    EXPECT_ERROR_SAYS("5");
    EXPECT_OK(tutti_request_free(request));
  });
}

// ---- abort -------------------------------------------------------------------------------------

TEST(Abort, FromAnotherThreadUnblocksThisRankAndItsPeers) {
  Ranks ranks;
  ranks.count = 3;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    std::thread aborter;
    if (rank == 0) {
      aborter = std::thread([comm] {
        sleep_ms(30);
        EXPECT_OK(tutti_comm_abort(comm, "the operator said so"));
      });
    }
    if (rank == 2) {
      // Never makes the call that the others wait in; learns of the abort all the same.
      while (tutti_comm_state(comm) == TUTTI_OK) sleep_ms(1);
    } else {
      float x = 0;
      EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
      EXPECT_ERROR_SAYS("the operator said so");
    }
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_barrier(comm));
    EXPECT_ERROR_SAYS("the operator said so");
    if (aborter.joinable()) aborter.join();
  });
}

// As the ranks find out about one another: this one's parent stands for a peer.
bool may_read_other_processes() {
  static const int there = 1;
  int here = 0;
  const iovec local{&here, sizeof here};
  const iovec remote{const_cast<int*>(&there), sizeof there};
  return process_vm_readv(getppid(), &local, 1, &remote, 1, 0) == sizeof here;
}

// Rank 0 is through and may reuse its buffer; rank 1 cannot know whether it has read that in time.
TEST(Abort, EndsACallThatReadsBuffersOfPeers) {
  struct Moments {
    std::atomic<bool> aborted;
  };
  Shared<Moments> moments;
  Ranks ranks;
  ranks.breaks = true;
  ranks.before = [](int) { setenv("CCL_ALLREDUCE", "pull_all", 1); };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    if (!may_read_other_processes()) return;
    tutti_op op = TUTTI_SUM;
    const auto add = [](const void* in, void* inout, size_t count, tutti_type, void* context) {
      while (context != nullptr && !static_cast<Moments*>(context)->aborted) sleep_ms(1);
      for (size_t i = 0; i < count; ++i) {
        static_cast<float*>(inout)[i] += static_cast<const float*>(in)[i];
      }
    };
    ASSERT_OK(tutti_op_create_user(add, rank == 1 ? &*moments : nullptr, &op));
    const std::vector<float> x(10000, 1);
    std::vector<float> sum(x.size());
    const tutti_status status =
        tutti_allreduce(x.data(), sum.data(), x.size(), TUTTI_FLOAT32, op, comm);
    if (rank == 0) {
      EXPECT_OK(status);
      EXPECT_OK(tutti_comm_abort(comm, "enough"));
      moments->aborted = true;
    } else {
      EXPECT_STATUS(TUTTI_ERR_ABORTED, status);
      EXPECT_ERROR_SAYS("enough");
    }
  });
}

TEST(Abort, EndsRequestsThatAreUnderWay) {
  Ranks ranks;
  ranks.breaks = true;
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float x[2] = {};
    tutti_request_t receive = nullptr;
    tutti_request_t sum = nullptr;
    ASSERT_OK(tutti_irecv(x, 1, TUTTI_FLOAT32, 1 - rank, 5, comm, &receive));
    meeting.wait();
    if (rank == 0) {
      ASSERT_OK(tutti_iallreduce(x + 1, x + 1, 1, TUTTI_FLOAT32, TUTTI_SUM, comm, &sum));
      EXPECT_OK(tutti_comm_abort(comm, nullptr));
      EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_wait(sum));
      EXPECT_OK(tutti_request_free(sum));
    }
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_wait(receive));
    EXPECT_OK(tutti_request_free(receive));
  });
}

TEST(Abort, NeedsNoPeerThatIsAlive) {
  Ranks ranks;
  ranks.killed = {1};
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    if (rank == 1) {
      sleep_ms(20);
      kill_myself();
    }
    EXPECT_OK(tutti_comm_abort(comm, "enough"));
    EXPECT_NE(tutti_barrier(comm), TUTTI_OK);
  });
}

// ---- time --------------------------------------------------------------------------------------

TEST(Timeout, NamesTheRankThatDidNotCome) {
  Shared<std::atomic<int>> timed_out;
  Ranks ranks;
  ranks.count = 3;
  ranks.breaks = true;
  ranks.config.timeout_ms = 500;
  const Meeting meeting(2);  // of those that come
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float x = 0;
    if (rank == 2) {
      while (timed_out->load() < 2) sleep_ms(5);
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_barrier(comm));
    } else {
      meeting.wait();
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
      EXPECT_ERROR_SAYS("rank 2");
      EXPECT_ERROR_SAYS("allreduce");
      timed_out->fetch_add(1);
    }
  });
}

TEST(Timeout, CanBeChangedAndEndsAReceive) {
  Shared<std::atomic<int>> timed_out;
  Ranks ranks;
  ranks.breaks = true;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float x = 0;
    ASSERT_OK(tutti_comm_set_timeout(comm, 100));
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_recv(&x, 1, TUTTI_FLOAT32, 1 - rank, 3, comm, nullptr));
    EXPECT_ERROR_SAYS("rank " + std::to_string(1 - rank));
    timed_out->fetch_add(1);
    while (timed_out->load() < 2) sleep_ms(1);  // to leave is another error for the other
  });
}

}  // namespace
}  // namespace tutti_test
