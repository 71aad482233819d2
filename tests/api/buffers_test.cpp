// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Buffers that overlap otherwise than in place, and counts at the edges of 64 bits: each is refused
// by name, in every call and form, on the rank that sees it, and leaves the communicator as it was.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr int kRanks = 3;
constexpr size_t kCount = 10;

// A call of float32 on this rank, in place in `memory` but that its receive buffer lies so many
// elements further on. It refers to both.
struct Placed {
  std::string name;
  std::function<Call(float* const& memory, const size_t& off)> call;
};

class Placement {
 public:
  Placement(int rank, tutti_comm_t comm) : rank_(static_cast<size_t>(rank)), comm_(comm) {}

  std::vector<Placed> calls() {
    const int root = static_cast<int>(rank_);  // each rank is one: a call that is refused is alone
    tutti_comm_t comm = comm_;
    const size_t own = rank_ * kCount;
    const size_t* counts = counts_.data();
    const size_t* displs = displs_.data();
    return {
        {"allreduce",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(allreduce, m, m + off, kCount, TUTTI_FLOAT32, TUTTI_SUM, comm);
         }},
        {"allgather",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(allgather, m + own, m + off, kCount, TUTTI_FLOAT32, comm);
         }},
        {"reduce_scatter",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(reduce_scatter, m, m + own + off, kCount, TUTTI_FLOAT32,
                                  TUTTI_SUM, comm);
         }},
        {"reduce",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(reduce, m, m + off, kCount, TUTTI_FLOAT32, TUTTI_MAX, root, comm);
         }},
        {"alltoall",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(alltoall, m, m + off, kCount, TUTTI_FLOAT32, comm);
         }},
        {"gather",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(gather, m + own, m + off, kCount, TUTTI_FLOAT32, root, comm);
         }},
        {"scatter",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(scatter, m, m + own + off, kCount, TUTTI_FLOAT32, root, comm);
         }},
        {"allgatherv",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(allgatherv, m + own, m + off, counts, displs, TUTTI_FLOAT32,
                                  comm);
         }},
        {"reduce_scatterv",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(reduce_scatterv, m, m + own + off, counts, TUTTI_FLOAT32,
                                  TUTTI_SUM, comm);
         }},
        {"alltoallv",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(alltoallv, m, counts, nullptr, m + off, counts, displs,
                                  TUTTI_FLOAT32, comm);
         }},
        {"gatherv",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(gatherv, m + own, kCount, m + off, counts, nullptr, TUTTI_FLOAT32,
                                  root, comm);
         }},
        {"scatterv",
         [=](float* const& m, const size_t& off) {
           return TUTTI_TEST_CALL(scatterv, m, counts, displs, m + own + off, kCount, TUTTI_FLOAT32,
                                  root, comm);
         }},
    };
  }

 private:
  size_t rank_;
  tutti_comm_t comm_;
  std::array<size_t, kRanks> counts_{kCount, kCount, kCount};
  std::array<size_t, kRanks> displs_{0, kCount, 2 * kCount};
};

// The three forms of a call that must be refused, whose error says all of `texts`.
void expect_refused(const std::string& name, const Call& call,
                    const std::vector<std::string>& texts) {
  SCOPED_TRACE(name);
  tutti_request_t request = nullptr;
  const auto expect = [&](tutti_status status) {
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, status);
    EXPECT_ERROR_SAYS(name);
    for (const std::string& text : texts) EXPECT_ERROR_SAYS(text);
  };
  expect(call.blocking());
  expect(call.non_blocking(&request));
  expect(call.persistent(&request));
  EXPECT_OK(tutti_group_start());
  expect(call.blocking());
  EXPECT_OK(tutti_group_end());
}

void expect_sound(tutti_comm_t comm) {
  int32_t one = 1;
  EXPECT_OK(tutti_allreduce(&one, &one, 1, TUTTI_INT32, TUTTI_SUM, comm));
  EXPECT_EQ(one, kRanks);
}

std::string hex(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%#zx", reinterpret_cast<size_t>(address));
  return text;
}

TEST(Buffers, ThatOverlapInPartAreRefusedByEveryCallInEveryForm) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::vector<float> memory(3 * kRanks * kCount);
    Placement placement(rank, comm);
    for (const Placed& each : placement.calls()) {
      float* const begin = memory.data();
      for (const size_t off : {size_t{1}, kCount - 1}) {
        expect_refused(each.name, each.call(begin, off), {" B at 0x", "overlap", "in place"});
      }
    }
    expect_sound(comm);
  });
}

