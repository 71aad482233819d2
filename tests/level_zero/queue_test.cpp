// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti's engine for Level Zero beside the application's own queue, context and memory.
#include <cstring>
#include <functional>

#include "level_zero/engine.hpp"

namespace tutti_test {
namespace {

constexpr uint64_t kForEver = 60'000'000'000;  // nanoseconds; ends a hang

struct Application {
  ZeClient ze;
  Context context;

  Application(void* queue, bool immediate) { adopt(queue, immediate); }
  Application() : Application(nullptr, false) {}
  void adopt(void* queue, bool immediate) {
    must(level_zero().open());
    context = taken(level_zero().adopt(
        {.context = ze.context, .device = ze.device, .queue = queue, .immediate = immediate}));
  }
};

void expect_done(devices::DeviceEvent& event) {
  for (const int64_t deadline_ms = tutti::now_ms() + 60'000; !taken(event.done());) {
    ASSERT_LT(tutti::now_ms(), deadline_ms);
    tutti::yield_core();
  }
}

// A mark is done after what was in the queue before it, and not earlier.
template <typename Append>
void expect_mark_waits(Application& application, const Append& append) {
  for (int round = 0; round < 8; ++round) {  // whose events are used again
    ze_event_handle_t go = application.ze.event();
    append(go);
    const auto mark = taken(application.context->add_marker());
    EXPECT_FALSE(taken(mark->done()));
    ZE_MUST(zeEventHostSignal(go));
    expect_done(*mark);
  }
  EXPECT_EQ(complaints(), 0);
}

TEST(LevelZeroQueue, AMarkIsDoneAfterWhatIsInAnImmediateList) {
  with_test_driver({{"SHUFFLE", 2}}, [] {
    Application application;
    char* const to = application.ze.allocate<char>(64, true);
    char* const from = application.ze.allocate<char>(64, true);
    const ze_command_list_handle_t list = application.ze.immediate();
    application.adopt(list, true);
    expect_mark_waits(application, [&](ze_event_handle_t go) {
      ZE_MUST(zeCommandListAppendMemoryCopy(list, to, from, 64, nullptr, 1, &go));
    });
  });
}

// Of the group of queues that copy, which nobody names.
TEST(LevelZeroQueue, AMarkIsDoneAfterWhatIsInACommandQueueOfAnyGroup) {
  for (const uint32_t ordinal : {0u, 1u}) {
    with_test_driver({{"SHUFFLE", 2}, {"DELAY_US", 2000}}, [&] {
      Application application;
      char* const to = application.ze.allocate<char>(64, true);
      char* const from = application.ze.allocate<char>(64, true);
      const ze_command_queue_handle_t queue = application.ze.queue(ordinal);
      application.adopt(queue, false);
      expect_mark_waits(application, [&](ze_event_handle_t go) {
        ze_command_list_handle_t list = application.ze.list(ordinal);
        ZE_MUST(zeCommandListAppendMemoryCopy(list, to, from, 64, nullptr, 1, &go));
        ZE_MUST(zeCommandListClose(list));
        ZE_MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
      });
    });
  }
}

TEST(LevelZeroQueue, AQueueIsFirstTakenForOneThatRunsKernels) {
  with_test_driver({{"COPY_FIRST", 1}}, [] {
    Application application;
    const ze_command_queue_handle_t queue = application.ze.queue(1);
    application.adopt(queue, false);
    expect_done(*taken(application.context->add_marker()));
    EXPECT_EQ(calls("zeCommandQueueExecuteCommandLists"), 1);
  });
}

// The context goes while its mark is in the application's queue, which nobody may take apart then.
void leave_a_mark(Application& application, const std::function<void()>& append,
                  ze_event_handle_t go, bool ends) {
  append();
  taken(application.context->add_marker());
  if (ends) ZE_MUST(zeEventHostSignal(go));
  application.context.reset();
  EXPECT_EQ(live("event") > 1, !ends) << "besides that of the test";
  if (!ends) ZE_MUST(zeEventHostSignal(go));
}

TEST(LevelZeroQueue, WhatAQueueStillHoldsIsNotDestroyed) {
  for (const bool immediate : {true, false}) {
    for (const bool ends : {true, false}) {
      with_test_driver({{"SHUFFLE", 2}, {"DELAY_US", 2000}}, [&] {
        Application application;
        char* const to = application.ze.allocate<char>(64, true);
        char* const from = application.ze.allocate<char>(64, true);
        ze_event_handle_t go = application.ze.event();
        const ze_command_queue_handle_t queue = immediate ? nullptr : application.ze.queue();
        const ze_command_list_handle_t list =
            immediate ? application.ze.immediate() : application.ze.list();
        application.adopt(immediate ? static_cast<void*>(list) : queue, immediate);
        leave_a_mark(
            application,
            [&] {
              ZE_MUST(zeCommandListAppendMemoryCopy(list, to, from, 64, nullptr, 1, &go));
              if (immediate) return;
              ze_command_list_handle_t closed = list;
              ZE_MUST(zeCommandListClose(list));
              ZE_MUST(zeCommandQueueExecuteCommandLists(queue, 1, &closed, nullptr));
            },
            go, ends);
        EXPECT_EQ(complaints(), 0);
      });
    }
  }
}

TEST(LevelZeroQueue, WorkBeginsAfterTheEventThatItWaitsFor) {
  with_test_driver({{"SHUFFLE", 7}}, [] {
    const Application application;
    const Engine engine = make_engine(application.context);
    auto* const memory = allocate<int>(application.context, 16);
    std::vector<int> values(16, 1);
    must(engine->copy(memory, values.data(), 64));
    must(finish(*engine));
    const auto go = taken(application.context->make_event());
    const void* const sources[] = {memory, memory};
    must(engine->after(go));
    must(engine->reduce(
        {.type = tutti::DataType::kInt32, .dst = memory, .sources = sources, .count = 16}));
    const uint64_t submission = taken(engine->submit());
    EXPECT_FALSE(taken(engine->done(submission)));
    must(go->signal({}));
    must(wait_until_done(*engine, submission));
    must(engine->copy(values.data(), memory, 64));
    must(finish(*engine));
    EXPECT_EQ(values, std::vector<int>(16, 2));
  });
}

TEST(LevelZeroQueue, TheApplicationsWorkBeginsAfterASignalOfTutti) {
  with_test_driver({}, [] {
    Application application;
    char* const to = application.ze.allocate<char>(8, false);
    const auto go = taken(application.context->make_event());
    auto* native = static_cast<ze_event_handle_t>(go->native());
    const ze_event_handle_t done = application.ze.event();
    const char pattern = 'a';
    ZE_MUST(zeCommandListAppendMemoryFill(application.ze.immediate(), to, &pattern, 1, 8, done, 1,
                                          &native));
    EXPECT_EQ(zeEventHostSynchronize(done, 10'000'000), ZE_RESULT_NOT_READY);
    must(go->signal({}));
    ZE_MUST(zeEventHostSynchronize(done, kForEver));
  });
}

TEST(LevelZeroQueue, KnowsWhatAPointerIs) {
  with_test_driver({{"DEVICES", 2}}, [] {
    const Application application;
    const ZeClient stranger;
    const Context other = make_context(1);
    const auto kind = [&](const void* pointer) {
      return taken(application.context->place_of(pointer)).kind;
    };
    char* const device = application.ze.allocate<char>(5000, true);
    const devices::MemoryPlace place = taken(application.context->place_of(device + 4999));
    EXPECT_EQ(place.kind, devices::MemoryKind::kDevice);
    EXPECT_EQ(place.base, device);
    EXPECT_EQ(place.bytes, 5000u);
    EXPECT_EQ(place.device, application.ze.device);
    EXPECT_EQ(kind(application.ze.allocate<char>(64, false)), devices::MemoryKind::kPinned);
    int on_the_stack = 0;
    EXPECT_EQ(kind(&on_the_stack), devices::MemoryKind::kHost);
    EXPECT_EQ(kind(nullptr), devices::MemoryKind::kHost);
    EXPECT_EQ(kind(allocate<char>(other, 64)), devices::MemoryKind::kForeign);
    // The same address, and another allocation.
    ZE_MUST(zeMemFree(application.ze.context, device));
    EXPECT_EQ(kind(device), devices::MemoryKind::kHost);
  });
}

TEST(LevelZeroQueue, AsksTheDriverOnceForAPointerThatItHasSeen) {
  with_test_driver({}, [] {
    const Application application;
    char* const device = application.ze.allocate<char>(5000, true);
    taken(application.context->place_of(device));
    const long before = calls(nullptr);
    taken(application.context->place_of(device + 10));
    EXPECT_EQ(calls(nullptr) - before, 1);
  });
}

TEST(LevelZeroQueue, RefusesWhatItCannotReach) {
  with_test_driver({{"DEVICES", 2}}, [] {
    const Application application;
    const Engine engine = make_engine(application.context);
    std::vector<float> host(16);
    const void* const sources[] = {host.data()};
    const tutti::Status status =
        engine->reduce({.dst = host.data(), .sources = sources, .count = 16});
    EXPECT_NE(status.message().find("level-zero device 0"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("does not reach (host)"), std::string::npos)
        << status.message();
    int no_device = 0;
    const auto adopted =
        level_zero().adopt({.context = application.ze.context, .device = &no_device});
    EXPECT_NE(adopted.status().message().find("none of the 2 devices"), std::string::npos)
        << adopted.status().message();
  });
}

}  // namespace
}  // namespace tutti_test
