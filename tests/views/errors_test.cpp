// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What calls on views refuse, how they fail, and in which order they come.
#include <unistd.h>

#include <atomic>
#include <vector>

#include "views/on_views.hpp"

namespace tutti_test {
namespace {

using tutti::devices::MemoryKind;

class ViewErrors : public Views {};

TEST_P(ViewErrors, MixedBuffersAreNamed) {
  on_views(1, [](const OnView& on) {
    void* device = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &device));
    int host[16] = {};
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_allreduce(host, device, 16, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("is host memory");
    EXPECT_ERROR_SAYS("is device memory");
    EXPECT_ERROR_SAYS("allreduce");
    EXPECT_OK(tutti_free(on.view, device));
  });
}

TEST_P(ViewErrors, MemoryOfAnotherContextIsNamed) {
  on_views(1, [](const OnView& on) {
    const OwnQueue other(*GetParam());
    auto memory = other.context().allocate(MemoryKind::kDevice, 64);
    ASSERT_TRUE(memory.ok());
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_broadcast(*memory, 16, TUTTI_INT32, 0, on.view));
    EXPECT_ERROR_SAYS("another context");
    EXPECT_TRUE(other.context().free(*memory).ok());
  });
}

TEST_P(ViewErrors, HostBuffersWorkAsEver) {
  on_views(2, [](const OnView& on) {
    const int mine = on.rank + 1;
    int sum = 0;
    ASSERT_OK(tutti_allreduce(&mine, &sum, 1, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_EQ(sum, 3);
    tutti_recv_info info{};
    int theirs = 0;
    ASSERT_OK(tutti_sendrecv(&mine, 1, 1 - on.rank, 5, &theirs, 1, 1 - on.rank, 5, TUTTI_INT32,
                             on.view, &info));
    EXPECT_EQ(theirs, 2 - on.rank);
    EXPECT_EQ(info.source, 1 - on.rank);
  });
}

TEST_P(ViewErrors, QueuesThatCannotBeAreRefused) {
  on_views(1, [](const OnView& on) {
    tutti_comm_t view = nullptr;
    tutti_queue queue = on.queue.queue();
    queue.size = 3;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_view(on.comm, &queue, &view));
    EXPECT_ERROR_SAYS("TUTTI_QUEUE_INIT");
    queue = on.queue.queue();
    queue.api = static_cast<tutti_device_api>(3);
    EXPECT_STATUS(TUTTI_ERR_UNSUPPORTED, tutti_comm_view(on.comm, &queue, &view));
    EXPECT_ERROR_SAYS("tutti_queue.api is 3");
    queue = on.queue.queue();
    queue.flags = 64;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_view(on.comm, &queue, &view));
    EXPECT_ERROR_SAYS("0x40");
    EXPECT_EQ(view, nullptr);
  });
}

TEST_P(ViewErrors, ACommunicatorIsNotDestroyedBeforeItsViews) {
  on_views(1, [](const OnView& on) {
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_destroy(on.comm));
    EXPECT_ERROR_SAYS("1 views");
  });
}

