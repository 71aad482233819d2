// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: calls that are gathered, begun together, and block only at the end.
#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

using Floats = std::vector<float>;

// Small messages go out whole, large ones need their receiver.
const size_t kSizes[] = {1, 1000, 200000};

Floats filled(size_t count, int value) { return Floats(count, static_cast<float>(value)); }

tutti_status send(const Floats& data, int peer, int tag, tutti_comm_t comm) {
  return tutti_send(data.data(), data.size(), TUTTI_FLOAT32, peer, tag, comm);
}
tutti_status recv(Floats& data, int peer, int tag, tutti_comm_t comm) {
  return tutti_recv(data.data(), data.size(), TUTTI_FLOAT32, peer, tag, comm, nullptr);
}
tutti_status sum(Floats& data, tutti_comm_t comm) {
  return tutti_allreduce(data.data(), data.data(), data.size(), TUTTI_FLOAT32, TUTTI_SUM, comm);
}

TEST(Group, OfSendsAloneReachesReceivesOutsideOfOne) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (const size_t count : kSizes) {
      const Floats first = filled(count, 1);
      const Floats second = filled(count, 2);
      Floats one(count);
      Floats two(count);
      if (rank == 0) {
        ASSERT_OK(tutti_group_start());
        ASSERT_OK(send(first, 1, 0, comm));
        ASSERT_OK(send(second, 1, 0, comm));
        ASSERT_OK(tutti_group_end());
      } else {
        ASSERT_OK(recv(one, 0, 0, comm));
        ASSERT_OK(recv(two, 0, 0, comm));
        EXPECT_EQ(one, first);
        EXPECT_EQ(two, second);
      }
    }
  });
}

TEST(Group, OfSendsAndReceivesBetweenAllPairsDoesNotDeadlock) {
  run_ranks(4, [](int rank, tutti_comm_t comm) {
    for (const size_t count : kSizes) {
      const Floats mine = filled(count, rank);
      std::vector<Floats> in(4, Floats(count));
      ASSERT_OK(tutti_group_start());
      for (int peer = 0; peer < 4; ++peer) {
        // Outside of a group, blocking sends in this order would wait for one another.
        ASSERT_OK(send(mine, peer, 3, comm));
        ASSERT_OK(recv(in[static_cast<size_t>(peer)], peer, 3, comm));
      }
      ASSERT_OK(tutti_group_end());
      for (int peer = 0; peer < 4; ++peer) {
        EXPECT_EQ(in[static_cast<size_t>(peer)], filled(count, peer));
      }
    }
  });
}

TEST(Group, OfCollectivesAndMessagesEndsWithAllOfThem) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    for (const size_t count : kSizes) {
      Floats first = filled(count, rank + 1);
      Floats second = filled(count, rank == 2 ? 7 : 0);
      const Floats out = filled(count, rank);
      Floats in(count);
      Floats all(3 * count);
      tutti_recv_info info{};
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(sum(first, comm));
      // Each rank waits for the one before it, so in this order nothing could be run in turn.
      ASSERT_OK(
          tutti_recv(in.data(), count, TUTTI_FLOAT32, (rank + 2) % 3, TUTTI_ANY_TAG, comm, &info));
      ASSERT_OK(tutti_broadcast(second.data(), count, TUTTI_FLOAT32, 2, comm));
      ASSERT_OK(send(out, (rank + 1) % 3, rank, comm));
      ASSERT_OK(tutti_allgather(out.data(), all.data(), count, TUTTI_FLOAT32, comm));
      ASSERT_OK(tutti_group_end());
      EXPECT_EQ(first, filled(count, 6));
      EXPECT_EQ(second, filled(count, 7));
      EXPECT_EQ(in, filled(count, (rank + 2) % 3));
      EXPECT_EQ(info.tag, (rank + 2) % 3);
      EXPECT_EQ(info.count, count);
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i * count], static_cast<float>(i));
    }
  });
}

