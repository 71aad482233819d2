// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Wrong arguments: each gives its status and a text that says what was wrong, on the rank that made
// the mistake, and leaves the communicator as good as before.
#include <cstdint>
#include <string>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// The values after the last type.
constexpr auto kBadType = static_cast<tutti_type>(16);
constexpr auto kWorseType = static_cast<tutti_type>(17);

// The body, then proof that the communicator still works.
void on_two_ranks(const RankBody& body) {
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    body(rank, comm);
    int32_t one = 1;
    EXPECT_OK(tutti_comm_state(comm));
    EXPECT_OK(tutti_allreduce(&one, &one, 1, TUTTI_INT32, TUTTI_SUM, comm));
    EXPECT_EQ(one, 2);
  });
}

#define EXPECT_INVALID(call) EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, call)

TEST(Errors, ANullCommunicatorIsInvalid) {
  float x = 0;
  tutti_request_t request = nullptr;
  tutti_comm_t null = nullptr;
  int value = 0;
  EXPECT_INVALID(tutti_barrier(null));
  EXPECT_INVALID(tutti_ibarrier(null, &request));
  EXPECT_INVALID(tutti_barrier_init(null, &request));
  EXPECT_INVALID(tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, null));
  EXPECT_INVALID(tutti_iallreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, null, &request));
  EXPECT_INVALID(tutti_allreduce_init(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, null, &request));
  EXPECT_INVALID(tutti_broadcast(&x, 1, TUTTI_FLOAT32, 0, null));
  EXPECT_INVALID(tutti_allgather(&x, &x, 1, TUTTI_FLOAT32, null));
  EXPECT_INVALID(tutti_reduce_scatter(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, null));
  EXPECT_INVALID(tutti_send(&x, 1, TUTTI_FLOAT32, 0, 0, null));
  EXPECT_INVALID(tutti_recv(&x, 1, TUTTI_FLOAT32, 0, 0, null, nullptr));
  EXPECT_INVALID(tutti_comm_rank(null, &value));
  EXPECT_INVALID(tutti_comm_size(null, &value));
  EXPECT_INVALID(tutti_comm_state(null));
  EXPECT_INVALID(tutti_comm_abort(null, "why"));
  EXPECT_INVALID(tutti_comm_set_timeout(null, 10));
  EXPECT_INVALID(tutti_comm_get_timeout(null, &value));
  EXPECT_ERROR_SAYS("comm");
}

TEST(Errors, NullIsAcceptedWhereThereIsNothingToFree) {
  EXPECT_OK(tutti_comm_destroy(nullptr));
  EXPECT_OK(tutti_request_free(nullptr));
}

TEST(Errors, ANullRequestIsInvalid) {
  int done = 0;
  tutti_recv_info info{};
  EXPECT_INVALID(tutti_request_test(nullptr, &done));
  EXPECT_INVALID(tutti_request_wait(nullptr));
  EXPECT_INVALID(tutti_request_wait_for(nullptr, 10));
  EXPECT_INVALID(tutti_request_start(nullptr));
  EXPECT_INVALID(tutti_request_recv_info(nullptr, &info));
  EXPECT_INVALID(tutti_request_on_complete(nullptr, nullptr, nullptr));
}

TEST(Errors, ANullOutputIsInvalid) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 0;
    EXPECT_INVALID(tutti_comm_rank(comm, nullptr));
    EXPECT_INVALID(tutti_comm_size(comm, nullptr));
    EXPECT_INVALID(tutti_iallreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm, nullptr));
    EXPECT_ERROR_SAYS("tutti_iallreduce: request is NULL");
    EXPECT_INVALID(tutti_ibarrier(comm, nullptr));
    EXPECT_INVALID(tutti_barrier_init(comm, nullptr));
    EXPECT_ERROR_SAYS("tutti_barrier_init: request is NULL");
    EXPECT_INVALID(tutti_irecv(&x, 1, TUTTI_FLOAT32, 0, 0, comm, nullptr));
    EXPECT_ERROR_SAYS("tutti_irecv: request is NULL");
  });
}

