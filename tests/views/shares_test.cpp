// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives in shares: the devices of each host reduce, and a share of each rank passes between
// hosts, which are made of one (support/hosts.hpp). On the test driver for Level Zero.
#ifdef TUTTI_TEST_ZE_PATH
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

constexpr size_t kLong = (5 << 20) + 7;  // bytes: several pieces, the last a short one

// One character per rank: the name of its host.
Ranks ranks_on(const std::string& hosts) {
  Ranks ranks = so_many(static_cast<int>(hosts.size()));
  ranks.before = [hosts](int rank) {
    setenv("TUTTI_HOST_ID", std::string(1, hosts[static_cast<size_t>(rank)]).c_str(), 1);
  };
  return ranks;
}

// Every collective that is divided, in place or not, at one turn.
void every_collective(Collectives& on, int turn) {
  const Variant variant{kForms[turn % 3], turn % 2 == 0, turn / 2 % 2 == 0};
  const Variant apart{variant.form, false, variant.skewed};
  const auto blocks = static_cast<size_t>(on.ranks());
  const int root = turn % on.ranks();
  on.allreduce(TUTTI_FLOAT32, turn % 2 == 0 ? Op::kSum : Op::kAvg, kLong / 4, variant);
  on.allreduce(TUTTI_INT32, Op::kPremul, kLong / 4, variant);
  on.reduce(TUTTI_INT8, Op::kMax, kLong, root, variant);
  on.broadcast(TUTTI_BFLOAT16, kLong / 2, root, apart);
  on.reduce_scatter(TUTTI_FLOAT32, Op::kAvg, kLong / 4 / blocks, variant);
  on.allgather(TUTTI_INT16, kLong / 2 / blocks, variant);
}

TEST_F(Direct, RanksOfSeveralHostsReduceOnTheirDevices) {
  int turn = 0;
  for (const char* const hosts : {"abba", "aabbcc"}) {
    SCOPED_TRACE(hosts);
    ++turn;
    on_devices(ranks_on(hosts), {{"SHUFFLE", turn}, {"DELAY_US", 20 * (turn % 2)}},
               [turn](const OnView& view) {
                 Collectives on(view.rank, view.view);
                 every_collective(on, turn);
                 EXPECT_GT(opened(), 0) << "they read one another's memory";
                 EXPECT_GT(kernels(), 0);
                 EXPECT_EQ(driver_complaints(), 0);
               });
  }
}

// Floats of 16 bits are rounded once, and uneven hosts have no columns for all.
TEST_F(Direct, WhatHasNoSharesIsStagedBetweenHosts) {
  on_devices(ranks_on("aabb"), {}, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    on.allreduce(TUTTI_BFLOAT16, Op::kSum, kLong / 2, {});
    on.allreduce(TUTTI_FLOAT32, Op::kSum, 1000, {});
    on.alltoall(TUTTI_INT8, kLong / 4, {});
    EXPECT_EQ(kernels(), 0);
  });
  on_devices(ranks_on("aab"), {}, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    on.allreduce(TUTTI_FLOAT32, Op::kSum, kLong / 4, {});
    EXPECT_EQ(kernels(), 0);
  });
}

TEST_F(Direct, RanksOfAllHostsFallBackTogetherIfOneReachesNoMemory) {
  const auto switches = [](int rank) {
    return rank == 3 ? Switches{{"FAIL_IPC_OPEN", 1}} : Switches{};
  };
  on_devices(
      ranks_on("aabb"), switches, [](int) { return 0; },
      [](const OnView& view) {
        Collectives on(view.rank, view.view);
        for (int round = 0; round < 2; ++round) {
          on.allreduce(TUTTI_FLOAT32, Op::kSum, kLong / 4, {});
        }
        EXPECT_EQ(kernels(), 0);
      });
}

class SharesFail : public Direct {
 protected:
  // With kLong bytes of each device, on which all ranks have ended a call.
  static void on_four(Ranks ranks, const std::function<Switches(int)>& switches,
                      const std::function<void(const OnView&, void* memory)>& body) {
    ranks.breaks = true;
    const Meeting reduced(ranks.count);
    on_devices(
        ranks, switches, [](int) { return 0; },
        [&](const OnView& on) {
          void* memory = nullptr;
          ASSERT_OK(tutti_alloc(on.view, kLong, &memory));
          ASSERT_OK(tutti_allreduce(memory, memory, kLong / 4, TUTTI_INT32, TUTTI_SUM, on.view));
          EXPECT_GT(kernels(), 0);
          reduced.wait();
          body(on, memory);
        });
  }
  static Switches none(int /*rank*/) { return {}; }
};

TEST_F(SharesFail, AKilledRankEndsTheCallOnAllHosts) {
  Ranks ranks = ranks_on("aabb");
  ranks.killed = {1};
  on_four(ranks, none, [](const OnView& on, void* memory) {
    if (on.rank == 1) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_allreduce(memory, memory, kLong / 4, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("rank 1");
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_F(SharesFail, AMismatchOfRanksOnDifferentHostsNamesBothCalls) {
  on_four(ranks_on("aabb"), none, [](const OnView& on, void* memory) {
    const tutti_op op = on.rank < 2 ? TUTTI_SUM : TUTTI_MAX;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_allreduce(memory, memory, kLong / 4, TUTTI_INT32, op, on.view));
    EXPECT_ERROR_SAYS("sum");
    EXPECT_ERROR_SAYS("max");
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_F(SharesFail, AKernelThatNeverEndsIsATimeoutThatNamesTheDevice) {
  const auto switches = [](int rank) {  // the three kernels of the first call end
    return rank == 2 ? Switches{{"STUCK_KERNEL", 3}} : Switches{};
  };
  on_four(ranks_on("aabb"), switches, [](const OnView& on, void* memory) {
    if (on.rank == 2) {
      ASSERT_OK(tutti_comm_set_timeout(on.comm, 1000));
    }
    EXPECT_EQ(tutti_allreduce(memory, memory, kLong / 4, TUTTI_INT32, TUTTI_SUM, on.view),
              TUTTI_ERR_TIMEOUT);
    if (on.rank == 2) {
      EXPECT_ERROR_SAYS("level-zero device 0");
    }
  });
}

// The commands of the next piece are in part on the device when one is refused.
TEST_F(SharesFail, MemoryStaysWhileADeviceThatRefusesCommandsMayUseIt) {
  const auto switches = [](int rank) {  // what comes after the first call's kernels waits
    return rank == 2 ? Switches{{"STUCK_KERNEL", 3}} : Switches{};
  };
  on_four(ranks_on("aabb"), switches, [](const OnView& on, void* memory) {
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t view = nullptr;
    ASSERT_OK(tutti_comm_view(on.comm, &queue, &view));
    if (on.rank == 2) {
      ASSERT_OK(tutti_comm_set_timeout(on.comm, 20'000));
      fail_driver_call("zeCommandListAppendBarrier", 1);  // after that of the mark
    }
    EXPECT_NE(tutti_allreduce(memory, memory, kLong / 4, TUTTI_INT32, TUTTI_SUM, view), TUTTI_OK);
    if (on.rank == 2) {
      EXPECT_ERROR_SAYS("zeCommandListAppendBarrier");
    }
    tutti_comm_destroy(view);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

}  // namespace
}  // namespace tutti_test
#endif
