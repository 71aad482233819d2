// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Requests on views that threads use while the view, and then its communicator, is destroyed.
#include <thread>
#include <vector>

#include "views/on_views.hpp"

namespace tutti_test {
namespace {

constexpr int kRounds = kSanitized ? 20 : 100;

class ViewRequestLife : public Views {};

void see_to_end(tutti_request_t request, int way) {
  if (way % 2 == 0) {
    EXPECT_OK(tutti_request_wait(request));
    return;
  }
  for (int done = 0; done == 0; std::this_thread::yield()) {
    ASSERT_OK(tutti_request_test(request, &done));
  }
}

TEST_P(ViewRequestLife, GoesOnWhileTheViewAndItsCommunicatorAreDestroyed) {
  on_views(2, [](const OnView& on) {
    constexpr size_t kCount = 10'000;
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, 3 * kCount * 4, &memory));
    auto* const data = static_cast<int32_t*>(memory);
    const tutti_queue queue = on.queue.queue();
    tutti_comm_t part = nullptr;
    ASSERT_OK(tutti_comm_split(on.comm, 0, on.rank, nullptr, &part));
    for (int round = 0; round < kRounds; ++round) {
      tutti_comm_t view = nullptr;
      ASSERT_OK(tutti_comm_view(part, &queue, &view));
      std::vector<tutti_request_t> requests(3);
      ASSERT_OK(tutti_iallreduce(data, data, kCount, TUTTI_INT32, TUTTI_SUM, view, &requests[0]));
      ASSERT_OK(
          tutti_irecv(data + kCount, kCount, TUTTI_INT32, 1 - on.rank, 0, view, &requests[1]));
      ASSERT_OK(
          tutti_isend(data + 2 * kCount, kCount, TUTTI_INT32, 1 - on.rank, 0, view, &requests[2]));
      std::vector<std::thread> users;
      for (tutti_request_t request : requests) {
        users.emplace_back([request, round] { see_to_end(request, round); });
      }
      ASSERT_OK(tutti_comm_destroy(view));
      if (round + 1 == kRounds) {
        ASSERT_OK(tutti_comm_destroy(part));
      }
      for (std::thread& user : users) user.join();
      for (tutti_request_t request : requests) EXPECT_OK(tutti_request_free(request));
    }
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

// While a communicator has had views, its own calls wait for their turn among those.
TEST_P(ViewRequestLife, OfCallsOnTheCommunicatorItselfGoesOnWhileThatIsDestroyed) {
  on_views(2, [](const OnView& on) {
    const tutti_queue queue = on.queue.queue();
    for (int round = 0; round < kRounds / 5; ++round) {
      tutti_comm_t part = nullptr;
      tutti_comm_t view = nullptr;
      ASSERT_OK(tutti_comm_split(on.comm, 0, on.rank, nullptr, &part));
      ASSERT_OK(tutti_comm_view(part, &queue, &view));
      ASSERT_OK(tutti_comm_destroy(view));
      std::vector<int32_t> data(10'000, 1);
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_iallreduce(data.data(), data.data(), data.size(), TUTTI_INT32, TUTTI_SUM,
                                 part, &request));
      std::thread user([request, round] { see_to_end(request, round); });
      ASSERT_OK(tutti_comm_destroy(part));
      user.join();
      EXPECT_OK(tutti_request_free(request));
      EXPECT_EQ(data, std::vector<int32_t>(data.size(), 2));
    }
  });
}

TUTTI_FOR_EVERY_API(ViewRequestLife);

}  // namespace
}  // namespace tutti_test
