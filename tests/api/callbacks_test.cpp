// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What completion functions may do with their own request, and how they are taken back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

void count_call(tutti_status /*status*/, const char* /*error*/, void* context) {
  ++*static_cast<std::atomic<int>*>(context);
}

TEST(Callbacks, AreTakenBackByANullFunction) {
  run_ranks(2, [](int /*rank*/, tutti_comm_t comm) {
    std::atomic<int> calls = 0;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_barrier_init(comm, &request));
    ASSERT_OK(tutti_request_on_complete(request, count_call, &calls));
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_request_wait(request));
    while (calls == 0) usleep(100);
    EXPECT_OK(tutti_request_on_complete(request, nullptr, nullptr));
    ASSERT_OK(tutti_request_start(request));
    ASSERT_OK(tutti_request_wait(request));
    EXPECT_OK(tutti_request_free(request));
    EXPECT_EQ(calls, 1);
  });
}

struct Asking {
  tutti_request_t request = nullptr;
  std::atomic<int> calls = 0;
};

void ask_for_itself(tutti_status /*status*/, const char* /*error*/, void* context) {
  auto& asking = *static_cast<Asking*>(context);
  EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait(asking.request));
  EXPECT_ERROR_SAYS("completion function");
  EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_wait_for(asking.request, 1));
  EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_free(asking.request));
  ++asking.calls;
}

TEST(Callbacks, CannotWaitForTheirOwnRequestNorFreeIt) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    std::vector<float> x(50000, 1);
    for (const size_t count : {size_t{1}, x.size()}) {
      Asking asking;
      ASSERT_OK(tutti_iallreduce(x.data(), x.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm,
                                 &asking.request));
      ASSERT_OK(tutti_request_on_complete(asking.request, ask_for_itself, &asking));
      while (asking.calls == 0) usleep(100);
      EXPECT_OK(tutti_request_wait(asking.request));
      ASSERT_OK(tutti_request_on_complete(asking.request, ask_for_itself, &asking));
      EXPECT_EQ(asking.calls, 2);  // it was complete
      EXPECT_OK(tutti_request_free(asking.request));
    }
    Asking asking;  // completes while it is started
    ASSERT_OK(tutti_send_init(x.data(), 1, TUTTI_FLOAT32, 1 - rank, 0, comm, &asking.request));
    ASSERT_OK(tutti_request_on_complete(asking.request, ask_for_itself, &asking));
    ASSERT_OK(tutti_request_start(asking.request));
    EXPECT_OK(tutti_recv(x.data(), 1, TUTTI_FLOAT32, 1 - rank, 0, comm, nullptr));
    EXPECT_OK(tutti_request_wait(asking.request));
    EXPECT_EQ(asking.calls, 1);
    EXPECT_OK(tutti_request_free(asking.request));
  });
}

}  // namespace
}  // namespace tutti_test
