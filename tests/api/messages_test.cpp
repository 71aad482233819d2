// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How messages match: by source and tag, in the order sent.
#include <unistd.h>

#include <numeric>
#include <set>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

void send_one(int32_t value, int to, int tag, tutti_comm_t comm) {
  ASSERT_OK(tutti_send(&value, 1, TUTTI_INT32, to, tag, comm));
}

int32_t recv_one(int from, int tag, tutti_comm_t comm, tutti_recv_info* info = nullptr) {
  int32_t value = -1;
  EXPECT_OK(tutti_recv(&value, 1, TUTTI_INT32, from, tag, comm, info));
  return value;
}

TEST(Messages, OfOneTagArriveInTheOrderSent) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (int32_t i = 0; i < 500; ++i) {
      if (rank == 0) send_one(i, 1, 4, comm);
      if (rank == 1) {
        ASSERT_EQ(recv_one(0, 4, comm), i);
      }
    }
  });
}

TEST(Messages, GoBothWaysAtOnce) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    const int next = (rank + 1) % 3;
    const int previous = (rank + 2) % 3;
    for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, size_t{500'000}}) {
      const std::vector<int32_t> sent(count, rank + 1);
      std::vector<int32_t> received(count + 1, -1);
      tutti_recv_info info{};
      ASSERT_OK(tutti_sendrecv(sent.data(), count, next, 7, received.data(), count + 1, previous, 7,
                               TUTTI_INT32, comm, &info));
      EXPECT_EQ(info.source, previous);
      EXPECT_EQ(info.tag, 7);
      ASSERT_EQ(info.count, count);
      EXPECT_EQ(std::count(received.begin(), received.end(), previous + 1),
                static_cast<ptrdiff_t>(count));
      EXPECT_EQ(received[count], -1);
    }
  });
}

TEST(Messages, BothWaysAtOnceMatchThoseOfOtherCalls) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    const int32_t mine = 10 + rank;
    int32_t other = 0;
    if (rank == 0) {
      ASSERT_OK(tutti_sendrecv(&mine, 1, 1, 1, &other, 1, TUTTI_ANY_SOURCE, TUTTI_ANY_TAG,
                               TUTTI_INT32, comm, nullptr));
    } else {
      other = recv_one(0, 1, comm);
      send_one(mine, 0, 2, comm);
    }
    EXPECT_EQ(other, 11 - rank);
    // In a group: begun at its end.
    int32_t again = 0;
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(
        tutti_sendrecv(&mine, 1, 1 - rank, 3, &again, 1, 1 - rank, 3, TUTTI_INT32, comm, nullptr));
    EXPECT_EQ(again, 0);
    ASSERT_OK(tutti_group_end());
    EXPECT_EQ(again, 11 - rank);
    // To oneself.
    ASSERT_OK(tutti_sendrecv(&mine, 1, rank, 4, &again, 1, rank, 4, TUTTI_INT32, comm, nullptr));
    EXPECT_EQ(again, mine);
  });
}

TEST(Messages, BothWaysAtOnceTellWhatIsWrong) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    const int32_t mine[2] = {1, 2};
    int32_t other = 0;
    const auto exchange = [&](int dest, int send_tag, int source, int recv_tag) {
      return tutti_sendrecv(mine, 2, dest, send_tag, &other, 1, source, recv_tag, TUTTI_INT32, comm,
                            nullptr);
    };
    EXPECT_EQ(exchange(2, 0, 0, 0), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR_SAYS("tutti_sendrecv: dest 2: expected a rank of the communicator, 0 to 1");
    EXPECT_EQ(exchange(0, 0, -5, 0), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR_SAYS("tutti_sendrecv: source -5: expected a rank of the communicator, 0 to 1");
    EXPECT_EQ(exchange(0, -1, 0, 0), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR_SAYS("tutti_sendrecv: send_tag -1: expected 0 or more");
    EXPECT_EQ(exchange(0, 0, 0, -2), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR_SAYS("tutti_sendrecv: recv_tag -2: expected 0 or more");
    EXPECT_EQ(exchange(1 - rank, 5, 1 - rank, 5), TUTTI_ERR_TRUNCATED);
    EXPECT_EQ(other, 1);
  });
}

TEST(Messages, OfOtherTagsDoNotStandInTheWay) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (int32_t tag = 0; tag < 50 && rank == 0; ++tag) send_one(tag * 3, 1, tag, comm);
    for (int32_t tag = 50; tag-- > 0 && rank == 1;) ASSERT_EQ(recv_one(0, tag, comm), tag * 3);
  });
}

