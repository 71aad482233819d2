// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that are looked for before they are received, sends that wait for their receive, and
// receives that are given up.
#include <vector>

#include "support/hosts.hpp"

namespace tutti_test {
namespace {

// Within a host, and between hosts.
class Probes : public HostsOfTwo, public testing::WithParamInterface<const char*> {
 protected:
  void on_ranks(const RankBody& body) { run_ranks(ranks_on(GetParam()), body); }
};

tutti_recv_info probe(int source, int tag, tutti_comm_t comm) {
  tutti_recv_info info{};
  for (int found = 0; found == 0;) {
    EXPECT_OK(tutti_iprobe(source, tag, comm, &found, &info));
    if (testing::Test::HasFailure()) break;
  }
  return info;
}

bool is_done(tutti_request_t request) {
  int done = 0;
  EXPECT_OK(tutti_request_test(request, &done));
  return done != 0;
}

TEST_P(Probes, TellWhatTheNextReceiveGets) {
  on_ranks([](int rank, tutti_comm_t comm) {
    for (const size_t count : {size_t{0}, size_t{3}, size_t{300'000}}) {
      std::vector<int32_t> data(count, 7);
      tutti_request_t requests[2];
      if (rank == 0) {
        for (const int tag : {5, 6}) {
          tutti_request_t& request = requests[tag - 5];
          ASSERT_OK(tutti_isend(data.data(), count, TUTTI_INT32, 1, tag, comm, &request));
        }
        for (tutti_request_t request : requests) {
          EXPECT_OK(tutti_request_wait(request));
          EXPECT_OK(tutti_request_free(request));
        }
      } else if (rank == 1) {
        // The second, while the first lies there; and again, as a look takes nothing.
        for (const int source : {0, TUTTI_ANY_SOURCE, 0}) {
          const tutti_recv_info info = probe(source, 6, comm);
          EXPECT_EQ(info.source, 0);
          EXPECT_EQ(info.tag, 6);
          EXPECT_EQ(info.count, count);
        }
        EXPECT_EQ(probe(TUTTI_ANY_SOURCE, TUTTI_ANY_TAG, comm).tag, 5);
        int found = -1;
        EXPECT_OK(tutti_iprobe(0, 7, comm, &found, nullptr));
        EXPECT_EQ(found, 0);
        for (const int tag : {6, 5}) {
          std::vector<int32_t> got(count);
          EXPECT_OK(tutti_recv(got.data(), count, TUTTI_INT32, 0, tag, comm, nullptr));
          EXPECT_EQ(got, data);
        }
      }
    }
  });
}

TEST_P(Probes, ASynchronousSendEndsOnlyOnceItsReceiveHasMetIt) {
  on_ranks([](int rank, tutti_comm_t comm) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{100'000}}) {
      std::vector<int32_t> data(count, 3);
      tutti_request_t request = nullptr;
      if (rank == 0) {
        ASSERT_OK(tutti_issend(data.data(), count, TUTTI_INT32, 1, 1, comm, &request));
        // Its peer answers a second message before it receives the first.
        int32_t answer = 0;
        EXPECT_OK(tutti_send(&answer, 1, TUTTI_INT32, 1, 2, comm));
        EXPECT_OK(tutti_recv(&answer, 1, TUTTI_INT32, 1, 3, comm, nullptr));
        EXPECT_FALSE(is_done(request));
        EXPECT_OK(tutti_send(&answer, 1, TUTTI_INT32, 1, 4, comm));
        EXPECT_OK(tutti_request_wait(request));
        EXPECT_OK(tutti_request_free(request));
      } else if (rank == 1) {
        int32_t word = 0;
        EXPECT_OK(tutti_recv(&word, 1, TUTTI_INT32, 0, 2, comm, nullptr));
        EXPECT_OK(tutti_send(&word, 1, TUTTI_INT32, 0, 3, comm));
        EXPECT_OK(tutti_recv(&word, 1, TUTTI_INT32, 0, 4, comm, nullptr));
        std::vector<int32_t> got(count);
        EXPECT_OK(tutti_recv(got.data(), count, TUTTI_INT32, 0, 1, comm, nullptr));
        EXPECT_EQ(got, data);
      }
    }
  });
}

TEST_P(Probes, AReceiveThatNoMessageHasMetCanBeCancelled) {
  on_ranks([](int rank, tutti_comm_t comm) {
    if (rank != 0) return;
    for (const int source : {1, TUTTI_ANY_SOURCE}) {
      int32_t value = 11;
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_irecv(&value, 1, TUTTI_INT32, source, 9, comm, &request));
      int cancelled = 0;
      EXPECT_OK(tutti_request_cancel(request, &cancelled));
      EXPECT_EQ(cancelled, 1);
      EXPECT_TRUE(is_done(request));
      tutti_recv_info info{};
      EXPECT_OK(tutti_request_recv_info(request, &info));
      EXPECT_EQ(info.source, -1);
      EXPECT_EQ(info.count, 0U);
      EXPECT_OK(tutti_request_cancel(request, &cancelled));
      EXPECT_EQ(cancelled, 0);
      EXPECT_OK(tutti_request_free(request));
      EXPECT_EQ(value, 11);
    }
  });
}

TEST_P(Probes, WhatHasMetAMessageIsNotCancelled) {
  on_ranks([](int rank, tutti_comm_t comm) {
    int32_t value = 5;
    tutti_request_t request = nullptr;
    if (rank == 0) {
      ASSERT_OK(tutti_issend(&value, 1, TUTTI_INT32, 1, 0, comm, &request));
    } else if (rank == 1) {
      value = 0;
      probe(0, 0, comm);
      ASSERT_OK(tutti_irecv(&value, 1, TUTTI_INT32, 0, 0, comm, &request));
    } else {
      return;
    }
    int cancelled = -1;
    EXPECT_OK(tutti_request_cancel(request, &cancelled));
    EXPECT_EQ(cancelled, 0);
    EXPECT_OK(tutti_request_wait(request));
    EXPECT_OK(tutti_request_free(request));
    EXPECT_EQ(value, 5);
  });
}

TEST_P(Probes, ALookForAMessageOfWhoHasLeftFails) {
  on_ranks([](int rank, tutti_comm_t comm) {
    if (rank != 0) return;
    tutti_status status = TUTTI_OK;
    for (int found = 0; status == TUTTI_OK;) status = tutti_iprobe(1, 0, comm, &found, nullptr);
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, status);
    EXPECT_ERROR_SAYS("tutti_iprobe");
  });
}

TEST(ProbeArguments, AreChecked) {
  run_ranks(1, [](int, tutti_comm_t comm) {
    int found = 0;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_iprobe(1, 0, comm, &found, nullptr));
    EXPECT_ERROR_SAYS("tutti_iprobe: peer 1");
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_iprobe(0, -2, comm, &found, nullptr));
    EXPECT_ERROR_SAYS("tutti_iprobe: tag -2");
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_iprobe(0, 0, comm, nullptr, nullptr));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_request_cancel(nullptr, &found));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Probes, testing::Values("aa", "ab", "aab"));

}  // namespace
}  // namespace tutti_test
