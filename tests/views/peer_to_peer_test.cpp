// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives that devices run, which read one another's buffers: on the test driver for Level
// Zero, whose counts tell which path a call took.
#ifdef TUTTI_TEST_ZE_PATH
#include <algorithm>

#include "api/guard.hpp"
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

// Every collective, in place or not, at one turn.
void every_collective(Collectives& on, int turn) {
  const Variant variant{kForms[turn % 3], turn % 2 == 0, turn / 2 % 2 == 0};
  const int root = turn % on.ranks();
  const size_t count = turn % 3 == 0 ? 20'001 : 333;
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.allreduce(TUTTI_BFLOAT16, Op::kAvg, count, variant);
  on.allreduce(TUTTI_FLOAT8_E4M3, Op::kPremul, count, variant);
  on.reduce_scatter(TUTTI_FLOAT16, Op::kAvg, count, variant);
  on.reduce(TUTTI_INT8, Op::kMax, count, root, variant);
  on.allgather(TUTTI_INT16, count, variant);
  on.gather(TUTTI_INT32, count, root, variant);
  on.scatter(TUTTI_INT64, count, root, variant);
  on.broadcast(TUTTI_INT8, count, root, variant);
  on.alltoall(TUTTI_FLOAT64, count, variant);
  on.reduce(TUTTI_BFLOAT16, Op::kAvg, count, root, variant);
  on.reduce_scatterv(TUTTI_FLOAT32, Op::kAvg, count, variant);
  on.reduce_scatterv(TUTTI_FLOAT16, Op::kPremul, count, variant);
  on.allgatherv(TUTTI_INT8, count, variant);
  on.gatherv(TUTTI_INT16, count, root, variant);
  on.scatterv(TUTTI_FLOAT32, count, root, variant);
  on.alltoallv(TUTTI_INT8, count, variant);
}

TEST_F(Direct, ResultsAreThoseOfTheHostHoweverCommandsAreShuffled) {
  for (int seed = 1; seed <= 6; ++seed) {
    const int ranks = 2 + seed % 3;
    on_devices(so_many(ranks), {{"SHUFFLE", seed}, {"DELAY_US", 20 * (seed % 3)}},
               [&](const OnView& view) {
                 Collectives on(view.rank, view.view);
                 for (int turn = seed; turn < seed + 3; ++turn) every_collective(on, turn);
                 EXPECT_GT(opened(), 0) << "they read one another's memory";
                 EXPECT_GT(kernels(), 0);
                 EXPECT_EQ(driver_complaints(), 0);
               });
  }
}

TEST_F(Direct, LongCallsAreDividedAmongTheDevices) {
  on_devices(so_many(2), {}, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    constexpr size_t kCount = (2 << 20) + 5;
    const long before = kernels();
    on.allreduce(TUTTI_FLOAT32, Op::kSum, kCount, {});
    on.allreduce(TUTTI_FLOAT32, Op::kSum, kCount, {.form = Form::kBlocking, .in_place = true});
    EXPECT_EQ(kernels() - before, 2) << "each rank reduces its half at once";
  });
}

