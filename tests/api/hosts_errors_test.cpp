// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What calls of ranks on several hosts say when something is wrong: deaths, late ranks, calls that
// differ.
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "support/hosts.hpp"

namespace tutti_test {
namespace {

// One character per rank: the name of its host.
class HostsErrors : public HostsOfTwo, public testing::WithParamInterface<const char*> {};

using CallOf = std::function<tutti_status(int rank, tutti_comm_t comm)>;

// Buffers that are long enough for every call here.
thread_local std::vector<float> in(64);
thread_local std::vector<float> out(64);

TEST_P(HostsErrors, ADeadRankIsNamedToAll) {
  const std::string hosts = GetParam();
  Ranks ranks = ranks_on(hosts);
  const int victim = ranks.count - 1;
  ranks.killed = {victim};
  ranks.breaks = true;
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    float value = 1;
    ASSERT_OK(tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    meeting.wait();
    if (rank == victim) kill_myself();
    tutti_status status = TUTTI_OK;
    while (status == TUTTI_OK) {
      status = tutti_allreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
    }
    EXPECT_EQ(status, TUTTI_ERR_PEER_FAILED) << tutti_last_error();
    EXPECT_ERROR_SAYS("rank " + std::to_string(victim));
  });
}

// As one that is lost while the others compute: they are connected to it by their first call, or
// not at all any more.
TEST_P(HostsErrors, ARankThatDiesBeforeTheFirstCallIsNamedToAll) {
  Ranks ranks = ranks_on(GetParam());
  const int victim = ranks.count - 1;
  ranks.killed = {victim};
  ranks.breaks = true;
  std::vector<float> much(1 << 18);
  const CallOf calls[] = {
      [](int, auto comm) {
        return tutti_allreduce(in.data(), out.data(), 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      [&](int, auto comm) {
        return tutti_allreduce(much.data(), much.data(), much.size(), TUTTI_FLOAT32, TUTTI_SUM,
                               comm);
      },
      [=](int, auto comm) {
        return tutti_recv(out.data(), 1, TUTTI_FLOAT32, victim, 0, comm, nullptr);
      },
      [&, victim](int, auto comm) {
        return tutti_send(much.data(), much.size(), TUTTI_FLOAT32, victim, 0, comm);
      },
      [](int, auto comm) {
        tutti_comm_t part = nullptr;
        return tutti_comm_split(comm, 0, 0, nullptr, &part);
      },
  };
  for (const CallOf& first : calls) {
    const Shared<pid_t> pid_of_victim;
    const Meeting known(ranks.count);
    const Meeting watched(ranks.count);
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      if (rank == victim) *pid_of_victim = getpid();
      known.wait();
      pollfd gone{static_cast<int>(syscall(SYS_pidfd_open, *pid_of_victim, 0)), POLLIN, 0};
      ASSERT_GE(gone.fd, 0);
      watched.wait();
      if (rank == victim) kill_myself();
      ASSERT_EQ(poll(&gone, 1, -1), 1);
      close(gone.fd);
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, first(rank, comm));
      EXPECT_ERROR_SAYS("rank " + std::to_string(victim));
    });
  }
}

TEST_P(HostsErrors, DifferentCallsAreNamed) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  const int odd = ranks.count - 1;
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<float> data(8, 1.0F);
    ASSERT_OK(tutti_barrier(comm));
    meeting.wait();
    const size_t count = rank == odd ? 7 : 8;
    const tutti_status status =
        tutti_allreduce(data.data(), data.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm);
    // Who had all it needed before the others found out may have succeeded; the next call fails.
    const tutti_status next = status == TUTTI_OK ? tutti_barrier(comm) : status;
    EXPECT_EQ(next, TUTTI_ERR_MISMATCH) << tutti_last_error();
  });
}

// Calls in which no message of either meets one of the other: both wait for what never comes.
TEST_F(HostsOfTwo, DifferentCallsThatExchangeNothingAreNamed) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  for (const bool queued : {false, true}) {
    const Meeting meeting(ranks.count);
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      float value = 1;
      ASSERT_OK(tutti_barrier(comm));
      meeting.wait();
      tutti_request_t request = nullptr;
      if (queued) {
        ASSERT_OK(tutti_ibroadcast(&value, 1, TUTTI_FLOAT32, 1 - rank, comm, &request));
        EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_request_wait(request));
      } else {
        EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                      tutti_broadcast(&value, 1, TUTTI_FLOAT32, 1 - rank, comm));
      }
      for (const char* root : {"root 0", "root 1"}) EXPECT_ERROR_SAYS(root);
      if (queued) {
        EXPECT_OK(tutti_request_free(request));
      }
    });
  }
}