TEST_P(ViewErrors, AMismatchIsToldToEveryRank) {
  Ranks ranks;
  ranks.breaks = true;
  on_views(ranks, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    const size_t count = on.rank == 0 ? 8 : 9;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_allreduce(memory, memory, count, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

// Which begin with pieces of one size.
TEST_P(ViewErrors, AMismatchOfLongCallsIsFoundAtOnce) {
  Ranks ranks;
  ranks.breaks = true;
  on_views(ranks, [](const OnView& on) {
    constexpr size_t kMost = 3 << 20;
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kMost * 4, &memory));
    const size_t count = on.rank == 0 ? kMost : kMost - 1;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_allreduce(memory, memory, count, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("3145728");
    EXPECT_ERROR_SAYS("3145727");
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, ADeadPeerEndsTheCall) {
  Ranks ranks;
  ranks.breaks = true;
  ranks.killed = {1};
  const Meeting met(ranks.count);
  on_views(ranks, [&met](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    ASSERT_OK(tutti_barrier(on.view));
    met.wait();
    if (on.rank == 1) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("rank 1");
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, AnAbortEndsTheCall) {
  Ranks ranks;
  ranks.breaks = true;
  on_views(ranks, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    if (on.rank == 1) {
      EXPECT_OK(tutti_comm_abort(on.view, "enough"));
    } else {
      EXPECT_STATUS(TUTTI_ERR_ABORTED,
                    tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
      EXPECT_ERROR_SAYS("enough");
    }
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, CallsOnTheCommunicatorTakeTheirTurn) {
  on_views(2, [](const OnView& on) {
    constexpr int kRounds = 30;
    constexpr size_t kCount = 5000;
    std::vector<int> ones(kCount, 1);
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kCount * sizeof(int), &memory));
    for (int round = 0; round < kRounds; ++round) {
      on.mirror.put(memory, ones.data(), kCount * sizeof(int));
      tutti_request_t request = nullptr;
      ASSERT_OK(
          tutti_iallreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view, &request));
      int sum = round;
      ASSERT_OK(tutti_allreduce(&sum, &sum, 1, TUTTI_INT32, TUTTI_MAX, on.comm));
      EXPECT_EQ(sum, round);
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_OK(tutti_request_free(request));
      std::vector<int> result(kCount);
      on.mirror.get(result.data(), memory, kCount * sizeof(int));
      EXPECT_EQ(result, std::vector<int>(kCount, 2));
    }
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, AReceiveListedBeforeTheSendInAGroupIsNoDeadlock) {
  on_views(2, [](const OnView& on) {
    constexpr size_t kCount = 100'000;
    void* in = nullptr;
    void* out = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kCount * 4, &in));
    ASSERT_OK(tutti_alloc(on.view, kCount * 4, &out));
    const std::vector<int> mine(kCount, on.rank + 10);
    on.mirror.put(out, mine.data(), kCount * 4);
    tutti_recv_info info{};
    ASSERT_OK(tutti_group_start());
    ASSERT_OK(tutti_recv(in, kCount, TUTTI_INT32, 1 - on.rank, 0, on.view, &info));
    ASSERT_OK(tutti_send(out, kCount, TUTTI_INT32, 1 - on.rank, 0, on.view));
    ASSERT_OK(tutti_group_end());
    EXPECT_EQ(info.count, kCount);
    std::vector<int> theirs(kCount);
    on.mirror.get(theirs.data(), in, kCount * 4);
    EXPECT_EQ(theirs, std::vector<int>(kCount, 11 - on.rank));
    EXPECT_OK(tutti_free(on.view, in));
    EXPECT_OK(tutti_free(on.view, out));
  });
}

TEST_P(ViewErrors, SubCommunicatorsHaveViewsOfTheirOwn) {
  on_views(4, [](const OnView& on) {
    tutti_comm_t half = nullptr;
    ASSERT_OK(tutti_comm_split(on.view, on.rank / 2, on.rank, nullptr, &half));
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(half, &queue, &view));
    Collectives collectives(on.rank % 2, view);
    collectives.allreduce(TUTTI_FLOAT32, Op::kAvg, 1000, {});
    EXPECT_OK(tutti_comm_destroy(view));
    EXPECT_OK(tutti_comm_destroy(half));
  });
}

TEST_P(ViewErrors, ACallEndsThoughNobodyWaitsForIt) {
  on_views(2, [](const OnView& on) {
    constexpr size_t kCount = 3 << 20;  // in pieces
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kCount * 4, &memory));
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_iallreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view, &request));
    std::atomic<int> ended{-1};
    const auto end = [](tutti_status status, const char* /*error*/, void* context) {
      static_cast<std::atomic<int>*>(context)->store(status);
    };
    ASSERT_OK(tutti_request_on_complete(request, end, &ended));
    for (int ms = 0; ended.load() < 0 && ms < 60'000; ++ms) usleep(1000);
    EXPECT_EQ(ended.load(), TUTTI_OK);
    ASSERT_OK(tutti_request_free(request));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, TheEventComesToPassWithTheRequest) {
  on_views(2, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_iallreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view, &request));
    void* event = nullptr;
    ASSERT_OK(tutti_request_event(request, &event));
    EXPECT_NE(event, nullptr);
    ASSERT_OK(tutti_request_wait(request));
    void* again = nullptr;
    ASSERT_OK(tutti_request_event(request, &again));
    EXPECT_EQ(again, event);
    ASSERT_OK(tutti_request_free(request));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(ViewErrors, RequestsOutliveTheirViewButAreNotStartedAgain) {
  on_views(2, [](const OnView& on) {
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(on.comm, &queue, &view));
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    tutti_request_t again = nullptr;
    tutti_request_t once = nullptr;
    ASSERT_OK(tutti_allreduce_init(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, view, &again));
    ASSERT_OK(tutti_request_start(again));
    ASSERT_OK(tutti_iallreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, view, &once));
    ASSERT_OK(tutti_comm_destroy(view));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(again));
    EXPECT_ERROR_SAYS("tutti_comm_destroy");
    void* event = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_event(again, &event));
    for (tutti_request_t request : {again, once}) {
      EXPECT_OK(tutti_request_wait(request));
      EXPECT_OK(tutti_request_free(request));
    }
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TUTTI_FOR_EVERY_API(ViewErrors);

}  // namespace
}  // namespace tutti_test