TEST(Errors, ANullBufferIsInvalidUnlessTheCountIsZero) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    float x = 0;
    EXPECT_INVALID(tutti_allreduce(nullptr, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_INVALID(tutti_allreduce(&x, nullptr, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_INVALID(tutti_broadcast(nullptr, 1, TUTTI_FLOAT32, 0, comm));
    EXPECT_ERROR_SAYS("buffer is NULL");
    EXPECT_INVALID(tutti_allgather(nullptr, &x, 1, TUTTI_FLOAT32, comm));
    EXPECT_INVALID(tutti_reduce_scatter(&x, nullptr, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_INVALID(tutti_alltoall(nullptr, &x, 1, TUTTI_FLOAT32, comm));
    EXPECT_INVALID(tutti_reduce(&x, nullptr, 1, TUTTI_FLOAT32, TUTTI_SUM, rank, comm));
    EXPECT_INVALID(tutti_reduce(nullptr, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, 1 - rank, comm));
    EXPECT_INVALID(tutti_gather(&x, nullptr, 1, TUTTI_FLOAT32, rank, comm));
    EXPECT_INVALID(tutti_scatter(nullptr, &x, 1, TUTTI_FLOAT32, rank, comm));
    EXPECT_INVALID(tutti_send(nullptr, 1, TUTTI_FLOAT32, 0, 0, comm));
    EXPECT_INVALID(tutti_sendrecv(nullptr, 1, 0, 0, &x, 1, 0, 0, TUTTI_FLOAT32, comm, nullptr));
    EXPECT_ERROR_SAYS("tutti_sendrecv: send is NULL");
    EXPECT_INVALID(tutti_sendrecv(&x, 1, 0, 0, nullptr, 1, 0, 0, TUTTI_FLOAT32, comm, nullptr));
    EXPECT_ERROR_SAYS("tutti_sendrecv: recv is NULL");
    EXPECT_OK(tutti_allreduce(nullptr, nullptr, 0, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_OK(tutti_broadcast(nullptr, 0, TUTTI_FLOAT32, 1, comm));
    EXPECT_OK(tutti_allgather(nullptr, nullptr, 0, TUTTI_FLOAT32, comm));
    EXPECT_OK(tutti_reduce_scatter(nullptr, nullptr, 0, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_OK(tutti_alltoall(nullptr, nullptr, 0, TUTTI_FLOAT32, comm));
    EXPECT_OK(tutti_gather(nullptr, nullptr, 0, TUTTI_FLOAT32, 1, comm));
    EXPECT_OK(tutti_send(nullptr, 0, TUTTI_FLOAT32, 1 - rank, 0, comm));
    EXPECT_OK(tutti_recv(nullptr, 0, TUTTI_FLOAT32, 1 - rank, 0, comm, nullptr));
  });
}

TEST(Errors, ABufferThatOnlyTheRootNeedsMayBeNullElsewhere) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    const int32_t mine = 10 + rank;
    for (const int root : {0, 1}) {
      int32_t all[2] = {};
      int32_t sum = 0;
      const bool at_root = rank == root;
      ASSERT_OK(
          tutti_reduce(&mine, at_root ? &sum : nullptr, 1, TUTTI_INT32, TUTTI_SUM, root, comm));
      ASSERT_OK(tutti_gather(&mine, at_root ? all : nullptr, 1, TUTTI_INT32, root, comm));
      EXPECT_EQ(sum, at_root ? 21 : 0);
      EXPECT_EQ(all[1 - root], at_root ? 11 - root : 0);
      int32_t own = 0;
      ASSERT_OK(tutti_scatter(at_root ? all : nullptr, &own, 1, TUTTI_INT32, root, comm));
      EXPECT_EQ(own, mine);
    }
  });
}

TEST(Errors, AnUnknownTypeIsNamed) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 0;
    EXPECT_INVALID(tutti_allreduce(&x, &x, 1, kBadType, TUTTI_SUM, comm));
    EXPECT_ERROR_SAYS("16");
    EXPECT_INVALID(tutti_broadcast(&x, 1, kWorseType, 0, comm));
    EXPECT_ERROR_SAYS("17");
    EXPECT_INVALID(tutti_send(&x, 1, kBadType, 0, 0, comm));
    EXPECT_ERROR_SAYS("16");
  });
}

TEST(Errors, AnUnknownOperationIsNamed) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 0;
    EXPECT_INVALID(tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, 8, comm));
    EXPECT_ERROR_SAYS("8");
    float both[2] = {};
    EXPECT_INVALID(tutti_reduce_scatter(both, &x, 1, TUTTI_FLOAT32, -3, comm));
    EXPECT_ERROR_SAYS("-3");
  });
}