TEST(Buffers, OfMessagesBothWaysMayNotOverlapAtAll) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<float, 20> memory{};
    for (const size_t off : {size_t{0}, size_t{9}}) {
      EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                    tutti_sendrecv(memory.data(), 10, rank, 1, memory.data() + off, 10, rank, 1,
                                   TUTTI_FLOAT32, comm, nullptr));
      EXPECT_ERROR_SAYS("tutti_sendrecv: send (40 B at " + hex(memory.data()) + ") and recv");
    }
    EXPECT_OK(tutti_sendrecv(memory.data(), 10, rank, 1, memory.data() + 10, 10, rank, 1,
                             TUTTI_FLOAT32, comm, nullptr));
    EXPECT_OK(tutti_sendrecv(memory.data() + 5, 0, rank, 1, memory.data(), 10, rank, 1,
                             TUTTI_FLOAT32, comm, nullptr));
    expect_sound(comm);
  });
}

// What is ignored may lie anywhere.
TEST(Buffers, ThatARankDoesNotUseAreNotCompared) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<int32_t, 4> x{1, 1, 1, 1};
    std::array<int32_t, 2> result{};
    int32_t* const recv = rank == 1 ? result.data() : x.data() + 1;
    EXPECT_OK(tutti_reduce(x.data(), recv, 2, TUTTI_INT32, TUTTI_SUM, 1, comm));
    EXPECT_EQ(result[1], rank == 1 ? kRanks : 0);
  });
}

TEST(Buffers, BlocksThatOverlapOneAnotherAreRefusedWhereTheyAreReceived) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<float, 9> send{};
    std::array<float, 9> recv{};
    const size_t counts[kRanks] = {2, 2, 2};
    const size_t meeting[kRanks] = {4, 0, 3};
    const size_t apart[kRanks] = {4, 0, 2};
    const std::string text = "blocks 2 (2 elements at 3) and 0 (2 at 4) of recv overlap";
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_allgatherv(send.data(), recv.data(), counts, meeting, TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS(text);
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_alltoallv(send.data(), counts, meeting, recv.data(), counts, meeting,
                                  TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS(text);
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_gatherv(send.data(), 2, recv.data(), counts,
                                                            meeting, TUTTI_FLOAT32, rank, comm));
    EXPECT_ERROR_SAYS(text);
    // They may be sent so, and lie between one another.
    EXPECT_OK(tutti_alltoallv(send.data(), counts, meeting, recv.data(), counts, apart,
                              TUTTI_FLOAT32, comm));
    expect_sound(comm);
  });
}

TEST(Buffers, MayLieBetweenTheBlocksOfOneAnother) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<int32_t, 2 * kRanks> x{};
    const size_t counts[kRanks] = {1, 1, 1};
    const size_t even[kRanks] = {0, 2, 4};
    for (int i = 0; i < kRanks; ++i) x[2 * static_cast<size_t>(i)] = 10 * rank + i;
    EXPECT_OK(
        tutti_alltoallv(x.data(), counts, even, x.data() + 1, counts, even, TUTTI_INT32, comm));
    for (int i = 0; i < kRanks; ++i) EXPECT_EQ(x[2 * static_cast<size_t>(i) + 1], 10 * i + rank);
  });
}

TEST(Buffers, InPlaceWithOtherLayoutsAreRefused) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<float, 9> x{};
    std::array<size_t, kRanks> sent{1, 1, 1};
    std::array<size_t, kRanks> received{2, 2, 2};
    received[static_cast<size_t>(rank)] = 1;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT,
                  tutti_alltoallv(x.data(), sent.data(), nullptr, x.data(), received.data(),
                                  nullptr, TUTTI_FLOAT32, comm));
    EXPECT_ERROR_SAYS("send == recv with equal counts and displacements");
    expect_sound(comm);
  });
}

// ---- counts ------------------------------------------------------------------------------------

// In elements of 8 bytes: of 2^47 bytes and more, at the edges of powers of two, and such whose
// bytes, or those of all ranks, wrap to few.
std::vector<size_t> edge_counts() {
  std::vector<size_t> counts = {SIZE_MAX, SIZE_MAX / 8 + 2, (SIZE_MAX / 8 + 1) / kRanks + 1,
                                SIZE_MAX / 8 / kRanks + 1};
  for (int bit = 45; bit < 64; ++bit) {
    for (const size_t more : {size_t{0}, size_t{1}}) counts.push_back((size_t{1} << bit) + more);
    if (bit > 45) counts.push_back((size_t{1} << bit) - 1);
  }
  return counts;
}