TEST(Group, UsesCommunicatorsInAnyOrder) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_t other = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &other));
    for (const size_t count : kSizes) {
      Floats a = filled(count, 1);
      Floats b = filled(count, 2);
      const Floats out = filled(count, rank);
      Floats in(count);
      ASSERT_OK(tutti_group_start());
      if (rank == 0) {
        ASSERT_OK(sum(a, comm));
        ASSERT_OK(recv(in, 1, 0, other));
        ASSERT_OK(send(out, 1, 0, comm));
        ASSERT_OK(sum(b, other));
      } else {
        ASSERT_OK(sum(b, other));
        ASSERT_OK(recv(in, 0, 0, comm));
        ASSERT_OK(send(out, 0, 0, other));
        ASSERT_OK(sum(a, comm));
      }
      ASSERT_OK(tutti_group_end());
      EXPECT_EQ(a, filled(count, 2));
      EXPECT_EQ(b, filled(count, 4));
      EXPECT_EQ(in, filled(count, 1 - rank));
    }
    ASSERT_OK(tutti_comm_destroy(other));
  });
}

TEST(Group, InsideAGroupBeginsWithTheOuterOne) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    Floats data = filled(10, 1);
    Floats in(10);
    const Floats out = filled(10, rank);
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(sum(data, comm));
    ASSERT_OK(recv(in, 1 - rank, 0, comm));
    ASSERT_OK(tutti_group_end());
    EXPECT_EQ(data, filled(10, 1)) << "the inner end has begun something";
    ASSERT_OK(send(out, 1 - rank, 0, comm));
    ASSERT_OK(tutti_group_end());
    EXPECT_EQ(data, filled(10, 2));
    EXPECT_EQ(in, filled(10, 1 - rank));
  });
}

TEST(Group, OfNothingIsNothing) {
  ASSERT_OK(tutti_group_start());
  ASSERT_OK(tutti_group_end());
}

TEST(Group, HandsOutRequestsThatAreWaitedForAfterItsEnd) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (const size_t count : kSizes) {
      Floats data = filled(count, 1);
      Floats in(count);
      const Floats out = filled(count, rank);
      tutti_request_t requests[3] = {};
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(tutti_iallreduce(data.data(), data.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm,
                                 &requests[0]));
      ASSERT_OK(tutti_irecv(in.data(), count, TUTTI_FLOAT32, 1 - rank, 0, comm, &requests[1]));
      ASSERT_OK(tutti_ibarrier(comm, &requests[2]));
      int done = 0;
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait(requests[0]));
      EXPECT_ERROR_SAYS("tutti_group_end");
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait_for(requests[0], 1));
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_test(requests[1], &done));
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_free(requests[2]));
      // Nothing but requests: the end does not wait, or these sends would never be made.
      ASSERT_OK(tutti_group_end());
      ASSERT_OK(send(out, 1 - rank, 0, comm));
      for (tutti_request_t request : requests) {
        ASSERT_OK(tutti_request_wait(request));
        ASSERT_OK(tutti_request_free(request));
      }
      EXPECT_EQ(data, filled(count, 2));
      EXPECT_EQ(in, filled(count, 1 - rank));
    }
  });
}

TEST(Group, LeavesPersistentRequestsAlone) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    Floats data = filled(5, 1);
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(tutti_allreduce_init(data.data(), data.data(), 5, TUTTI_FLOAT32, TUTTI_SUM, comm,
                                   &request));
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_request_wait(request));
    EXPECT_EQ(data, filled(5, 2));
    ASSERT_OK(tutti_group_end());
    ASSERT_OK(tutti_request_free(request));
  });
}

TEST(Group, OfOneThreadDoesNotCatchTheCallsOfAnother) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    ASSERT_OK(tutti_group_start());
    std::thread([comm] {
      Floats data = filled(3, 2);
      ASSERT_OK(sum(data, comm));
      EXPECT_EQ(data, filled(3, 4));
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_group_end());
    }).join();
    ASSERT_OK(tutti_group_end());
  });
}

// ---- errors ------------------------------------------------------------------------------------

TEST(Group, EndWithoutStartIsAnError) {
  EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_group_end());
  EXPECT_ERROR_SAYS("tutti_group_end");
}