TEST(Messages, FromAnySourceTellWhereTheyCameFrom) {
  run_ranks(4, [](int rank, tutti_comm_t comm) {
    if (rank != 0) send_one(rank * 10, 0, rank + 20, comm);
    std::set<int> sources;
    for (int i = 1; i < 4 && rank == 0; ++i) {
      tutti_recv_info info{};
      const int32_t value = recv_one(TUTTI_ANY_SOURCE, TUTTI_ANY_TAG, comm, &info);
      EXPECT_EQ(value, info.source * 10);
      EXPECT_EQ(info.tag, info.source + 20);
      EXPECT_EQ(info.count, 1u);
      sources.insert(info.source);
    }
    EXPECT_EQ(sources.size(), rank == 0 ? 3u : 0u);
  });
}

TEST(Messages, ShorterThanTheBufferTellTheirCount) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    std::vector<double> data(100000, rank);
    tutti_recv_info info{};
    for (const size_t count : {0u, 1u, 99u, 70000u}) {
      if (rank == 0) {
        ASSERT_OK(tutti_send(data.data(), count, TUTTI_FLOAT64, 1, 0, comm));
      } else {
        data.assign(data.size(), -1);
        ASSERT_OK(tutti_recv(data.data(), data.size(), TUTTI_FLOAT64, 0, 0, comm, &info));
        EXPECT_EQ(info.count, count);
        EXPECT_EQ(std::accumulate(data.begin(), data.end(), 0.0),
                  -static_cast<double>(data.size() - count));
      }
    }
  });
}

TEST(Messages, LongerThanTheBufferAreTruncatedAndBreakNothing) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (const size_t count : {10u, 100000u}) {
      std::vector<int32_t> data(count, rank == 0 ? 7 : -1);
      if (rank == 0) {
        ASSERT_OK(tutti_send(data.data(), count, TUTTI_INT32, 1, 0, comm));
      } else {
        EXPECT_STATUS(TUTTI_ERR_TRUNCATED,
                      tutti_recv(data.data(), 4, TUTTI_INT32, 0, 0, comm, nullptr));
        EXPECT_ERROR_SAYS("4");
        EXPECT_EQ(data[4], -1) << "wrote outside the buffer";
      }
      EXPECT_OK(tutti_barrier(comm));
    }
  });
}

TEST(Messages, OfAnotherTypeAreAMismatchThatNamesBoth) {
  Ranks ranks;
  ranks.breaks = true;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    std::vector<double> x(100'000);
    for (const size_t count : {size_t{2}, size_t{4}, x.size()}) {  // fits, is longer, is far longer
      if (rank == 0) {
        ASSERT_OK(tutti_send(x.data(), count, TUTTI_FLOAT64, 1, 0, comm));
      } else {
        EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                      tutti_recv(x.data(), 4, TUTTI_INT32, 0, 0, comm, nullptr));
        EXPECT_ERROR_SAYS("recv (4 int32 from rank 0");
        EXPECT_ERROR_SAYS("sent " + std::to_string(count) + " float64");
      }
    }
  });
}

TEST(Messages, ToOneselfArrive) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    std::vector<int32_t> out(200000, rank + 5);
    std::vector<int32_t> in(out.size());
    tutti_request_t receive = nullptr;
    ASSERT_OK(tutti_irecv(in.data(), in.size(), TUTTI_INT32, rank, 9, comm, &receive));
    ASSERT_OK(tutti_send(out.data(), out.size(), TUTTI_INT32, rank, 9, comm));
    ASSERT_OK(tutti_request_wait(receive));
    EXPECT_OK(tutti_request_free(receive));
    EXPECT_EQ(in, out);
  });
}