// More than a kernel takes: what passes from kernel to kernel is not rounded.
TEST_F(Direct, MoreRanksThanAKernelTakesSourcesGetTheBitsOfTheHost) {
  on_devices(so_many(10), {}, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    on.allreduce(TUTTI_BFLOAT16, Op::kSum, 777, {});
    on.allreduce(TUTTI_FLOAT16, Op::kAvg, 20'001, {.form = Form::kBlocking, .in_place = true});
    on.reduce_scatter(TUTTI_INT32, Op::kAvg, 55, {});
    on.alltoallv(TUTTI_INT8, 300, {});
    EXPECT_GE(kernels(), 3 * 2);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(Direct, UnevenBlocksAreReadWhereTheyLie) {
  on_devices(so_many(3), {{"SHUFFLE", 5}}, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    const auto read = [&](const auto& call) {
      const long before = opened();
      for (int turn = 0; turn < 6; ++turn) {
        call({kForms[turn % 3], turn % 2 == 0, turn / 2 % 2 == 0}, turn % 3);
      }
      EXPECT_GT(opened(), before);
    };
    read([&](const Variant& v, int) { on.alltoallv(TUTTI_INT32, 500, v); });
    read([&](const Variant& v, int root) { on.gatherv(TUTTI_INT32, 500, root, v); });
    read([&](const Variant& v, int root) { on.scatterv(TUTTI_INT32, 500, root, v); });
    read([&](const Variant& v, int) { on.allgatherv(TUTTI_INT32, 500, v); });
    read([&](const Variant& v, int) { on.reduce_scatterv(TUTTI_INT32, Op::kSum, 500, v); });
    EXPECT_EQ(driver_complaints(), 0);
  });
}

// The driver answers at once here, and a rank asks it only for what the call needs.
TEST_F(Direct, AWarmSmallAllreduceMakesFewCallsOfTheDriver) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    constexpr int kMostCalls = 12;
    constexpr size_t kCount = 256;
    auto memory = on.queue.context().allocate(tutti::devices::MemoryKind::kDevice, kCount * 8);
    ASSERT_TRUE(memory.ok()) << "which the driver has to be asked about";
    auto* const send = static_cast<float*>(*memory);
    for (float* const recv : {send, send + kCount}) {
      long least = 1000;
      for (int round = 0; round < 20; ++round) {
        const long before = driver_calls(nullptr);
        ASSERT_OK(tutti_allreduce(send, recv, kCount, TUTTI_FLOAT32, TUTTI_SUM, on.view));
        least = std::min(least, driver_calls(nullptr) - before);
      }
      EXPECT_LE(least, kMostCalls);
    }
    ASSERT_OK(tutti_barrier(on.comm));
    EXPECT_TRUE(on.queue.context().free(*memory).ok());
  });
}

// How many calls of the host this rank has made.
uint64_t calls_of_host(const OnView& on) { return on.comm->inside->executor().calls(); }

// One by which ranks tell what they call, and where their buffers lie, and one for each tick.
TEST_F(Direct, AWarmCallMakesTwoCallsOfTheHostAndOneForEachFurtherTick) {
  on_devices(so_many(3), {}, [](const OnView& on) {
    constexpr size_t kLong = 3 << 20;  // an allreduce that is divided
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 2 * kLong, &memory));
    auto* const send = static_cast<std::byte*>(memory);
    auto* const recv = send + kLong;
    const std::vector<size_t> counts{1, 2, 3};
    const std::vector<size_t> mine(3, static_cast<size_t>(on.rank) + 1);
    const auto calls_of = [&](const auto& call) {
      call(send, recv);
      const uint64_t before = calls_of_host(on);
      call(send + 64, recv + 64);  // elsewhere in the same allocations
      return calls_of_host(on) - before;
    };
    EXPECT_EQ(calls_of([&](std::byte* from, std::byte* to) {
                ASSERT_OK(tutti_allreduce(from, to, 99, TUTTI_FLOAT32, TUTTI_SUM, on.view));
              }),
              2u);
    EXPECT_EQ(calls_of([&](std::byte* from, std::byte* to) {
                ASSERT_OK(tutti_allgather(from, to, 99, TUTTI_FLOAT32, on.view));
              }),
              2u);
    EXPECT_EQ(calls_of([&](std::byte*, std::byte* to) {
                ASSERT_OK(tutti_broadcast(to, 99, TUTTI_FLOAT32, 1, on.view));
              }),
              2u);
    EXPECT_EQ(calls_of([&](std::byte* from, std::byte* to) {
                ASSERT_OK(tutti_alltoallv(from, counts.data(), nullptr, to, mine.data(), nullptr,
                                          TUTTI_INT32, on.view));
              }),
              2u);
    EXPECT_EQ(
        calls_of([&](std::byte* from, std::byte* to) {
          ASSERT_OK(tutti_allreduce(from, to, (kLong - 64) / 4, TUTTI_FLOAT32, TUTTI_SUM, on.view));
        }),
        3u);
    EXPECT_GT(kernels(), 0);
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

// One rank reads by another view, which has opened nothing yet.
TEST_F(Direct, WhatARankHasOpenedByAnotherViewItOpensAnew) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    const auto calls_on = [&](tutti_comm_t view) {
      const uint64_t before = calls_of_host(on);
      EXPECT_OK(tutti_allreduce(memory, memory, 16, TUTTI_INT32, TUTTI_MAX, view));
      return calls_of_host(on) - before;
    };
    EXPECT_EQ(calls_on(on.view), 3u);
    EXPECT_EQ(calls_on(on.view), 2u);
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t second = nullptr;
    ASSERT_OK(tutti_comm_view(on.comm, &queue, &second));
    tutti_comm_t const other = on.rank == 0 ? on.view : second;
    EXPECT_EQ(calls_on(other), 3u);
    calls_on(other);  // rank 0 has closed what the first view of rank 1 showed
    EXPECT_EQ(calls_on(other), 2u);
    EXPECT_EQ(calls_on(on.view), 3u);
    EXPECT_OK(tutti_comm_destroy(second));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_F(Direct, AllRanksFallBackTogetherIfOneIsRefused) {
  for (const char* const refused : {"FAIL_IPC_OPEN", "FAIL_IPC_GET", "FAIL_BUILD", "NO_FP64"}) {
    SCOPED_TRACE(refused);
    const auto switches = [&](int rank) { return rank == 1 ? Switches{{refused, 1}} : Switches{}; };
    on_devices(
        so_many(3), switches, [](int) { return 0; },
        [](const OnView& view) {
          Collectives on(view.rank, view.view);
          on.allreduce(TUTTI_FLOAT64, Op::kSum, 1000, {});
          EXPECT_EQ(kernels(), 0);
          on.allreduce(TUTTI_FLOAT64, Op::kAvg, 1000, {.form = Form::kBlocking, .in_place = true});
          on.reduce_scatter(TUTTI_FLOAT64, Op::kMin, 77, {.form = Form::kPersistent});
          EXPECT_EQ(kernels(), 0);
        });
  }
}

TEST_F(Direct, BuffersOfTheHostOnOneRankAreStaged) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    void* device = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &device));
    std::vector<int> ones(16, 1);
    on.mirror.put(device, ones.data(), 64);
    void* const buffer = on.rank == 0 ? device : ones.data();
    for (int round = 0; round < 2; ++round) {
      ASSERT_OK(tutti_allreduce(buffer, buffer, 16, TUTTI_INT32, TUTTI_SUM, on.view));
    }
    EXPECT_EQ(kernels(), 0);
    if (on.rank == 0) on.mirror.get(ones.data(), device, 64);
    EXPECT_EQ(ones, std::vector<int>(16, 4));
    EXPECT_OK(tutti_free(on.view, device));
  });
}