TEST(Errors, ABitwiseOperationOnFloatsNamesBoth) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    double x = 0;
    EXPECT_INVALID(tutti_allreduce(&x, &x, 1, TUTTI_FLOAT64, TUTTI_BXOR, comm));
    EXPECT_ERROR_SAYS("bxor");
    EXPECT_ERROR_SAYS("float64");
  });
}

TEST(Errors, OfComplexNumbersWhatHasNoMeaningNamesBoth) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    double x[2] = {};
    for (const tutti_op op : {TUTTI_MIN, TUTTI_MAX, TUTTI_BAND, TUTTI_BOR, TUTTI_BXOR}) {
      EXPECT_INVALID(tutti_allreduce(x, x, 1, TUTTI_COMPLEX128, op, comm));
      EXPECT_ERROR_SAYS(tutti_op_name(op));
      EXPECT_ERROR_SAYS("complex128");
    }
  });
}

TEST(Errors, ADestroyedOperationIsUnknown) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 2;
    tutti_op op = -1;
    ASSERT_OK(tutti_op_create_premul_sum(&x, TUTTI_FLOAT32, &op));
    ASSERT_OK(tutti_op_destroy(op));
    EXPECT_INVALID(tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, op, comm));
    EXPECT_INVALID(tutti_op_destroy(op));
    EXPECT_INVALID(tutti_op_destroy(TUTTI_SUM));
  });
}

TEST(Errors, APremultipliedSumOfAnotherTypeNamesBoth) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 2;
    tutti_op op = -1;
    ASSERT_OK(tutti_op_create_premul_sum(&x, TUTTI_FLOAT32, &op));
    int32_t y = 1;
    EXPECT_INVALID(tutti_allreduce(&y, &y, 1, TUTTI_INT32, op, comm));
    EXPECT_ERROR_SAYS("float32");
    EXPECT_ERROR_SAYS("int32");
    EXPECT_OK(tutti_op_destroy(op));
  });
}

TEST(Errors, ARootOutsideTheRanksIsNamed) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 0;
    float y = 0;
    float all[2] = {};
    for (const int root : {-1, 2, 1000}) {
      EXPECT_INVALID(tutti_broadcast(&x, 1, TUTTI_FLOAT32, root, comm));
      EXPECT_ERROR_SAYS(std::to_string(root));
      EXPECT_INVALID(tutti_reduce(&x, &y, 1, TUTTI_FLOAT32, TUTTI_SUM, root, comm));
      EXPECT_ERROR_SAYS(std::to_string(root));
      EXPECT_INVALID(tutti_gather(&x, all, 1, TUTTI_FLOAT32, root, comm));
      EXPECT_ERROR_SAYS(std::to_string(root));
      EXPECT_INVALID(tutti_scatter(all, &x, 1, TUTTI_FLOAT32, root, comm));
      EXPECT_ERROR_SAYS(std::to_string(root));
    }
  });
}

