// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Requests that some threads use while another destroys their communicator.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr int kRanks = 3;
constexpr int kRounds = kSanitized ? 60 : 250;

// How a thread sees a request to its end.
struct Use {
  const char* name;
  std::function<void(tutti_request_t request)> run;
  bool frees = false;
};

void wait(tutti_request_t request) { EXPECT_OK(tutti_request_wait(request)); }
void test(tutti_request_t request) {
  for (int done = 0; done == 0; std::this_thread::yield()) {
    ASSERT_OK(tutti_request_test(request, &done));
  }
}
void wait_again_and_again(tutti_request_t request) {
  while (tutti_request_wait_for(request, 0) == TUTTI_ERR_TIMEOUT) std::this_thread::yield();
  EXPECT_OK(tutti_request_wait_for(request, 0));
}
void set_functions(tutti_request_t request) {
  std::atomic<int> calls = 0;
  const auto count = [](tutti_status status, const char* /*error*/, void* context) {
    EXPECT_EQ(status, TUTTI_OK);
    ++*static_cast<std::atomic<int>*>(context);
  };
  // Refused when the communicator of a persistent request is gone.
  if (tutti_request_on_complete(request, count, &calls) != TUTTI_OK) return wait(request);
  while (calls.load() == 0) std::this_thread::yield();
}
void free_it(tutti_request_t request) { EXPECT_OK(tutti_request_free(request)); }

// What is started: on `comm`, of this rank.
struct Kind {
  const char* name;
  std::function<std::vector<tutti_request_t>(int rank, tutti_comm_t comm, std::vector<float>& data)>
      start;
};

tutti_request_t sum(std::vector<float>& data, size_t count, tutti_comm_t comm) {
  tutti_request_t request = nullptr;
  EXPECT_OK(
      tutti_iallreduce(data.data(), data.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
  return request;
}

std::vector<tutti_request_t> shift(int rank, tutti_comm_t comm, std::vector<float>& data) {
  const size_t half = data.size() / 2;
  std::vector<tutti_request_t> requests(2);
  EXPECT_OK(tutti_irecv(data.data(), half, TUTTI_FLOAT32, (rank + kRanks - 1) % kRanks, 7, comm,
                        &requests[0]));
  EXPECT_OK(tutti_isend(data.data() + half, half, TUTTI_FLOAT32, (rank + 1) % kRanks, 7, comm,
                        &requests[1]));
  return requests;
}

std::vector<tutti_request_t> persistent(int /*rank*/, tutti_comm_t comm, std::vector<float>& data) {
  std::vector<tutti_request_t> requests(2);
  EXPECT_OK(tutti_allreduce_init(data.data(), data.data(), data.size() / 2, TUTTI_FLOAT32,
                                 TUTTI_SUM, comm, &requests[0]));
  EXPECT_OK(
      tutti_broadcast_init(data.data() + data.size() / 2, 1, TUTTI_FLOAT32, 0, comm, &requests[1]));
  for (tutti_request_t request : requests) EXPECT_OK(tutti_request_start(request));
  return requests;
}

const Use kUses[] = {{"wait", wait},
                     {"test", test},
                     {"wait_for", wait_again_and_again},
                     {"on_complete", set_functions},
                     {"free", free_it, true}};

const Kind kKinds[] = {
    {"a long sum",
     [](int, tutti_comm_t comm, std::vector<float>& data) {
       return std::vector{sum(data, data.size(), comm)};
     }},
    {"a short sum", [](int, tutti_comm_t comm,
                       std::vector<float>& data) { return std::vector{sum(data, 1, comm)}; }},
    {"messages", shift},
    {"persistent requests", persistent},
    {"a group", [](int rank, tutti_comm_t comm, std::vector<float>& data) {
       EXPECT_OK(tutti_group_start());
       std::vector<tutti_request_t> requests = shift(rank, comm, data);
       requests.push_back(nullptr);
       EXPECT_OK(tutti_ibarrier(comm, &requests.back()));
       EXPECT_OK(tutti_group_end());
       return requests;
     }}};

// Each with threads of its own, which go on while the communicator is destroyed.
void expect_life(const Kind& kind, const Use& use) {
  SCOPED_TRACE(std::string(kind.name) + ", " + use.name);
  run_ranks(kRanks, [&](int rank, tutti_comm_t comm) {
    std::vector<float> data(1 << 18);
    for (int round = 0; round < kRounds / 5; ++round) {
      tutti_comm_t part = nullptr;
      ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &part));
      const std::vector<tutti_request_t> requests = kind.start(rank, part, data);
      std::vector<std::thread> users;
      for (tutti_request_t request : requests) {
        users.emplace_back([&use, request] { use.run(request); });
      }
      ASSERT_OK(tutti_comm_destroy(part));
      for (std::thread& user : users) user.join();
      for (tutti_request_t request : requests) {
        if (!use.frees) {
          ASSERT_OK(tutti_request_free(request));
        }
      }
    }
  });
}