// Broadcasts of different roots, and the like: each rank is done at once, and believes that all is
// well.
TEST_P(HostsErrors, CallsInWhichEachOnlyGivesAreFoundByTheNextThatWaits) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  const int odd = ranks.count - 1;
  const struct {
    CallOf usual;
    CallOf other;  // of the odd rank
    const char* names[2];
  } cases[] = {
      {[](int, auto comm) { return tutti_broadcast(in.data(), 1, TUTTI_FLOAT32, 0, comm); },
       [](int rank, auto comm) { return tutti_broadcast(in.data(), 1, TUTTI_FLOAT32, rank, comm); },
       {"broadcast #2 (1 float32, root 0)", "broadcast #2 (1 float32, root "}},
      {[](int, auto comm) {
         return tutti_scatter(in.data(), out.data(), 1, TUTTI_FLOAT32, 0, comm);
       },
       [](int, auto comm) {
         return tutti_gather(in.data(), out.data(), 1, TUTTI_FLOAT32, 0, comm);
       },
       {"scatter #2", "gather #2"}},
      {[](int, auto comm) { return tutti_broadcast(in.data(), 1, TUTTI_INT32, 0, comm); },
       [](int, auto comm) {
         return tutti_reduce(in.data(), out.data(), 1, TUTTI_FLOAT32, TUTTI_SUM, 0, comm);
       },
       {"broadcast #2 (1 int32", "reduce #2 (1 float32"}},
  };
  for (const auto& each : cases) {
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      tutti_status status = tutti_barrier(comm);
      if (status == TUTTI_OK) status = (rank == odd ? each.other : each.usual)(rank, comm);
      if (status == TUTTI_OK) status = tutti_barrier(comm);
      ASSERT_EQ(status, TUTTI_ERR_MISMATCH) << tutti_last_error();
      for (const char* name : each.names) EXPECT_ERROR_SAYS(name);
    });
  }
}

// Whoever waits for whom: the first that gives up may wait for one that is not late at all.
TEST_P(HostsErrors, ARankThatIsLateIsNamedWithItsLastCallAndNobodyElse) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  ranks.config.timeout_ms = 600;
  int late = 0;
  const CallOf calls[] = {
      [](int, auto comm) { return tutti_barrier(comm); },
      [](int, auto comm) {
        return tutti_allreduce(in.data(), out.data(), 7, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      [](int, auto comm) { return tutti_allgather(in.data(), out.data(), 7, TUTTI_FLOAT32, comm); },
      [](int, auto comm) {
        return tutti_reduce_scatter(in.data(), out.data(), 7, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      [](int, auto comm) { return tutti_alltoall(in.data(), out.data(), 7, TUTTI_FLOAT32, comm); },
      [&](int, auto comm) { return tutti_broadcast(in.data(), 7, TUTTI_FLOAT32, late, comm); },
      [&](int, auto comm) {
        return tutti_scatter(in.data(), out.data(), 7, TUTTI_FLOAT32, late, comm);
      },
      [](int, auto comm) {
        return tutti_reduce(in.data(), out.data(), 7, TUTTI_FLOAT32, TUTTI_SUM, 0, comm);
      },
      [](int, auto comm) { return tutti_gather(in.data(), out.data(), 7, TUTTI_FLOAT32, 0, comm); },
  };
  for (const CallOf& call : calls) {
    late = late == 1 ? ranks.count - 1 : 1;
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      tutti_status status = tutti_barrier(comm);
      // The late one, and who only gives, find out by a later call.
      if (status == TUTTI_OK && rank != late) status = call(rank, comm);
      while (status == TUTTI_OK && tutti_comm_state(comm) == TUTTI_OK) usleep(10'000);
      if (status == TUTTI_OK) status = tutti_barrier(comm);
      EXPECT_EQ(status, TUTTI_ERR_TIMEOUT) << tutti_last_error();
      EXPECT_ERROR_SAYS("rank " + std::to_string(late) + " (pid ");
      EXPECT_ERROR_SAYS("has not entered the call; its last was barrier #1");
      const std::string text = tutti_last_error();
      EXPECT_EQ(text.find(" (pid "), text.rfind(" (pid ")) << "another is named: " << text;
    });
  }
}

// Nothing is known of a rank that does not even answer, but that.
TEST_F(HostsOfTwo, ARankThatIsStoppedDoesNotAnswer) {
  Ranks ranks = ranks_on("abc");
  ranks.breaks = true;
  ranks.config.timeout_ms = 300;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    if (rank == 1) {
      if (const pid_t child = fork(); child == 0) {  // which wakes it again
        usleep(3'000'000);
        kill(getppid(), SIGCONT);
        _exit(0);
      }
      raise(SIGSTOP);
      wait(nullptr);
    }
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_barrier(comm));
    EXPECT_ERROR_SAYS("rank 1 (pid ");
    EXPECT_ERROR_SAYS("does not answer");
  });
}

