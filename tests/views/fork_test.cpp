// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Children that are forked with views in them: they call no driver, and their parents go on.
#include "support/children.hpp"
#include "views/on_views.hpp"
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

constexpr size_t kCount = 300'000;

class ForkedViews : public Views {
 protected:
  // A sum on the device of two ranks' ones.
  static void expect_to_go_on(const OnView& on) {
    Collectives(on.rank, on.view).allreduce(TUTTI_INT32, Op::kSum, 1000, {});
  }
  // How often this process has called a driver that counts.
  static long calls() {
#ifdef TUTTI_TEST_ZE_PATH
    if (GetParam()->name == "level-zero") return driver_calls(nullptr);
#endif
    return 0;
  }
};

std::string expect_refusals(const OnView& on, void* memory, tutti_request_t request, pid_t parent) {
  int done = 0;
  void* other = nullptr;
  tutti_comm_t view = nullptr;
  const tutti_queue queue = on.queue.queue();
  return IS_REFUSED(tutti_allreduce(memory, memory, 8, TUTTI_INT32, TUTTI_SUM, on.view)) +
         IS_REFUSED(tutti_send(memory, 8, TUTTI_INT32, 0, 0, on.view)) +
         IS_REFUSED(tutti_comm_view(on.comm, &queue, &view)) +
         IS_REFUSED(tutti_alloc(on.view, 64, &other)) + IS_REFUSED(tutti_free(on.view, memory)) +
         IS_REFUSED(tutti_request_event(request, &other)) +
         IS_REFUSED(tutti_request_test(request, &done)) + IS_REFUSED(tutti_request_wait(request));
}

// With a request under way, whose event the application has.
TEST_P(ForkedViews, AChildCallsNoDriverAndItsParentGoesOn) {
  Meeting forked(2);
  on_views(2, [&](const OnView& on) {
    expect_to_go_on(on);
    std::vector<int> ones(kCount, 1);
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kCount * sizeof(int), &memory));
    on.mirror.put(memory, ones.data(), kCount * sizeof(int));
    if (on.rank == 1) forked.wait();
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_iallreduce(memory, memory, kCount, TUTTI_INT32, TUTTI_SUM, on.view, &request));
    void* event = nullptr;
    ASSERT_OK(tutti_request_event(request, &event));
    if (on.rank == 0) {
      const pid_t parent = getpid();
      in_child([&] {
        const long before = calls();
        std::string wrong = expect_refusals(on, memory, request, parent);
        if (tutti_request_free(request) != TUTTI_OK) wrong += tutti_last_error();
        if (tutti_comm_destroy(on.view) != TUTTI_OK) wrong += tutti_last_error();
        if (tutti_comm_destroy(on.comm) != TUTTI_OK) wrong += tutti_last_error();
        if (calls() != before) wrong += "the driver was called\n";
        return wrong;
      });
      forked.wait();
    }
    EXPECT_OK(tutti_request_wait(request));
    on.mirror.get(ones.data(), memory, kCount * sizeof(int));
    EXPECT_EQ(ones, std::vector<int>(kCount, 2));
    EXPECT_OK(tutti_request_free(request));
    EXPECT_OK(tutti_free(on.view, memory));
    expect_to_go_on(on);
  });
}

TUTTI_FOR_EVERY_API(ForkedViews);

}  // namespace
}  // namespace tutti_test
