// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Drivers that differ from one another as far as the specification of Level Zero lets them: calls
// run on the devices of each.
#ifdef TUTTI_TEST_ZE_PATH
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

class DirectOnDrivers : public Direct {
 protected:
  static void expect_right(Switches switches) {
    switches.push_back({"SHUFFLE", 4});
    on_devices(so_many(2), switches, [](const OnView& view) {
      Collectives on(view.rank, view.view);
      const Variant in_place{Form::kNonBlocking, true, true};
      on.allreduce(TUTTI_FLOAT32, Op::kSum, 20'001, {});
      on.allreduce(TUTTI_BFLOAT16, Op::kPremul, 20'001, in_place);
      on.alltoallv(TUTTI_INT32, 300, {});
      EXPECT_GT(opened(), 0);
      EXPECT_GT(kernels(), 0);
      EXPECT_EQ(driver_complaints(), 0);
    });
  }
};

TEST_F(DirectOnDrivers, WhoseFirstQueuesOnlyCopy) { expect_right({{"COPY_FIRST", 1}}); }

TEST_F(DirectOnDrivers, WhoseQueuesForKernelsDoNotCopy) { expect_right({{"NO_COPIES", 1}}); }

TEST_F(DirectOnDrivers, WhoseDevicesAreCpus) { expect_right({{"CPU", 1}}); }

TEST_F(DirectOnDrivers, ThatLaunchFewGroupsAtOnce) { expect_right({{"MOST_GROUPS", 3}}); }

TEST_F(DirectOnDrivers, ThatTakeKernelsInSmallGroups) { expect_right({{"GROUP_OF_KERNELS", 16}}); }

TEST_F(DirectOnDrivers, BehindOneWhoseDeviceIsNoGpu) { expect_right({{"OTHER_DRIVER", 1}}); }

TEST_F(DirectOnDrivers, WithOneQueueInEachGroup) { expect_right({{"QUEUES", 1}}); }

TEST_F(DirectOnDrivers, ThatMakeSmallPoolsOfEventsAlone) { expect_right({{"MOST_EVENTS", 3}}); }

TEST_F(DirectOnDrivers, ThatHaveNoMoreThanIsNeeded) { expect_right({{"BARE", 1}}); }

TEST_F(DirectOnDrivers, ThatRefuseToTellOfMemoryOfTheHost) {
  expect_right({{"REFUSE_UNKNOWN", 1}});
}

class MemoryOfAnotherDevice : public Direct {
 protected:
  static constexpr size_t kCount = 100;
  // In the queue's context.
  static int* allocate(const OnView& on) {
    const auto& api = *tutti::devices::device_api("level-zero");
    const auto second = api.make(1);
    const auto beside = second.ok() ? api.adopt({.context = on.queue.context().native().context,
                                                 .device = (*second)->native().device})
                                    : second;
    if (!beside.ok()) return nullptr;
    const auto made =
        (*beside)->allocate(tutti::devices::MemoryKind::kDevice, kCount * sizeof(int));
    return made.ok() ? static_cast<int*>(*made) : nullptr;
  }
};

TEST_F(MemoryOfAnotherDevice, IsNamedWhereTheQueuesDeviceDoesNotReachIt) {
  on_devices(so_many(1), {{"DEVICES", 2}, {"NO_PEERS", 1}}, [](const OnView& on) {
    int* const memory = allocate(on);
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_allreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("is memory of another device, which this one does not reach");
  });
}

TEST_F(MemoryOfAnotherDevice, PassesThroughTheHost) {
  on_devices(so_many(2), {{"DEVICES", 2}}, [](const OnView& on) {
    int* const memory = allocate(on);
    std::vector<int> values(kCount, on.rank + 1);
    on.mirror.put(memory, values.data(), kCount * sizeof(int));
    ASSERT_OK(tutti_allreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view));
    on.mirror.get(values.data(), memory, kCount * sizeof(int));
    EXPECT_EQ(values, std::vector<int>(kCount, 3));
    EXPECT_EQ(opened(), 0);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(DirectOnDrivers, ThatGiveAllAllocationsOneNumber) {
  expect_right({{"ONE_ID", 1}});
  on_devices(so_many(2), {{"ONE_ID", 1}}, [](const OnView& on) {
    // Each lies where the last one was, if the driver likes.
    for (int round = 1; round <= 10; ++round) reduce_given_memory(on, round);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

// Memory of the application, of which the driver is asked: several allocations at a time.
TEST_F(DirectOnDrivers, ThatGiveAllAllocationsOfTheApplicationOneNumber) {
  on_devices(so_many(2), {{"ONE_ID", 1}}, [](const OnView& on) {
    constexpr size_t kCount = 500;
    constexpr size_t kBytes = kCount * sizeof(int);
    std::vector<int*> buffers;
    for (size_t i = 0; i < 4; ++i) {
      const auto memory =
          on.queue.context().allocate(tutti::devices::MemoryKind::kDevice, (i + 1) * kBytes);
      ASSERT_TRUE(memory.ok()) << memory.status().message();
      buffers.push_back(static_cast<int*>(*memory));
      on.mirror.put(buffers.back(), std::vector<int>(kCount, static_cast<int>(i) + 1).data(),
                    kBytes);
    }
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_OK(tutti_allreduce(buffers[i], buffers[i], kCount, TUTTI_INT32, TUTTI_SUM, on.view));
      std::vector<int> values(kCount);
      on.mirror.get(values.data(), buffers[i], kBytes);
      EXPECT_EQ(values, std::vector<int>(kCount, 2 * (static_cast<int>(i) + 1)));
    }
    EXPECT_GT(kernels(), 0);
    ASSERT_OK(tutti_barrier(on.comm));
    for (int* const buffer : buffers) EXPECT_TRUE(on.queue.context().free(buffer).ok());
  });
}

TEST_F(DirectOnDrivers, ThatSayNothingOfWhatTheyHaveOpened) { expect_right({{"SILENT_IPC", 1}}); }

TEST_F(DirectOnDrivers, WhoseHandlesHaveNoDescriptor) { expect_right({{"OPAQUE_IPC", 1}}); }

}  // namespace
}  // namespace tutti_test
#endif
