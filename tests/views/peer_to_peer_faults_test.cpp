// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What ends calls that devices run, and what refuses them.
#ifdef TUTTI_TEST_ZE_PATH
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>

#include "support/forbidden.hpp"
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

// Whichever call of the driver it is that finds the device lost.
TEST_F(Direct, ALostDeviceEndsTheCallOnAllRanks) {
  Ranks ranks = so_many(2);
  ranks.breaks = true;
  for (int after = 1; after <= 9; ++after) {
    SCOPED_TRACE(after);
    const Meeting reduced(2);
    on_devices(ranks, {}, [&](const OnView& on) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(on.view, 64, &memory));
      ASSERT_OK(tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
      reduced.wait();  // or the loss could end the first call of the other rank
      void* const library = dlopen(TUTTI_TEST_ZE_PATH, RTLD_NOW | RTLD_NOLOAD);
      auto* const lose = reinterpret_cast<void (*)(long)>(dlsym(library, "tutti_test_ze_lose"));
      if (on.rank == 1) lose(after);
      tutti_status status = TUTTI_OK;
      for (int round = 0; round < 2 && status == TUTTI_OK; ++round) {
        status = tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view);
      }
      EXPECT_NE(status, TUTTI_OK);
      EXPECT_ERROR_SAYS("the device is lost");
    });
  }
}

TEST_F(Direct, AKilledRankEndsTheCallsOfThoseWhoReadItsMemory) {
  Ranks ranks = so_many(3);
  ranks.breaks = true;
  ranks.killed = {1};
  const Meeting reduced(3);
  on_devices(ranks, {}, [&](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    ASSERT_OK(tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_EQ(opened(), 2);
    reduced.wait();
    if (on.rank == 1) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("rank 1");
    EXPECT_OK(tutti_free(on.view, memory));
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(Direct, WhatAKilledRankShowedIsClosedWithTheView) {
  Ranks ranks = so_many(3);
  ranks.breaks = true;
  ranks.killed = {1};
  const Meeting reduced(3);
  on_devices(ranks, {}, [&](const OnView& on) {
    const size_t descriptors_before = descriptors();
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(on.comm, &queue, &view));
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(view, 64, &memory));
    ASSERT_OK(tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, view));
    reduced.wait();
    if (on.rank == 1) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, view));
    EXPECT_OK(tutti_free(view, memory));
    EXPECT_EQ(opened(), 2);
    tutti_comm_destroy(view);
    EXPECT_EQ(driver_calls("zeMemCloseIpcHandle"), 2);
    EXPECT_LE(descriptors(), descriptors_before);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

// As where ptrace_scope, a filter of system calls or an old kernel says so.
TEST_F(Direct, HandlesGoByASocketWhereNoDescriptorMayBeTaken) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  for (const int refused : {1, 2}) {  // which rank; 2: all
    Ranks ranks = so_many(3);
    ranks.before = [refused](int rank) {
      if (rank == 1 || refused == 2) {
        ASSERT_TRUE(forbid({{SYS_pidfd_getfd, EPERM}}));
      }
    };
    on_devices(ranks, {}, [](const OnView& view) {
      Collectives on(view.rank, view.view);
      const size_t descriptors_before = descriptors();
      for (int round = 0; round < 6; ++round) {
        on.allreduce(TUTTI_FLOAT32, Op::kSum, 1000, {.form = kForms[round % 3]});
        on.alltoallv(TUTTI_INT32, 300, {});
      }
      EXPECT_GT(opened(), 0);
      EXPECT_GT(kernels(), 0);
      // What is open of peers has one each, and so has what is shown, and the socket.
      EXPECT_LE(descriptors(), descriptors_before + static_cast<size_t>(2 * opened()) + 1);
      EXPECT_EQ(driver_complaints(), 0);
    });
  }
}

TEST_F(Direct, WithoutASocketEitherAllRanksFallBackTogether) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  on_devices(so_many(3), {}, [](const OnView& view) {
    if (view.rank == 1) {
      ASSERT_TRUE(forbid({{SYS_pidfd_getfd, ENOSYS}, {SYS_connect, EPERM}}));
    }
    Collectives on(view.rank, view.view);
    for (int round = 0; round < 3; ++round) {
      on.allreduce(TUTTI_FLOAT32, Op::kSum, 1000, {});
      on.alltoallv(TUTTI_INT32, 300, {});
    }
    EXPECT_EQ(kernels(), 0);
  });
}