TEST(Group, RefusesABadArgumentAtOnceAndRunsTheRest) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    Floats data = filled(5, 3);
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_group_start());
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, send(data, 9, 0, comm));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_broadcast(data.data(), 5, TUTTI_FLOAT32, 2, comm));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_iallreduce(nullptr, nullptr, 5, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
    EXPECT_EQ(request, nullptr);
    ASSERT_OK(sum(data, comm));
    ASSERT_OK(tutti_group_end());
    EXPECT_EQ(data, filled(5, 6));
  });
}

TEST(Group, RefusesWhatWouldBlockOrTakeACommunicatorAway) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_comm_t other = nullptr;
    const tutti_unique_id id{};
    ASSERT_OK(tutti_group_start());
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_barrier(comm));
    EXPECT_ERROR_SAYS("tutti_barrier");
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_split(comm, 0, rank, nullptr, &other));
    EXPECT_ERROR_SAYS("tutti_comm_split");
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_create(&id, 0, 1, nullptr, &other));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_create_from_env(nullptr, &other));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_destroy(comm));
    EXPECT_ERROR_SAYS("tutti_comm_destroy");
    ASSERT_OK(tutti_group_end());
    EXPECT_OK(tutti_barrier(comm));
  });
}

TEST(Group, LeftOpenKeepsItsCommunicatorAlive) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    Floats data = filled(5, 3);
    tutti_request_t request = nullptr;
    std::thread([&] {
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(sum(data, comm));
      ASSERT_OK(
          tutti_iallreduce(data.data(), data.data(), 5, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
      std::thread([&] {
        EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_destroy(comm));
        EXPECT_ERROR_SAYS("2 calls");
      }).join();
    }).join();
    // The thread has ended, and its group with it.
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait(request));
    EXPECT_ERROR_SAYS("thread");
    EXPECT_OK(tutti_request_free(request));
  });
}

TEST(Group, NamesTheCallThatFailedAndItsPlace) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    Floats data = filled(5, 3);
    Floats short_one(2);
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(sum(data, comm));
    ASSERT_OK(rank == 0 ? send(data, 1, 4, comm) : recv(short_one, 0, 4, comm));
    ASSERT_OK(sum(data, comm));
    if (rank == 0) {
      ASSERT_OK(tutti_group_end());
    } else {
      EXPECT_STATUS(TUTTI_ERR_TRUNCATED, tutti_group_end());
      EXPECT_ERROR_SAYS("call 2 of 3 in the group: recv (2 float32 from rank 0, tag 4)");
    }
    EXPECT_EQ(data, filled(5, 12)) << "the calls that did not fail have run";
  });
}

class DeathInAGroup : public testing::TestWithParam<bool> {};

TEST_P(DeathInAGroup, IsToldWithTheFirstCallThatFailed) {
  Ranks ranks;
  ranks.count = 3;
  ranks.killed = {2};
  ranks.breaks = true;
  const bool with_requests = GetParam();
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    Floats data = filled(300000, 1);
    const Floats out = filled(1, 1);
    Floats in(300000);
    if (rank == 2) {
      Floats signal(1);
      for (int peer = 0; peer < 2; ++peer) ASSERT_OK(recv(signal, peer, 7, comm));
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(sum(data, comm));
      kill_myself();
    }
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(send(out, 2, 7, comm));  // after which rank 2 may die
    ASSERT_OK(recv(in, 2, 0, comm));
    ASSERT_OK(sum(data, comm));
    if (with_requests) {
      ASSERT_OK(tutti_ibarrier(comm, &request));
    }
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_group_end());
    EXPECT_ERROR_SAYS(with_requests ? "call 2 of 4 in the group: recv"
                                    : "call 2 of 3 in the group: recv");
    EXPECT_ERROR_SAYS("rank 2 (pid");
    if (with_requests) {
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_request_wait(request));
      EXPECT_OK(tutti_request_free(request));
    }
    // A group on a broken communicator gives the cause at its end, and usable requests.
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(tutti_ibarrier(comm, &request));
    ASSERT_OK(sum(data, comm));
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_group_end());
    EXPECT_ERROR_SAYS("call 1 of 2 in the group: barrier");
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_request_wait(request));
    EXPECT_OK(tutti_request_free(request));
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, DeathInAGroup, testing::Bool(), [](const auto& info) {
  return info.param ? "WithRequests" : "WithoutRequests";
});

}  // namespace
}  // namespace tutti_test
