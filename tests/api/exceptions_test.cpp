// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Callbacks that throw: the call ends with an error that says so, on every rank, and nothing hangs.
#include <tutti/tutti.h>

#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

struct Thrown {
  const char* name;
  void (*throws)();
  tutti_status status;
  const char* text;
};

const Thrown kThrown[] = {
    {"std_exception", [] { throw std::runtime_error("boom"); }, TUTTI_ERR_INTERNAL, "boom"},
    {"bad_alloc", [] { throw std::bad_alloc(); }, TUTTI_ERR_OUT_OF_MEMORY, "out of memory"},
    {"number", [] { throw 42; }, TUTTI_ERR_INTERNAL, "no std::exception"},
};

class Exceptions : public testing::TestWithParam<Thrown> {
 protected:
  static tutti_op throwing_op() {
    tutti_op op = -1;
    const auto reduce = [](const void*, void*, size_t, tutti_type, void* context) {
      static_cast<const Thrown*>(context)->throws();
    };
    EXPECT_OK(tutti_op_create_user(reduce, const_cast<Thrown*>(&GetParam()), &op));
    return op;
  }

  static void expect_broken(tutti_status status, tutti_comm_t comm) {
    EXPECT_STATUS(GetParam().status, status);
    EXPECT_ERROR_SAYS(GetParam().text);
    EXPECT_ERROR_SAYS("allreduce");
    // Further calls give the same cause, at once.
    EXPECT_STATUS(GetParam().status, tutti_barrier(comm));
    EXPECT_STATUS(GetParam().status, tutti_comm_state(comm));
    EXPECT_ERROR_SAYS(GetParam().text);
  }

  // On every rank, in a call of so many elements that `call` makes with the reduction.
  using Reduce = std::function<tutti_status(float*, size_t, tutti_op, tutti_comm_t)>;
  static void run(const Reduce& call) {
    for (const size_t count : {size_t{1}, size_t{300'000}}) {
      Ranks ranks;
      ranks.breaks = true;
      run_ranks(ranks, [&](int, tutti_comm_t comm) {
        std::vector<float> x(count);
        const tutti_op op = throwing_op();
        expect_broken(call(x.data(), count, op, comm), comm);
        EXPECT_OK(tutti_op_destroy(op));
      });
    }
  }
};

TEST_P(Exceptions, OfAReductionEndABlockingCall) {
  run([](float* x, size_t count, tutti_op op, tutti_comm_t comm) {
    return tutti_allreduce(x, x, count, TUTTI_FLOAT32, op, comm);
  });
}

TEST_P(Exceptions, OfAReductionEndACallThatIsWaitedFor) {
  run([](float* x, size_t count, tutti_op op, tutti_comm_t comm) {
    tutti_request_t request = nullptr;
    tutti_status status = tutti_iallreduce(x, x, count, TUTTI_FLOAT32, op, comm, &request);
    if (status == TUTTI_OK) status = tutti_request_wait(request);
    const std::string text = tutti_last_error();
    EXPECT_OK(tutti_request_free(request));
    return status;
  });
}

TEST_P(Exceptions, OfAReductionEndACallThatAWorkerRuns) {
  run([](float* x, size_t count, tutti_op op, tutti_comm_t comm) {
    std::atomic<int> ended{-1};
    tutti_request_t request = nullptr;
    const tutti_status begun = tutti_iallreduce(x, x, count, TUTTI_FLOAT32, op, comm, &request);
    if (begun != TUTTI_OK) return begun;
    const auto note = [](tutti_status status, const char*, void* context) {
      static_cast<std::atomic<int>*>(context)->store(status);
    };
    EXPECT_OK(tutti_request_on_complete(request, note, &ended));
    while (ended.load() < 0) std::this_thread::yield();
    EXPECT_EQ(ended.load(), GetParam().status);
    const tutti_status status = tutti_request_wait(request);
    const std::string text = tutti_last_error();
    EXPECT_OK(tutti_request_free(request));
    return status;
  });
}

TEST_P(Exceptions, OfATunerEndTheCall) {
  const auto choose = [](void* context, const tutti_tuner_query*) -> const char* {
    static_cast<const Thrown*>(context)->throws();
    return nullptr;
  };
  const tutti_tuner tuner = {sizeof tuner, choose, const_cast<Thrown*>(&GetParam())};
  Ranks ranks;
  ranks.breaks = true;
  ranks.config.tuner = &tuner;
  run_ranks(ranks, [&](int, tutti_comm_t comm) {
    float x = 1;
    expect_broken(tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm), comm);
  });
}

TEST_P(Exceptions, OfACompletionFunctionAreTheOutcomeOfTheRequest) {
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    const auto throws = [](tutti_status, const char*, void* context) {
      static_cast<const Thrown*>(context)->throws();
    };
    float x = 1;
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_allreduce_init(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
    if (rank == 0) {
      ASSERT_OK(tutti_request_on_complete(request, throws, const_cast<Thrown*>(&GetParam())));
    }
    ASSERT_OK(tutti_request_start(request));
    const tutti_status status = tutti_request_wait(request);
    if (rank == 0) {
      EXPECT_STATUS(GetParam().status, status);
      EXPECT_ERROR_SAYS(GetParam().text);
    } else {
      EXPECT_OK(status);
    }
    EXPECT_OK(tutti_request_free(request));
    EXPECT_EQ(x, 2);
    EXPECT_OK(tutti_barrier(comm));
  });
}

INSTANTIATE_TEST_SUITE_P(Thrown, Exceptions, testing::ValuesIn(kThrown),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tutti_test