// One that did not begin anew, too.
TEST_F(Direct, AnEventOfAFailedReceiveComesToPass) {
  on_devices(so_many(1), {}, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_recv_init(memory, 8, TUTTI_INT32, 0, 0, on.view, &request));
    const std::vector<int> sent(16, 1);
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_send(sent.data(), 8, TUTTI_INT32, 0, 0, on.view));
    ASSERT_OK(tutti_request_wait(request));
    const auto is_signalled = [](void* event) {
      void* const loader = dlopen("libze_loader.so.1", RTLD_NOW);
      return reinterpret_cast<int (*)(void*)>(dlsym(loader, "zeEventQueryStatus"))(event) == 0;
    };
    void* event = nullptr;
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_request_event(request, &event));
    EXPECT_FALSE(is_signalled(event));
    ASSERT_OK(tutti_send(sent.data(), 16, TUTTI_INT32, 0, 0, on.view));
    EXPECT_STATUS(TUTTI_ERR_TRUNCATED, tutti_request_wait(request));
    EXPECT_TRUE(is_signalled(event));
    ASSERT_OK(tutti_request_free(request));

    ASSERT_OK(tutti_recv_init(memory, 8, TUTTI_INT32, 0, 0, on.view, &request));
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_send(sent.data(), 8, TUTTI_INT32, 0, 0, on.view));
    ASSERT_OK(tutti_request_wait(request));
    tutti_request_t other = nullptr;  // has the memory that the first had
    ASSERT_OK(tutti_irecv(memory, 8, TUTTI_INT32, 0, 1, on.view, &other));
    fail_driver_call("zeMemAllocHost", 0);
    EXPECT_STATUS(TUTTI_ERR_OUT_OF_MEMORY, tutti_request_start(request));
    ASSERT_OK(tutti_request_event(request, &event));
    EXPECT_TRUE(is_signalled(event));
    ASSERT_OK(tutti_send(sent.data(), 8, TUTTI_INT32, 0, 1, on.view));
    for (tutti_request_t one : {request, other}) EXPECT_OK(tutti_request_free(one));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

class DirectMismatch : public Direct {
 protected:
  // With 256 bytes of the device.
  static void on_two(const std::function<void(const OnView&, std::byte* memory)>& body) {
    Ranks ranks = so_many(2);
    ranks.breaks = true;
    on_devices(ranks, {}, [&](const OnView& on) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(on.view, 256, &memory));
      body(on, static_cast<std::byte*>(memory));
      EXPECT_OK(tutti_free(on.view, memory));
    });
  }
};

TEST_F(DirectMismatch, OfUnevenBlocksThatDoNotMeet) {
  on_two([](const OnView& on, std::byte* memory) {
    std::byte* const recv = memory + 128;
    const size_t given[] = {3, 3};
    const size_t taken[] = {3, on.rank == 0 ? size_t{5} : size_t{3}};
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_alltoallv(memory, given, nullptr, recv, taken, nullptr,
                                                      TUTTI_INT32, on.view));
    EXPECT_ERROR_SAYS("expects 20 bytes of");
    EXPECT_ERROR_SAYS("which sends 12 bytes");
  });
}

TEST_F(DirectMismatch, OfUnevenBlocksKnownToAll) {
  on_two([](const OnView& on, std::byte* memory) {
    std::byte* const recv = memory + 128;
    const size_t counts[] = {8, on.rank == 0 ? size_t{6} : size_t{7}};
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_allgatherv(memory, recv, counts, nullptr, TUTTI_INT32, on.view));
    EXPECT_ERROR_SAYS("rank 1");
  });
}

TEST_F(Direct, AKernelThatNeverEndsIsATimeoutThatNamesTheDevice) {
  Ranks ranks = so_many(2);
  ranks.breaks = true;
  ranks.config.timeout_ms = 1500;
  const auto switches = [](int rank) {
    return rank == 1 ? Switches{{"STUCK_KERNEL", 1}} : Switches{};
  };
  on_devices(
      ranks, switches, [](int) { return 0; },
      [](const OnView& on) {
        void* memory = nullptr;
        ASSERT_OK(tutti_alloc(on.view, 64, &memory));
        ASSERT_OK(tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
        EXPECT_STATUS(TUTTI_ERR_TIMEOUT,
                      tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view));
        if (on.rank == 1) {
          EXPECT_ERROR_SAYS("level-zero device 0");
        }
      });
}

TEST_F(DirectMismatch, NamesBothCalls) {
  on_two([](const OnView& on, std::byte* memory) {
    const tutti_op op = on.rank == 0 ? TUTTI_SUM : TUTTI_MAX;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_allreduce(memory, memory, 8, TUTTI_INT32, op, on.view));
    EXPECT_ERROR_SAYS("sum");
    EXPECT_ERROR_SAYS("max");
  });
}

}  // namespace
}  // namespace tutti_test
#endif
