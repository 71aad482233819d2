// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Groups: calls that are gathered, begun together, and block only at the end.
#include <algorithm>
#include <functional>
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

// What rank `from` gives rank `to`: 0 to 3 times `count`.
size_t given(int from, int to, size_t count) {
  return static_cast<size_t>((from + to) % 4) * count;
}

std::vector<size_t> counts_of(int ranks, const std::function<size_t(int)>& count) {
  std::vector<size_t> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back(count(rank));
  return counts;
}

// Blocks of such sizes, one after the other, each filled with its value.
Floats blocks(const std::vector<size_t>& counts, const std::function<int(int)>& value) {
  Floats all;
  for (size_t i = 0; i < counts.size(); ++i) {
    all.insert(all.end(), counts[i], static_cast<float>(value(static_cast<int>(i))));
  }
  return all;
}

TEST(Group, OfUnevenCollectivesCopiesTheirCountsAtOnce) {
  constexpr int kRanks = 3;
  constexpr int kRoot = 2;
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    for (const size_t count : kSizes) {
      const bool at_root = rank == kRoot;
      // The one with an empty block of everyone's, and what this rank gives and takes.
      const std::vector<size_t> of_all =
          counts_of(kRanks, [&](int r) { return given(r, 3, count); });
      const std::vector<size_t> mine =
          counts_of(kRanks, [&](int r) { return given(rank, r, count); });
      const size_t own = of_all[static_cast<size_t>(rank)];
      const auto value = [](int from, int to) { return 10 * from + to + 1; };
      const Floats contribution = filled(own, rank + 1);
      const Floats to_each = blocks(mine, [&](int to) { return value(rank, to); });
      const Floats to_all = blocks(of_all, [&](int to) { return value(rank, to); });
      const Floats roots = blocks(of_all, [&](int to) { return value(kRoot, to); });
      const size_t total = to_all.size();
      Floats gathered(total);
      Floats reduced(own);
      Floats exchanged(to_each.size());
      Floats collected(at_root ? total : 0);
      Floats dealt(own);
      // Arrays of counts may go as soon as a call has returned.
      std::vector<size_t> passed;
      const auto pass = [&](const std::vector<size_t>& counts) {
        passed = counts;
        return passed.data();
      };
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(tutti_allgatherv(contribution.data(), gathered.data(), pass(of_all), nullptr,
                                 TUTTI_FLOAT32, comm));
      ASSERT_OK(tutti_reduce_scatterv(to_all.data(), reduced.data(), pass(of_all), TUTTI_FLOAT32,
                                      TUTTI_SUM, comm));
      ASSERT_OK(tutti_alltoallv(to_each.data(), pass(mine), nullptr, exchanged.data(),
                                passed.data(), nullptr, TUTTI_FLOAT32, comm));
      ASSERT_OK(tutti_gatherv(contribution.data(), own, collected.data(), pass(of_all), nullptr,
                              TUTTI_FLOAT32, kRoot, comm));
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_iscatterv(roots.data(), pass(of_all), nullptr, dealt.data(), own,
                                TUTTI_FLOAT32, kRoot, comm, &request));
      passed.assign(kRanks, 12345);
      ASSERT_OK(tutti_group_end());
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_OK(tutti_request_free(request));
      const Floats everything = blocks(of_all, [](int from) { return from + 1; });
      EXPECT_EQ(gathered, everything);
      EXPECT_EQ(reduced, filled(own, value(0, rank) + value(1, rank) + value(2, rank)));
      EXPECT_EQ(exchanged, blocks(mine, [&](int from) { return value(from, rank); }));
      EXPECT_EQ(collected, at_root ? everything : Floats());
      EXPECT_EQ(dealt, filled(own, value(kRoot, rank)));
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
