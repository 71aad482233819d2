// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that a device may use stays until it is known not to, wherever an engine fails.
#include "views/device_work.hpp"

#include <gtest/gtest.h>

#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

using tutti::Activity;
using tutti::Code;
using tutti::DeviceWork;
using tutti::Result;
using tutti::Status;

// Executes what it is given from `submit` on, until `ended`; refuses what comes after `fails`.
struct PlainEngine : tutti::devices::DeviceEngine {
  int given = 0;
  int fails = 1;
  uint64_t submitted = 0;
  bool ended = false;
  bool lost = false;

  Status after(std::shared_ptr<tutti::devices::DeviceEvent>) override { return {}; }
  Status copy(void*, const void*, size_t) override {
    return given++ < fails ? Status() : Status(Code::kSystem, "no more");
  }
  std::string name() const override { return "plain"; }
  uint64_t most_work_items() const override { return 0; }
  Status compile(const tutti::devices::DeviceKernel&) override { return {}; }
  Status launch(const tutti::devices::DeviceLaunch&) override { return {}; }
  Result<uint64_t> submit() override {
    if (lost) return Status(Code::kSystem, "lost");
    return ++submitted;
  }
  Result<bool> done_within(uint64_t, tutti::devices::Patience) override { return ended; }
};

TEST(DeviceWork, ThatWasGivenInPartIsWaitedFor) {
  PlainEngine engine;
  Activity activity;
  DeviceWork work(activity);
  EXPECT_TRUE(activity.at_rest(false)) << "of nothing";
  work.begin(engine);
  ASSERT_TRUE(engine.copy(nullptr, nullptr, 1).ok());
  ASSERT_FALSE(engine.copy(nullptr, nullptr, 1).ok());
  EXPECT_FALSE(activity.at_rest(false));
  EXPECT_EQ(engine.submitted, 1u);
  engine.ended = true;
  EXPECT_TRUE(activity.at_rest(false));
  EXPECT_EQ(engine.submitted, 1u) << "once";
  EXPECT_FALSE(activity.leaks());
}

TEST(DeviceWork, ThatDoesNotEndKeepsTheMemoryOfItsCall) {
  PlainEngine engine;
  Activity activity;
  DeviceWork work(activity);
  work.begin(engine);
  ASSERT_TRUE(engine.copy(nullptr, nullptr, 1).ok());
  EXPECT_TRUE(activity.at_rest(true)) << "late";
  EXPECT_TRUE(activity.leaks());
}

TEST(DeviceWork, WhoseScopeEndsBeforeItKeepsTheMemoryOfItsCall) {
  PlainEngine engine;
  Activity activity;
  {
    DeviceWork work(activity);
    work.begin(engine);
    ASSERT_TRUE(engine.copy(nullptr, nullptr, 1).ok());
  }
  EXPECT_TRUE(activity.leaks());
  EXPECT_TRUE(activity.at_rest(false)) << "it is under way no more";
}

TEST(DeviceWork, ThatNobodyCanTellOfKeepsTheMemoryOfItsCall) {
  PlainEngine engine;
  Activity activity;
  DeviceWork work(activity);
  work.begin(engine);
  ASSERT_TRUE(engine.copy(nullptr, nullptr, 1).ok());
  engine.lost = true;
  EXPECT_TRUE(activity.at_rest(false));
  EXPECT_TRUE(activity.leaks());
}

#ifdef TUTTI_TEST_ZE_PATH

struct Failure {
  const char* function;
  long after;  // calls
};

class EngineFails : public Direct {
 protected:
  static constexpr size_t kLong = (9 << 20) + 7;  // bytes: three pieces

  // Two buffers of the device on each of two ranks. Rank 1's engine fails, while what it was given
  // waits for its queue and uses memory of Tutti's; all of that goes with the view.
  template <typename Body>
  static void on_two(const Failure& failure, const Body& body) {
    SCOPED_TRACE(failure.function + std::string(" after ") + std::to_string(failure.after));
    Ranks ranks = so_many(2);
    ranks.breaks = true;
    on_devices(ranks, {{"FAIL_IPC_GET", 1}}, [&](const OnView& on) {
      const tutti_queue queue = on.queue.queue();
      tutti_comm_t view = nullptr;
      ASSERT_OK(tutti_comm_view(on.comm, &queue, &view));
      void* const send = buffer(on);
      void* const recv = buffer(on);
      ASSERT_OK(tutti_alltoall(send, recv, 16, TUTTI_INT8, view));
      const auto go = on.queue.context().make_event();
      ASSERT_TRUE(go.ok());
      if (on.rank == 1) {
        wait_in_queue(on, (*go)->native());
        fail_driver_call(failure.function, failure.after);
      }
      const tutti_status status = body(on, send, recv, view);
      if (on.rank == 1) {
        EXPECT_NE(status, TUTTI_OK);
      }
      tutti_comm_destroy(view);
      EXPECT_EQ(driver_complaints(), 0);
      EXPECT_TRUE((*go)->signal({}).ok());
      drain_queue(on);
    });
  }

 private:
  // Is not freed: commands that failed may never end.
  static void* buffer(const OnView& on) {
    const auto made = on.queue.context().allocate(tutti::devices::MemoryKind::kDevice, kLong);
    return made.ok() ? *made : nullptr;
  }
  static void wait_in_queue(const OnView& on, void* event) {
    void* const loader = dlopen("libze_loader.so.1", RTLD_NOW);
    auto* const barrier = reinterpret_cast<int (*)(void*, void*, uint32_t, void**)>(
        dlsym(loader, "zeCommandListAppendBarrier"));
    ASSERT_EQ(barrier(on.queue.context().native().queue, nullptr, 1, &event), 0);
  }
  static void drain_queue(const OnView& on) {
    const auto mark = on.queue.context().add_marker();
    ASSERT_TRUE(mark.ok());
    for (Result<bool> done = false; done.ok() && !*done; done = (*mark)->done()) sched_yield();
  }
};

TEST_F(EngineFails, BetweenTwoPartsOfAPieceOfACollective) {
  for (const Failure& failure :
       {Failure{"zeCommandListAppendMemoryCopy", 1}, Failure{"zeCommandListAppendBarrier", 2}}) {
    on_two(failure, [](const OnView&, void* send, void* recv, tutti_comm_t view) {
      return tutti_alltoall(send, recv, 16, TUTTI_INT8, view);
    });
  }
}

TEST_F(EngineFails, BetweenTwoPiecesOfAMessage) {
  for (const Failure& failure :
       {Failure{"zeCommandListAppendMemoryCopy", 1}, Failure{"zeCommandListAppendBarrier", 2}}) {
    on_two(failure, [](const OnView& on, void* send, void* recv, tutti_comm_t view) {
      if (on.rank == 1) return tutti_recv(recv, kLong, TUTTI_INT8, 0, 0, view, nullptr);
      return tutti_send(send, kLong, TUTTI_INT8, 1, 0, view);
    });
  }
}

#endif

}  // namespace
}  // namespace tutti_test