TEST_F(Direct, TilesOfACardReachOneAnother) {
  on_devices(
      so_many(2),
      [](int) {
        return Switches{{"SUBDEVICES", 2}};
      },
      [](int rank) { return 1 + rank; },
      [](const OnView& view) {
        Collectives on(view.rank, view.view);
        for (int turn = 0; turn < 4; ++turn) every_collective(on, turn);
        EXPECT_GT(kernels(), 0);
      });
}

TEST_F(Direct, TilesThatDoNotReachOneAnotherAreStaged) {
  for (const bool together : {false, true}) {
    on_tiles_apart(together, [&](const OnView& view) {
      Collectives on(view.rank, view.view);
      every_collective(on, 0);
      EXPECT_EQ(kernels() > 0, together);
      EXPECT_EQ(opened() > 0, together);
    });
  }
}

// In the first call they give one another nothing, and in the second something.
TEST_F(Direct, EmptyBlocksDoNotHideThatTilesDoNotReachOneAnother) {
  for (const bool together : {false, true}) {
    on_tiles_apart(together, [&](const OnView& on) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(on.view, 64, &memory));
      const std::vector<int> own(8, on.rank);
      on.mirror.put(memory, own.data(), 32);
      auto* const recv = static_cast<std::byte*>(memory) + 32;
      for (const size_t passed : {0U, 1U, 0U, 1U}) {
        std::vector<size_t> counts(2, passed);
        counts[static_cast<size_t>(on.rank)] = 1;
        const size_t displacements[] = {0, 1};
        ASSERT_OK(tutti_alltoallv(memory, counts.data(), displacements, recv, counts.data(),
                                  displacements, TUTTI_INT32, on.view));
      }
      std::vector<int> got(2);
      on.mirror.get(got.data(), recv, 8);
      EXPECT_EQ(got, (std::vector<int>{0, 1}));
      EXPECT_EQ(opened() > 0, together);
      ASSERT_OK(tutti_barrier(on.comm));
      EXPECT_OK(tutti_free(on.view, memory));
    });
  }
}