TEST_F(HostsOfTwo, CountsOfOneMaximumThatDifferAreNamed) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    const size_t counts[] = {8, rank == 0 ? size_t{8} : size_t{4}};
    tutti_status status =
        tutti_allgatherv(in.data(), out.data(), counts, nullptr, TUTTI_FLOAT32, comm);
    if (status == TUTTI_OK) status = tutti_barrier(comm);
    ASSERT_EQ(status, TUTTI_ERR_MISMATCH) << tutti_last_error();
    EXPECT_ERROR_SAYS("allgatherv #1 (up to 8 float32 per rank), but the count for rank 1 differs");
  });
}

// All that this rank still waits for is that what it sent is taken.
TEST_F(HostsOfTwo, ARankThatTakesNothingIsNamed) {
  Ranks ranks = ranks_on("ab");
  ranks.breaks = true;
  ranks.config.timeout_ms = 500;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<std::byte> data(4 << 20);
    if (rank == 0) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT,
                    tutti_broadcast(data.data(), data.size(), TUTTI_INT8, 0, comm));
      EXPECT_ERROR_SAYS("rank 1 (pid ");
      EXPECT_ERROR_SAYS("has not entered the call; its last was none");
      return;
    }
    while (tutti_comm_state(comm) == TUTTI_OK) usleep(10'000);
  });
}

TEST_P(HostsErrors, WhoHasDestroyedItsCommunicatorIsNamed) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  const int leaver = ranks.count - 1;
  using Call = std::function<tutti_status(std::vector<float> & data, tutti_comm_t comm)>;
  const Call calls[] = {
      [](auto& data, auto comm) {
        return tutti_allreduce(data.data(), data.data(), 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
      },
      [](auto& data, auto comm) {
        return tutti_alltoall(data.data(), &data[data.size() / 2], 1, TUTTI_FLOAT32, comm);
      },
      [&](auto& data, auto comm) {
        return tutti_recv(data.data(), 1, TUTTI_FLOAT32, leaver, 1, comm, nullptr);
      },
      [&](auto& /*data*/, auto comm) {  // too long to go without being asked for
        const std::vector<std::byte> longer(1 << 20);
        return tutti_send(longer.data(), longer.size(), TUTTI_INT8, leaver, 1, comm);
      },
  };
  for (const Call& call : calls) {
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      std::vector<float> data(2 * static_cast<size_t>(ranks.count), 1.0F);
      // Others may have found out, and told all, before this rank is through.
      const tutti_status before = tutti_barrier(comm);
      if (rank == leaver) return;
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, before == TUTTI_OK ? call(data, comm) : before);
      EXPECT_ERROR_SAYS("rank " + std::to_string(leaver));
      EXPECT_ERROR_SAYS("has destroyed its communicator");
    });
  }
}

using LastMessages = HostsErrors;