TEST(RequestLife, OfSumsGoesOnWhileTheCommunicatorIsDestroyed) {
  for (const Use& use : kUses) expect_life(kKinds[0], use);
  for (const Use& use : kUses) expect_life(kKinds[1], use);
}

TEST(RequestLife, OfMessagesGoesOnWhileTheCommunicatorIsDestroyed) {
  for (const Use& use : kUses) expect_life(kKinds[2], use);
}

TEST(RequestLife, OfPersistentRequestsGoesOnWhileTheCommunicatorIsDestroyed) {
  for (const Use& use : kUses) expect_life(kKinds[3], use);
}

TEST(RequestLife, OfRequestsOfAGroupGoesOnWhileTheCommunicatorIsDestroyed) {
  for (const Use& use : kUses) expect_life(kKinds[4], use);
}

// Two threads on the same request, and one that reads what it has got.
TEST(RequestLife, IsOneForAllThreadsThatUseARequest) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (int round = 0; round < kRounds; ++round) {
      tutti_comm_t part = nullptr;
      ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &part));
      int32_t in[2] = {};
      const int32_t out[2] = {round, rank};
      tutti_request_t receive = nullptr;
      ASSERT_OK(tutti_irecv(in, 2, TUTTI_INT32, 1 - rank, 0, part, &receive));
      const auto ask = [&] {
        tutti_recv_info info{};
        EXPECT_OK(tutti_request_wait(receive));
        EXPECT_OK(tutti_request_recv_info(receive, &info));
        EXPECT_EQ(info.count, 2U);
      };
      std::thread first(ask);
      std::thread second(ask);
      ASSERT_OK(tutti_send(out, 2, TUTTI_INT32, 1 - rank, 0, part));
      ASSERT_OK(tutti_comm_destroy(part));
      first.join();
      second.join();
      ASSERT_OK(tutti_request_free(receive));
      EXPECT_EQ(in[0], round);
    }
  });
}

// A thread starts its request until the communicator goes: that start or the next is refused.
TEST(RequestLife, EndsForStartsWhenTheCommunicatorIsDestroyed) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    for (int round = 0; round < kRounds; ++round) {
      tutti_comm_t part = nullptr;
      ASSERT_OK(tutti_comm_split(comm, 0, 0, nullptr, &part));
      float value = 1;
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_allreduce_init(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, part, &request));
      std::atomic<int> starts = 0;
      std::thread starter([&] {
        while (tutti_request_start(request) == TUTTI_OK) {
          EXPECT_OK(tutti_request_wait(request));
          ++starts;
        }
        EXPECT_ERROR_SAYS("tutti_request_start");
      });
      while (starts.load() == 0) std::this_thread::yield();
      ASSERT_OK(tutti_comm_destroy(part));
      starter.join();
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(request));
      EXPECT_ERROR_SAYS("is destroyed");
      ASSERT_OK(tutti_request_free(request));
    }
  });
}

TEST(RequestLife, EndsWithTheErrorWhereAnotherThreadAbortsMeanwhile) {
  Ranks ranks;
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    for (int round = 0; round < kRounds / 5; ++round) {
      tutti_comm_t part = nullptr;
      ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &part));
      int32_t never = 0;
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_irecv(&never, 1, TUTTI_INT32, 1 - rank, 0, part, &request));
      ASSERT_OK(tutti_barrier(comm));  // none is aborted before all have begun
      std::thread waiter([&] { EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_wait(request)); });
      std::thread aborter([part] { EXPECT_OK(tutti_comm_abort(part, "enough")); });
      aborter.join();
      EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_comm_destroy(part));
      waiter.join();
      ASSERT_OK(tutti_request_free(request));
      ASSERT_OK(tutti_barrier(comm));
    }
  });
}

TEST(RequestLife, IsNotEndedInACompletionFunction) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, 0, nullptr, &part));
    float value = 1;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_iallreduce(&value, &value, 1, TUTTI_FLOAT32, TUTTI_SUM, part, &request));
    const auto destroy = [](tutti_status /*status*/, const char* /*error*/, void* context) {
      EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE,
                    tutti_comm_destroy(*static_cast<tutti_comm_t*>(context)));
      EXPECT_ERROR_SAYS("completion function");
    };
    ASSERT_OK(tutti_request_on_complete(request, destroy, &part));
    ASSERT_OK(tutti_request_free(request));
    ASSERT_OK(tutti_comm_destroy(part));
  });
}

}  // namespace
}  // namespace tutti_test