TEST_F(Direct, TilesOfACardHaveACommunicatorOfTheirOwn) {
  on_devices(
      so_many(4),
      [](int) {
        return Switches{{"DEVICES", 2}, {"SUBDEVICES", 2}, {"NO_PEERS", 1}};
      },
      [](int rank) { return 3 * (rank / 2) + 1 + rank % 2; },
      [](const OnView& view) {
        tutti_comm_t card = nullptr;
        ASSERT_OK(tutti_comm_split(view.comm, view.rank / 2, view.rank, nullptr, &card));
        const tutti_queue queue = view.queue.queue();
        tutti_comm_t of_card = nullptr;
        ASSERT_OK(tutti_comm_view(card, &queue, &of_card));
        {
          Collectives on(view.rank % 2, of_card);
          for (int turn = 0; turn < 2; ++turn) every_collective(on, turn);
          EXPECT_GT(kernels(), 0) << "the tiles reach one another";
        }
        Collectives on(view.rank, view.view);
        every_collective(on, 0);
        EXPECT_OK(tutti_comm_destroy(of_card));
        EXPECT_OK(tutti_comm_destroy(card));
      });
}

TEST_F(Direct, CardsThatReachOneAnotherDoSo) {
  on_devices(
      so_many(2),
      [](int) {
        return Switches{{"DEVICES", 2}};
      },
      [](int rank) { return rank; },
      [](const OnView& view) {
        Collectives on(view.rank, view.view);
        for (int turn = 0; turn < 2; ++turn) every_collective(on, turn);
        EXPECT_GT(kernels(), 0);
      });
}

TEST_F(Direct, CardsThatDoNotReachOneAnotherAreStaged) {
  on_devices(
      so_many(2),
      [](int) {
        return Switches{{"DEVICES", 2}, {"NO_PEERS", 1}};
      },
      [](int rank) { return rank; },
      [](const OnView& view) {
        Collectives on(view.rank, view.view);
        for (int turn = 0; turn < 2; ++turn) every_collective(on, turn);
        EXPECT_EQ(kernels(), 0);
        EXPECT_EQ(opened(), 0);
      });
}

TEST_F(Direct, WhatPeersFreeIsClosedAndWhatLiesThereLaterIsRead) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    constexpr int kRounds = 30;
    size_t descriptors_before = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (round == kRounds / 3) descriptors_before = descriptors();
      reduce_given_memory(on, round);
    }
    EXPECT_EQ(opened(), kRounds);
    EXPECT_GE(driver_calls("zeMemCloseIpcHandle"), kRounds - 1);
    EXPECT_LE(descriptors(), descriptors_before);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(Direct, ARankMayChangeItsView) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    const OwnQueue second(*tutti::devices::device_api("level-zero"));
    const tutti_queue queue = second.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(on.comm, &queue, &view));
    void* memory[2] = {};
    ASSERT_OK(tutti_alloc(on.view, 64, &memory[0]));
    ASSERT_OK(tutti_alloc(view, 64, &memory[1]));
    int sum = 1;
    std::vector<int> values(16, sum);
    on.mirror.put(memory[0], values.data(), 64);
    for (int round = 0; round < 4; ++round) {
      const bool other = on.rank == 1 && round % 2 == 1;
      if (other) {
        tutti::devices::DeviceContext& context = second.context();
        auto engine = context.make_engine(tutti::devices::EngineKind::kCopy);
        ASSERT_TRUE(engine.ok());
        ASSERT_TRUE((*engine)->copy(memory[1], values.data(), 64).ok());
        ASSERT_TRUE((*engine)->submit().ok());
      }
      ASSERT_OK(tutti_barrier(on.comm));
      void* const buffer = memory[other ? 1 : 0];
      if (other) {
        ASSERT_OK(tutti_allreduce(buffer, buffer, 16, TUTTI_INT32, TUTTI_MAX, view));
      } else {
        ASSERT_OK(tutti_allreduce(buffer, buffer, 16, TUTTI_INT32, TUTTI_MAX, on.view));
      }
    }
    on.mirror.get(values.data(), memory[0], 64);
    EXPECT_EQ(values, std::vector<int>(16, sum));
    EXPECT_OK(tutti_free(on.view, memory[0]));
    EXPECT_OK(tutti_free(view, memory[1]));
    EXPECT_OK(tutti_comm_destroy(view));
  });
}

}  // namespace
}  // namespace tutti_test
#endif