TEST(Errors, APeerOrTagOutsideItsRangeIsNamed) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    float x = 0;
    EXPECT_INVALID(tutti_send(&x, 1, TUTTI_FLOAT32, 2, 0, comm));
    EXPECT_ERROR_SAYS("2");
    EXPECT_INVALID(tutti_send(&x, 1, TUTTI_FLOAT32, TUTTI_ANY_SOURCE, 0, comm));
    EXPECT_ERROR_SAYS("-1");
    EXPECT_INVALID(tutti_send(&x, 1, TUTTI_FLOAT32, 1, TUTTI_ANY_TAG, comm));
    EXPECT_ERROR_SAYS("tag");
    EXPECT_INVALID(tutti_recv(&x, 1, TUTTI_FLOAT32, -2, 0, comm, nullptr));
    EXPECT_ERROR_SAYS("-2");
    EXPECT_ERROR_SAYS("TUTTI_ANY_SOURCE");
    EXPECT_INVALID(tutti_recv(&x, 1, TUTTI_FLOAT32, 0, -2, comm, nullptr));
    EXPECT_ERROR_SAYS("TUTTI_ANY_TAG");
  });
}

TEST(Errors, UnevenCountsThatAreMissingOrContradictThemselvesAreInvalid) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    float x[4] = {};
    float y[4] = {};
    const size_t counts[2] = {1, 1};
    const size_t others[2] = {2, 2};
    const size_t huge[2] = {1, SIZE_MAX / 4};
    EXPECT_INVALID(tutti_allgatherv(x, y, nullptr, nullptr, TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS("recv_counts");
    EXPECT_INVALID(tutti_allgatherv(x, y, huge, nullptr, TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS(std::to_string(huge[1]));
    EXPECT_INVALID(tutti_allgatherv(x, y, counts, huge, TUTTI_FLOAT32, comm));
    EXPECT_INVALID(tutti_allgatherv(nullptr, y, counts, nullptr, TUTTI_FLOAT32, comm));
    EXPECT_INVALID(tutti_reduce_scatterv(x, y, nullptr, TUTTI_FLOAT32, TUTTI_SUM, comm));
    EXPECT_INVALID(tutti_alltoallv(x, counts, nullptr, y, others, nullptr, TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS("itself");
    EXPECT_INVALID(tutti_gatherv(x, 1, y, others, nullptr, TUTTI_FLOAT32, rank, comm));
    EXPECT_INVALID(tutti_gatherv(x, 1, y, counts, nullptr, TUTTI_FLOAT32, 2, comm));
    EXPECT_INVALID(tutti_scatterv(x, others, nullptr, y, 1, TUTTI_FLOAT32, rank, comm));
    EXPECT_INVALID(tutti_scatterv(x, nullptr, nullptr, y, 1, TUTTI_FLOAT32, rank, comm));
  });
}

TEST(Errors, ACountWhoseBytesOverflowIsInvalid) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    double x = 0;
    const size_t count = SIZE_MAX / 8 + 2;
    EXPECT_INVALID(tutti_allreduce(&x, &x, count, TUTTI_FLOAT64, TUTTI_SUM, comm));
    EXPECT_ERROR_SAYS(std::to_string(count));
    EXPECT_INVALID(tutti_broadcast(&x, count, TUTTI_FLOAT64, 0, comm));
    EXPECT_INVALID(tutti_send(&x, count, TUTTI_FLOAT64, 0, 0, comm));
    // Fits for one rank, but not for all.
    EXPECT_INVALID(tutti_allgather(&x, &x, SIZE_MAX / 8 - 1, TUTTI_FLOAT64, comm));
    // On all ranks, though only the root has so many.
    EXPECT_INVALID(tutti_gather(&x, &x, SIZE_MAX / 16 - 1, TUTTI_FLOAT64, 0, comm));
    EXPECT_INVALID(tutti_reduce_scatter(&x, &x, SIZE_MAX / 8 - 1, TUTTI_FLOAT64, TUTTI_SUM, comm));
  });
}

TEST(Errors, ATimeoutOfZeroIsInvalid) {
  on_two_ranks([](int /*rank*/, tutti_comm_t comm) {
    EXPECT_INVALID(tutti_comm_set_timeout(comm, 0));
    EXPECT_INVALID(tutti_comm_set_timeout(comm, -2));
    EXPECT_ERROR_SAYS("-2");
    EXPECT_OK(tutti_comm_set_timeout(comm, -1));
  });
}