TEST_P(LastMessages, OfRanksThatLeaveArriveBeforeAReceiveFromAnySourceFails) {
  Ranks ranks = ranks_on(GetParam());
  ranks.breaks = true;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    for (const int32_t tag : {1, 2}) {
      const size_t count = tag == 1 ? 1 : 100000;
      std::vector<int32_t> data(count, rank);
      if (rank != 0) {
        ASSERT_OK(tutti_send(data.data(), count, TUTTI_INT32, 0, tag, comm));
        continue;
      }
      for (int others = 1; others < ranks.count; ++others) {
        tutti_recv_info info{};
        ASSERT_OK(tutti_recv(data.data(), count, TUTTI_INT32, TUTTI_ANY_SOURCE, tag, comm, &info));
        EXPECT_EQ(data.back(), info.source);
      }
    }
    if (rank != 0) return;
    int32_t more = 0;
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_recv(&more, 1, TUTTI_INT32, TUTTI_ANY_SOURCE, 1, comm, nullptr));
    EXPECT_ERROR_SAYS("every other rank has destroyed its communicator");
  });
}

// So many ranks do not all connect at the start, and hear of one another's end when they ask.
class ManyRanks : public HostsOfTwo {
 protected:
  static Ranks many() {
    std::string shape;
    for (int i = 0; i < 33; ++i) shape += "ab";
    Ranks ranks = ranks_on(shape);
    ranks.breaks = true;
    return ranks;
  }
};

TEST_F(ManyRanks, ThatLeaveAreNamedToWhoeverWaitsForThem) {
  const Ranks ranks = many();
  for (const int awaited : {ranks.count - 1, ranks.count - 2}) {  // elsewhere, and on this host
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      ASSERT_OK(tutti_barrier(comm));
      if (rank != 2) return;
      int32_t data = 0;
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                    tutti_recv(&data, 1, TUTTI_INT32, awaited, 1, comm, nullptr));
      EXPECT_ERROR_SAYS("rank " + std::to_string(awaited));
      EXPECT_ERROR_SAYS("has destroyed its communicator");
    });
  }
}

TEST_F(ManyRanks, ThatHaveAllLeftEndAReceiveFromAnySource) {
  run_ranks(many(), [&](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    if (rank != 2) return;
    int32_t data = 0;
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_recv(&data, 1, TUTTI_INT32, TUTTI_ANY_SOURCE, 1, comm, nullptr));
    EXPECT_ERROR_SAYS("every other rank has destroyed its communicator");
  });
}

// Each believes that it only gives. One goes on and waits for the other, which leaves.
TEST_F(HostsOfTwo, LastCallsThatDifferedAreFoundByWhoLeavesAndWhoGoesOn) {
  for (const char* hosts : {"ab", "aa"}) {
    for (const bool goes_on : {true, false}) {
      Ranks ranks = ranks_on(hosts);
      const Meeting made(ranks.count);
      ranks.after = [](tutti_status end) {
        EXPECT_EQ(end, TUTTI_ERR_MISMATCH) << tutti_last_error();
      };
      ranks.breaks = true;
      run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
        ASSERT_OK(tutti_barrier(comm));
        ASSERT_OK(tutti_barrier(comm));
        const int32_t out[2] = {};
        int32_t in = 0;
        ASSERT_OK(tutti_scatter(out, &in, 1, TUTTI_INT32, rank, comm));
        made.wait();
        if (rank == 0 || !goes_on) return;
        EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_barrier(comm));
        for (const char* root : {"root 0", "root 1"}) EXPECT_ERROR_SAYS(root);
      });
    }
  }
}

// Of two ranks the one that leaves last finds out.
TEST_F(ManyRanks, ThatLeaveAfterDifferentCallsAreFoundOut) {
  Ranks ranks = many();
  const Meeting made(ranks.count);
  const Shared<std::atomic<int>> found;
  ranks.after = [&](tutti_status end) { *found += end == TUTTI_ERR_MISMATCH ? 1 : 0; };
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    int32_t data = 7;
    if (rank == 0) {
      EXPECT_OK(tutti_broadcast(&data, 1, TUTTI_INT32, 0, comm));  // it only gives
    }
    made.wait();
  });
  EXPECT_GE(found->load(), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LastMessages, testing::Values("aa", "aaa", "ab", "abab", "aaab"),
                         [](const auto& shape) { return std::string(shape.param); });

INSTANTIATE_TEST_SUITE_P(Shapes, HostsErrors, testing::Values("ab", "abab", "aaab"),
                         [](const auto& shape) { return std::string(shape.param); });

}  // namespace
}  // namespace tutti_test
