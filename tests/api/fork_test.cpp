// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Children that are forked with communicators in them: they can do nothing with these, and nothing
// that they do is noticed by their parents.
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/children.hpp"
#include "support/ranks.hpp"

namespace tutti_test {
namespace {

void expect_to_go_on(tutti_comm_t comm) {
  int32_t x = 1;
  EXPECT_OK(tutti_allreduce(&x, &x, 1, TUTTI_INT32, TUTTI_SUM, comm));
  EXPECT_EQ(x, 2);
  std::vector<float> many(100'000, 1);
  EXPECT_OK(tutti_allreduce(many.data(), many.data(), many.size(), TUTTI_FLOAT32, TUTTI_SUM, comm));
  EXPECT_EQ(many, std::vector<float>(many.size(), 2));
}

std::string expect_refusals(tutti_comm_t comm, pid_t parent) {
  int32_t x = 100;
  int number = 0;
  void* memory = nullptr;
  tutti_request_t request = nullptr;
  tutti_comm_t other = nullptr;
  tutti_unique_id id;
  return IS_REFUSED(tutti_allreduce(&x, &x, 1, TUTTI_INT32, TUTTI_SUM, comm)) +
         IS_REFUSED(tutti_iallreduce(&x, &x, 1, TUTTI_INT32, TUTTI_SUM, comm, &request)) +
         IS_REFUSED(tutti_barrier_init(comm, &request)) + IS_REFUSED(tutti_barrier(comm)) +
         IS_REFUSED(tutti_send(&x, 1, TUTTI_INT32, 0, 0, comm)) +
         IS_REFUSED(tutti_recv(&x, 1, TUTTI_INT32, 0, 0, comm, nullptr)) +
         IS_REFUSED(tutti_comm_split(comm, 0, 0, nullptr, &other)) +
         IS_REFUSED(tutti_comm_shrink(comm, nullptr, &other)) +
         IS_REFUSED(tutti_comm_abort(comm, "no")) + IS_REFUSED(tutti_comm_state(comm)) +
         IS_REFUSED(tutti_comm_rank(comm, &number)) +
         IS_REFUSED(tutti_comm_set_timeout(comm, 1000)) +
         IS_REFUSED(tutti_alloc(comm, 1 << 20, &memory)) + IS_REFUSED(tutti_group_start()) +
         IS_REFUSED(tutti_get_unique_id(&id)) +
         IS_REFUSED(tutti_comm_create_from_env(nullptr, &other)) + (x == 100 ? "" : "x changed");
}

TEST(Fork, CallsOfAChildAreRefusedAndNameBothProcesses) {
  run_ranks(2, [](int, tutti_comm_t comm) {
    expect_to_go_on(comm);
    const pid_t parent = getpid();
    in_child([&] { return expect_refusals(comm, parent); });
    expect_to_go_on(comm);
  });
}

TEST(Fork, CallsOfAGrandchildAreRefused) {
  run_ranks(2, [](int, tutti_comm_t comm) {
    const pid_t parent = getpid();
    in_child([&] {
      in_child([&] { return expect_refusals(comm, parent); });
      return testing::Test::HasFailure() ? "the grandchild found something" : "";
    });
    expect_to_go_on(comm);
  });
}

TEST(Fork, AChildThatDestroysWhatItInheritedTouchesNothing) {
  run_ranks(2, [](int, tutti_comm_t comm) {
    expect_to_go_on(comm);
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(comm, 1 << 20, &memory));
    in_child([&] {
      return std::string(tutti_comm_destroy(comm) == TUTTI_OK ? "" : tutti_last_error());
    });
    expect_to_go_on(comm);
  });
}

TEST(Fork, AChildThatExitsTouchesNothing) {
  run_ranks(2, [](int, tutti_comm_t comm) {
    expect_to_go_on(comm);
    in_child([] { return ""; }, std::quick_exit);
    in_child([] { return ""; }, std::exit);
    expect_to_go_on(comm);
  });
}

TEST(Fork, RequestsUnderWayGoOnInTheParentAlone) {
  Meeting forked(2);
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    std::vector<float> x(200'000, 1);
    if (rank == 1) forked.wait();
    tutti_request_t request = nullptr;
    ASSERT_OK(
        tutti_iallreduce(x.data(), x.data(), x.size(), TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
    if (rank == 0) {
      const pid_t parent = getpid();
      in_child([&] {
        int done = 0;
        std::string wrong = IS_REFUSED(tutti_request_wait(request)) +
                            IS_REFUSED(tutti_request_test(request, &done));
        if (tutti_request_free(request) != TUTTI_OK) wrong += tutti_last_error();
        if (tutti_comm_destroy(comm) != TUTTI_OK) wrong += tutti_last_error();
        return wrong;
      });
      forked.wait();
    }
    EXPECT_OK(tutti_request_wait(request));
    EXPECT_EQ(x, std::vector<float>(x.size(), 2));
    EXPECT_OK(tutti_request_free(request));
    expect_to_go_on(comm);
  });
}

// ThreadSanitizer lets no child of a process with threads begin threads of its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TUTTI_CHILDREN_HAVE_NO_THREADS
#endif
#endif

TEST(Fork, AChildOfAProcessThatHasDestroyedAllItsCommunicatorsMakesItsOwn) {
#ifdef TUTTI_CHILDREN_HAVE_NO_THREADS
  GTEST_SKIP() << "ThreadSanitizer";
#endif
  run_processes({.count = 1, .killed = {}}, [](int) {
    const auto make_and_destroy = [] {
      tutti_unique_id id;
      tutti_comm_t comm = nullptr;
      const bool ok = tutti_get_unique_id(&id) == TUTTI_OK &&
                      tutti_comm_create(&id, 0, 1, nullptr, &comm) == TUTTI_OK &&
                      tutti_barrier(comm) == TUTTI_OK && tutti_comm_destroy(comm) == TUTTI_OK;
      return std::string(ok ? "" : tutti_last_error());
    };
    ASSERT_EQ(make_and_destroy(), "");
    in_child(make_and_destroy);
  });
}

}  // namespace
}  // namespace tutti_test