TEST(Errors, AConfigOfZerosIsInvalid) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    tutti_comm_t part = nullptr;
    tutti_comm_config config{};
    config.size = sizeof config;
    EXPECT_INVALID(tutti_comm_split(comm, 0, rank, &config, &part));
    EXPECT_ERROR_SAYS("timeout_ms is 0");
    EXPECT_ERROR_SAYS("TUTTI_COMM_CONFIG_INIT");
    config.timeout_ms = 1000;
    EXPECT_INVALID(tutti_comm_split(comm, 0, rank, &config, &part));
    EXPECT_ERROR_SAYS("init_timeout_ms is 0");
    config.init_timeout_ms = 1000;
    config.strict = 2;
    EXPECT_INVALID(tutti_comm_split(comm, 0, rank, &config, &part));
    EXPECT_ERROR_SAYS("strict is 2");
  });
}

TEST(Errors, StartingWhatCannotBeStartedIsWrongUsage) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    int32_t x = 0;
    tutti_request_t receive = nullptr;
    ASSERT_OK(tutti_recv_init(&x, 1, TUTTI_INT32, 1 - rank, 0, comm, &receive));
    ASSERT_OK(tutti_request_start(receive));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(receive));
    ASSERT_OK(tutti_barrier(comm));  // it was active: nobody has sent yet
    ASSERT_OK(tutti_send(&rank, 1, TUTTI_INT32, 1 - rank, 0, comm));
    EXPECT_OK(tutti_request_wait(receive));
    EXPECT_EQ(x, 1 - rank);
    EXPECT_OK(tutti_request_free(receive));

    tutti_request_t once = nullptr;
    ASSERT_OK(tutti_ibarrier(comm, &once));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(once));
    EXPECT_OK(tutti_request_wait(once));
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_request_start(once));
    EXPECT_OK(tutti_request_free(once));
  });
}

TEST(Errors, CallsOnACommunicatorThatWasDestroyedAreWrongUsage) {
  on_two_ranks([](int rank, tutti_comm_t comm) {
    tutti_comm_t gone = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, rank, nullptr, &gone));
    ASSERT_OK(tutti_comm_destroy(gone));
    int32_t x = 0;
    int32_t y = 0;
    int number = 0;
    const size_t counts[] = {1, 1};
    tutti_comm_t made = nullptr;
    tutti_request_t request = nullptr;
    void* memory = nullptr;
    const tutti_status given[] = {
        tutti_allreduce(&x, &y, 1, TUTTI_INT32, TUTTI_SUM, gone),
        tutti_iallreduce(&x, &y, 1, TUTTI_INT32, TUTTI_SUM, gone, &request),
        tutti_broadcast(&x, 1, TUTTI_INT32, 0, gone),
        tutti_allgatherv(&x, &y, counts, nullptr, TUTTI_INT32, gone),
        tutti_barrier(gone),
        tutti_send(&x, 1, TUTTI_INT32, 1 - rank, 0, gone),
        tutti_irecv(&x, 1, TUTTI_INT32, 1 - rank, 0, gone, &request),
        tutti_comm_rank(gone, &number),
        tutti_comm_state(gone),
        tutti_comm_abort(gone, "no"),
        tutti_comm_split(gone, 0, 0, nullptr, &made),
        tutti_comm_shrink(gone, nullptr, &made),
        tutti_alloc(gone, 64, &memory),
        tutti_comm_destroy(gone),
    };
    for (size_t i = 0; i < std::size(given); ++i) {
      EXPECT_EQ(given[i], TUTTI_ERR_INVALID_USAGE) << "call " << i;
    }
    EXPECT_ERROR_SAYS("tutti_comm_destroy: comm was destroyed");
  });
}

}  // namespace
}  // namespace tutti_test