TEST(Counts, AtTheEdgesOf64BitsAreRefusedByEveryCallInEveryForm) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    double x[kRanks] = {};
    double y[kRanks] = {};
    const tutti_type type = TUTTI_FLOAT64;
    const int root = (rank + 1) % kRanks;
    for (const size_t count : edge_counts()) {
      const std::array<size_t, kRanks> counts{count, count, count};
      const std::array<size_t, kRanks> ones{1, 1, 1};
      const std::array<size_t, kRanks> displs{0, 1, count};
      const std::vector<std::string> texts = {std::to_string(count)};
      const auto refused = [&](const char* name, const Call& call) {
        expect_refused(name, call, texts);
      };
      refused("allreduce", TUTTI_TEST_CALL(allreduce, x, y, count, type, TUTTI_SUM, comm));
      refused("broadcast", TUTTI_TEST_CALL(broadcast, x, count, type, root, comm));
      refused("allgather", TUTTI_TEST_CALL(allgather, x, y, count, type, comm));
      refused("reduce_scatter",
              TUTTI_TEST_CALL(reduce_scatter, x, y, count, type, TUTTI_SUM, comm));
      refused("reduce", TUTTI_TEST_CALL(reduce, x, y, count, type, TUTTI_SUM, root, comm));
      refused("alltoall", TUTTI_TEST_CALL(alltoall, x, y, count, type, comm));
      refused("gather", TUTTI_TEST_CALL(gather, x, y, count, type, root, comm));
      refused("scatter", TUTTI_TEST_CALL(scatter, x, y, count, type, root, comm));
      refused("send", TUTTI_TEST_CALL(send, x, count, type, root, 0, comm));
      tutti_request_t request = nullptr;
      for (const tutti_status status :
           {tutti_recv(x, count, type, root, 0, comm, nullptr),
            tutti_irecv(x, count, type, root, 0, comm, &request),
            tutti_recv_init(x, count, type, root, 0, comm, &request),
            tutti_sendrecv(x, count, root, 0, y, 1, root, 0, type, comm, nullptr),
            tutti_sendrecv(x, 1, root, 0, y, count, root, 0, type, comm, nullptr)}) {
        EXPECT_EQ(status, TUTTI_ERR_INVALID_ARGUMENT) << count;
      }
      for (const bool far : {false, true}) {
        const size_t* const some = far ? ones.data() : counts.data();
        const size_t* const at = far ? displs.data() : nullptr;
        refused("allgatherv", TUTTI_TEST_CALL(allgatherv, x, y, some, at, type, comm));
        refused("alltoallv",
                TUTTI_TEST_CALL(alltoallv, x, ones.data(), nullptr, y, some, at, type, comm));
        refused("alltoallv",
                TUTTI_TEST_CALL(alltoallv, x, some, at, y, ones.data(), nullptr, type, comm));
        refused("gatherv",
                TUTTI_TEST_CALL(gatherv, x, far ? 1 : count, y, some, at, type, rank, comm));
        refused("scatterv",
                TUTTI_TEST_CALL(scatterv, x, some, at, y, far ? 1 : count, type, rank, comm));
      }
      refused("gatherv",
              TUTTI_TEST_CALL(gatherv, x, count, nullptr, nullptr, nullptr, type, root, comm));
      refused("reduce_scatterv",
              TUTTI_TEST_CALL(reduce_scatterv, x, y, counts.data(), type, TUTTI_SUM, comm));
    }
    expect_sound(comm);
  });
}

TEST(Counts, ThatEndBeyondTheLastAddressAreRefused) {
  run_ranks(kRanks, [](int rank, tutti_comm_t comm) {
    std::array<int32_t, kRanks * 8> x{};
    auto* const last =
        reinterpret_cast<int32_t*>(UINTPTR_MAX - 15);  // four elements before the end
    const std::string text = "goes beyond the end of the address space";
    const tutti_type type = TUTTI_INT32;
    const std::array<size_t, kRanks> counts{1, 1, 1};
    const std::array<size_t, kRanks> displs{0, 1, 8};
    const auto refused = [&](const char* name, const Call& call) {
      expect_refused(name, call, {text, "0xfffffffffffffff0"});
    };
    refused("allreduce", TUTTI_TEST_CALL(allreduce, x.data(), last, 8, type, TUTTI_SUM, comm));
    refused("allreduce", TUTTI_TEST_CALL(allreduce, last, last, 8, type, TUTTI_SUM, comm));
    refused("broadcast", TUTTI_TEST_CALL(broadcast, last, 8, type, rank, comm));
    refused("allgather", TUTTI_TEST_CALL(allgather, x.data(), last, 2, type, comm));
    refused("send", TUTTI_TEST_CALL(send, last, 8, type, rank, 0, comm));
    refused("allgatherv",
            TUTTI_TEST_CALL(allgatherv, x.data(), last, counts.data(), displs.data(), type, comm));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_recv(last, 8, type, rank, 0, comm, nullptr));
    EXPECT_ERROR_SAYS(text);
    expect_sound(comm);
  });
}

}  // namespace
}  // namespace tutti_test
