// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What an application has put into a queue of OpenCL, and the calls after it.
#if __has_include(<CL/cl.h>)
#include <vector>

#include "devices/opencl/library.hpp"
#include "views/on_views.hpp"

namespace tutti_test {
namespace {

class OpenClQueue : public Views {
 protected:
  void SetUp() override {
    if (GetParam()->name != "opencl") GTEST_SKIP() << "by functions of OpenCL";
    Views::SetUp();
  }
};

// A gate in the queue of the application: what is enqueued after it waits until it opens.
class Gate {
 public:
  explicit Gate(const OwnQueue& queue) : cl_(**tutti::devices::opencl::open_library()) {
    const auto& native = queue.context().native();
    cl_int error = CL_SUCCESS;
    event_ = cl_.clCreateUserEvent(static_cast<cl_context>(native.context), &error);
    auto* const commands = static_cast<cl_command_queue>(native.queue);
    EXPECT_EQ(cl_.clEnqueueBarrierWithWaitList(commands, 1, &event_, nullptr), CL_SUCCESS);
    EXPECT_EQ(cl_.clFlush(commands), CL_SUCCESS);
  }
  void open() { EXPECT_EQ(cl_.clSetUserEventStatus(event_, CL_COMPLETE), CL_SUCCESS); }

 private:
  const tutti::devices::opencl::Library& cl_;
  cl_event event_ = nullptr;
};

TEST_P(OpenClQueue, ACallBeginsAfterWhatIsInTheQueue) {
  on_views(2, [](const OnView& on) {
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    const std::vector<int> before(16, 1000);
    const std::vector<int> after(16, on.rank + 1);
    on.mirror.put(memory, before.data(), 64);
    Gate gate(on.queue);
    const auto& cl = **tutti::devices::opencl::open_library();
    auto* const commands = static_cast<cl_command_queue>(on.queue.context().native().queue);
    ASSERT_EQ(
        cl.clEnqueueSVMMemcpy(commands, CL_FALSE, memory, after.data(), 64, 0, nullptr, nullptr),
        CL_SUCCESS);
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_iallreduce(memory, memory, 16, TUTTI_INT32, TUTTI_SUM, on.view, &request));
    for (int i = 0; i < 100; ++i) {
      int done = 1;
      ASSERT_OK(tutti_request_test(request, &done));
      EXPECT_EQ(done, 0);
    }
    gate.open();
    ASSERT_OK(tutti_request_wait(request));
    ASSERT_OK(tutti_request_free(request));
    std::vector<int> result(16);
    on.mirror.get(result.data(), memory, 64);
    EXPECT_EQ(result, std::vector<int>(16, 3));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TEST_P(OpenClQueue, ADeviceThatDoesNotEndIsATimeoutThatNamesIt) {
  Ranks ranks;
  ranks.breaks = true;
  on_views(ranks, [](const OnView& on) {
    ASSERT_OK(tutti_comm_set_timeout(on.view, 300));
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 64, &memory));
    Gate gate(on.queue);
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT,
                  tutti_allreduce(memory, memory, 16, TUTTI_INT32, TUTTI_SUM, on.view));
    EXPECT_ERROR_SAYS("opencl device 0");
    EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_state(on.comm));
    gate.open();  // the copy takes place now, and nothing of it is freed
  });
}

TEST_P(OpenClQueue, AQueueOfAnotherContextIsNamed) {
  on_views(1, [](const OnView& on) {
    const OwnQueue other(*GetParam());
    tutti_queue queue = on.queue.queue();
    queue.context = other.context().native().context;
    tutti_comm_t view = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_view(on.comm, &queue, &view));
    EXPECT_ERROR_SAYS("belongs to context");
  });
}

TUTTI_FOR_EVERY_API(OpenClQueue);

}  // namespace
}  // namespace tutti_test
#endif