TEST(Messages, LargeOnesBothWaysAtOnceDoNotDeadlock) {
  run_ranks(3, [](int rank, tutti_comm_t comm) {
    constexpr size_t kCount = 1 << 20;
    std::vector<float> out(kCount, static_cast<float>(rank));
    std::vector<std::vector<float>> in(3, std::vector<float>(kCount));
    std::vector<tutti_request_t> requests;
    for (int peer = 0; peer < 3; ++peer) {
      requests.push_back(nullptr);
      ASSERT_OK(tutti_isend(out.data(), kCount, TUTTI_FLOAT32, peer, 1, comm, &requests.back()));
    }
    for (int peer = 0; peer < 3; ++peer) {
      requests.push_back(nullptr);
      ASSERT_OK(tutti_irecv(in[static_cast<size_t>(peer)].data(), kCount, TUTTI_FLOAT32, peer, 1,
                            comm, &requests.back()));
    }
    for (tutti_request_t request : requests) {
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_OK(tutti_request_free(request));
    }
    for (int peer = 0; peer < 3; ++peer) {
      EXPECT_EQ(in[static_cast<size_t>(peer)],
                std::vector<float>(kCount, static_cast<float>(peer)));
    }
  });
}

TEST(Messages, ThatNobodyHasAskedForYetWaitForTheirReceive) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    constexpr int32_t kMessages = 200;
    if (rank == 0) {
      for (int32_t i = 0; i < kMessages; ++i) send_one(i, 1, 2, comm);
    }
    // Collectives in between are independent of messages.
    ASSERT_OK(tutti_barrier(comm));
    for (int32_t i = 0; i < kMessages && rank == 1; ++i) ASSERT_EQ(recv_one(0, 2, comm), i);
  });
}

// Of many receives that wait at once, each gets its own, in whatever order messages come.
TEST(Messages, FindTheirReceivesAmongMany) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    constexpr size_t kMessages = 5000;
    std::vector<int> data(kMessages, -1);
    std::vector<tutti_request_t> requests(kMessages);
    for (size_t i = 0; i < kMessages && rank == 0; ++i) {
      const int tag = static_cast<int>(i);
      ASSERT_OK(tutti_irecv(&data[i], 1, TUTTI_INT32, 1, tag, comm, &requests[i]));
    }
    ASSERT_OK(tutti_barrier(comm));
    for (size_t i = 0; i < kMessages && rank == 1; ++i) {
      data[i] = static_cast<int>(i * 7919 % kMessages);  // a prime: each once
      ASSERT_OK(tutti_isend(&data[i], 1, TUTTI_INT32, 0, data[i], comm, &requests[i]));
    }
    for (size_t i = 0; i < kMessages; ++i) {
      ASSERT_OK(tutti_request_wait(requests[i]));
      EXPECT_OK(tutti_request_free(requests[i]));
      if (rank == 0) {
        ASSERT_EQ(data[i], static_cast<int>(i));
      }
    }
  });
}

TEST(Messages, PersistentOnesAreSentAndReceivedAgain) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    std::vector<int64_t> data(3000);
    tutti_request_t request = nullptr;
    ASSERT_OK(rank == 0
                  ? tutti_send_init(data.data(), data.size(), TUTTI_INT64, 1, 3, comm, &request)
                  : tutti_recv_init(data.data(), data.size(), TUTTI_INT64, 0, 3, comm, &request));
    for (int64_t round = 0; round < 20; ++round) {
      if (rank == 0) data.assign(data.size(), round);
      ASSERT_OK(tutti_request_start(request));
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_EQ(data.back(), round);
    }
    EXPECT_OK(tutti_request_free(request));
  });
}

}  // namespace
}  // namespace tutti_test
