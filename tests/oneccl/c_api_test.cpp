// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL's C API, used as its users do: this file knows <oneapi/ccl.h> and nothing else of the
// library.
#include <gtest/gtest.h>
#include <oneapi/ccl.h>

#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/processes.hpp"

namespace {

using tutti_test::Meeting;
using tutti_test::Processes;
using tutti_test::Shared;

testing::AssertionResult succeeds(const char* expression, onecclResult_t result) {
  if (result == onecclSuccess) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << expression << " gave " << result << " (" << onecclGetErrorString(result)
         << "): " << onecclGetLastError(nullptr);
}
#define EXPECT_SUCCESS(call) EXPECT_PRED_FORMAT1(succeeds, call)
#define ASSERT_SUCCESS(call) ASSERT_PRED_FORMAT1(succeeds, call)

bool error_says(const std::string& part) {
  return std::string(onecclGetLastError(nullptr)).find(part) != std::string::npos;
}

using Body = std::function<void(int rank, onecclComm_t comm)>;

Processes ranks(int count, std::vector<int> killed = {}) {
  Processes processes;
  processes.count = count;
  processes.killed = std::move(killed);
  return processes;
}

// A value that the enumeration has no name for, as programs in C may give.
template <typename Enum>
Enum number(int value) {
  static_assert(sizeof(Enum) == sizeof(value));
  Enum result;
  std::memcpy(&result, &value, sizeof(value));
  return result;
}

// The id goes from rank 0 to the others through shared memory; who needs the communicator no longer
// destroys it.
void run_ranks(const Processes& processes, const Body& body) {
  const Shared<onecclUniqueId> id;
  const Meeting made(processes.count);
  tutti_test::run_processes(processes, [&](int rank) {
    if (rank == 0) {
      ASSERT_SUCCESS(onecclGetUniqueId(&*id));
    }
    made.wait();
    onecclComm_t comm = nullptr;
    ASSERT_SUCCESS(onecclCommInitRank(&comm, static_cast<size_t>(processes.count), *id, rank));
    body(rank, comm);
  });
}

void run_ranks(int count, const Body& body) {
  run_ranks(ranks(count), [&](int rank, onecclComm_t comm) {
    body(rank, comm);
    EXPECT_SUCCESS(onecclCommDestroy(comm));
  });
}

template <typename T>
void expect_sum(onecclDataType_t datatype, int rank, onecclComm_t comm) {
  std::vector<T> send(5, static_cast<T>(rank + 1));
  std::vector<T> recv(5);
  EXPECT_SUCCESS(onecclAllReduce(send.data(), recv.data(), 5, datatype, onecclSum, comm, nullptr));
  EXPECT_EQ(recv, std::vector<T>(5, static_cast<T>(1 + 2 + 3))) << datatype;
}

TEST(OneCcl, SumsEveryType) {
  run_ranks(3, [](int rank, onecclComm_t comm) {
    expect_sum<int8_t>(onecclInt8, rank, comm);
    expect_sum<uint8_t>(onecclUint8, rank, comm);
    expect_sum<int32_t>(onecclInt32, rank, comm);
    expect_sum<uint32_t>(onecclUint32, rank, comm);
    expect_sum<int64_t>(onecclInt64, rank, comm);
    expect_sum<uint64_t>(onecclUint64, rank, comm);
    expect_sum<float>(onecclFloat32, rank, comm);
    expect_sum<double>(onecclFloat64, rank, comm);
    // 1, 2 and 3 are 0x3c00, 0x4000 and 0x4200 as float16, their sum is 0x4600; as bfloat16 they
    // are 0x3f80, 0x4000, 0x4040 and 0x40c0.
    const uint16_t half[] = {0x3c00, 0x4000, 0x4200};
    const uint16_t brain[] = {0x3f80, 0x4000, 0x4040};
    uint16_t x = half[rank];
    EXPECT_SUCCESS(onecclAllReduce(&x, &x, 1, onecclFloat16, onecclSum, comm, nullptr));
    EXPECT_EQ(x, 0x4600);
    x = brain[rank];
    EXPECT_SUCCESS(onecclAllReduce(&x, &x, 1, onecclBfloat16, onecclSum, comm, nullptr));
    EXPECT_EQ(x, 0x40c0);
  });
}

TEST(OneCcl, EveryReductionGivesItsResult) {
  run_ranks(3, [](int rank, onecclComm_t comm) {
    const auto reduced = [&](onecclRedOp_t op) {
      float x = static_cast<float>(2 * rank + 1);
      float result = 0;
      EXPECT_SUCCESS(onecclAllReduce(&x, &result, 1, onecclFloat32, op, comm, nullptr));
      return result;
    };
    EXPECT_EQ(reduced(onecclSum), 9);
    EXPECT_EQ(reduced(onecclProd), 15);
    EXPECT_EQ(reduced(onecclMax), 5);
    EXPECT_EQ(reduced(onecclMin), 1);
    EXPECT_EQ(reduced(onecclAvg), 3);
    float factor = 0.5F;
    onecclRedOp_t halved = onecclSum;
    ASSERT_SUCCESS(onecclRedOpCreatePreMulSum(&halved, &factor, onecclFloat32,
                                              onecclScalarHostImmediate, comm));
    EXPECT_EQ(reduced(halved), 4.5F);
    EXPECT_SUCCESS(onecclRedOpDestroy(halved, comm));
  });
}

TEST(OneCcl, BlocksGoWhereTheyBelong) {
  run_ranks(3, [](int rank, onecclComm_t comm) {
    std::vector<int> mine = {10 * rank, 10 * rank + 1, 10 * rank + 2};
    std::vector<int> all(9, -1);
    EXPECT_SUCCESS(onecclAllGather(mine.data(), all.data(), 3, onecclInt32, comm, nullptr));
    EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 10, 11, 12, 20, 21, 22}));

    std::vector<int> columns(3, -1);
    EXPECT_SUCCESS(onecclAllToAll(mine.data(), columns.data(), 1, onecclInt32, comm, nullptr));
    EXPECT_EQ(columns, (std::vector<int>{rank, 10 + rank, 20 + rank}));

    int block = -1;
    EXPECT_SUCCESS(
        onecclReduceScatter(mine.data(), &block, 1, onecclInt32, onecclSum, comm, nullptr));
    EXPECT_EQ(block, 30 + 3 * rank);

    EXPECT_SUCCESS(
        onecclScatter(rank == 1 ? mine.data() : nullptr, &block, 1, onecclInt32, 1, comm, nullptr));
    EXPECT_EQ(block, 10 + rank);

    // In place, as NCCL's users know it.
    int* const own = &mine[static_cast<size_t>(rank)];
    EXPECT_SUCCESS(onecclReduceScatter(mine.data(), own, 1, onecclInt32, onecclSum, comm, nullptr));
    EXPECT_EQ(*own, 30 + 3 * rank);
    EXPECT_SUCCESS(onecclAllGather(own, mine.data(), 1, onecclInt32, comm, nullptr));
    EXPECT_EQ(mine, (std::vector<int>{30, 33, 36}));
    EXPECT_SUCCESS(onecclAllToAll(mine.data(), mine.data(), 1, onecclInt32, comm, nullptr));
    EXPECT_EQ(mine, std::vector<int>(3, 30 + 3 * rank));
    const size_t ones[] = {1, 1, 1};
    EXPECT_SUCCESS(
        onecclAllToAllV(mine.data(), ones, mine.data(), ones, onecclInt32, comm, nullptr));
    EXPECT_EQ(mine, (std::vector<int>{30, 33, 36}));
  });
}

TEST(OneCcl, BuffersThatOverlapInPartAreInvalid) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    std::vector<int> x(6);
    const auto expect_refused = [&](onecclResult_t result) {
      EXPECT_EQ(result, onecclInvalidArgument);
      const std::string text = onecclGetLastError(comm);
      EXPECT_NE(text.find("overlap"), std::string::npos) << text;
    };
    int* const off = x.data() + 1;
    expect_refused(onecclAllReduce(x.data(), off, 2, onecclInt32, onecclSum, comm, nullptr));
    expect_refused(onecclAllToAll(x.data(), off, 2, onecclInt32, comm, nullptr));
    expect_refused(onecclBroadcast(x.data(), off, 2, onecclInt32, rank, comm, nullptr));
  });
}

TEST(OneCcl, UnevenBlocksLieOneAfterTheOther) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    // Rank 0 sends 1 and 2 elements, rank 1 sends 2 and 2.
    const size_t sent[] = {rank == 0 ? size_t{1} : size_t{2}, 2};
    const size_t received[] = {rank == 0 ? size_t{1} : size_t{2}, 2};
    std::vector<int> send(sent[0] + sent[1]);
    std::iota(send.begin(), send.end(), 100 * rank);
    std::vector<int> recv(received[0] + received[1], -1);
    EXPECT_SUCCESS(
        onecclAllToAllV(send.data(), sent, recv.data(), received, onecclInt32, comm, nullptr));
    EXPECT_EQ(recv,
              rank == 0 ? (std::vector<int>{0, 100, 101}) : (std::vector<int>{1, 2, 102, 103}));
  });
}

TEST(OneCcl, RootsSendAndReceiveOutOfPlace) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    const double sent = 4.5 + rank;
    double got = 0;
    EXPECT_SUCCESS(
        onecclBroadcast(rank == 1 ? &sent : nullptr, &got, 1, onecclFloat64, 1, comm, nullptr));
    EXPECT_EQ(got, 5.5);
    double sum = -1;
    EXPECT_SUCCESS(onecclReduce(&sent, rank == 0 ? &sum : nullptr, 1, onecclFloat64, onecclSum, 0,
                                comm, nullptr));
    EXPECT_EQ(sum, rank == 0 ? 10 : -1);
  });
}

TEST(OneCcl, AReceiveListedBeforeTheSendOfItsGroupDoesNotDeadlock) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    std::vector<float> send(300'000, static_cast<float>(rank));
    std::vector<float> recv(send.size(), -1);
    ASSERT_SUCCESS(onecclGroupStart());
    EXPECT_SUCCESS(onecclRecv(recv.data(), recv.size(), onecclFloat32, 1 - rank, comm, nullptr));
    EXPECT_SUCCESS(onecclSend(send.data(), send.size(), onecclFloat32, 1 - rank, comm, nullptr));
    ASSERT_SUCCESS(onecclGroupEnd());
    EXPECT_EQ(recv, std::vector<float>(send.size(), static_cast<float>(1 - rank)));
  });
}

TEST(OneCcl, AMessageOfAnotherLengthIsAnErrorThatNamesBoth) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    int x[2] = {1, 2};
    if (rank == 0) {
      EXPECT_SUCCESS(onecclSend(x, 1, onecclInt32, 1, comm, nullptr));
      EXPECT_SUCCESS(onecclSend(x, 1, onecclInt32, 1, comm, nullptr));
      return;
    }
    EXPECT_EQ(onecclRecv(x, 2, onecclInt32, 0, comm, nullptr), onecclInvalidUsage);
    EXPECT_TRUE(error_says("count is 2, but rank 0 sent 1")) << onecclGetLastError(comm);
    ASSERT_SUCCESS(onecclGroupStart());
    EXPECT_SUCCESS(onecclRecv(x, 2, onecclInt32, 0, comm, nullptr));
    EXPECT_EQ(onecclGroupEnd(), onecclInvalidUsage);
  });
}

TEST(OneCcl, SplitGivesCommunicatorsThatKnowTheirRanks) {
  run_ranks(3, [](int rank, onecclComm_t comm) {
    onecclComm_t part = nullptr;
    onecclConfig_t config = ONECCL_CONFIG_INITIALIZER;
    ASSERT_SUCCESS(
        onecclCommSplit(comm, rank == 1 ? ONECCL_SPLIT_NOCOLOR : 7, -rank, &part, &config));
    if (rank == 1) {
      EXPECT_EQ(part, nullptr);
      return;
    }
    int size = 0;
    int place = -1;
    EXPECT_SUCCESS(onecclCommCount(part, &size));
    EXPECT_SUCCESS(onecclCommUserRank(part, &place));
    EXPECT_EQ(size, 2);
    EXPECT_EQ(place, rank == 2 ? 0 : 1);
    int sum = 1 + rank;
    EXPECT_SUCCESS(onecclAllReduce(&sum, &sum, 1, onecclInt32, onecclSum, part, nullptr));
    EXPECT_EQ(sum, 4);
    EXPECT_SUCCESS(onecclCommDestroy(part));
  });
}

TEST(OneCcl, AConfigThatNobodyInitialisedDoesNoHarm) {
  run_ranks(2, [](int rank, onecclComm_t comm) {
    onecclConfig_t config;
    std::memset(&config, 0xa5, sizeof config);
    onecclComm_t part = nullptr;
    ASSERT_SUCCESS(onecclCommSplit(comm, 0, rank, &part, &config));
    int sum = 1;
    EXPECT_SUCCESS(onecclAllReduce(&sum, &sum, 1, onecclInt32, onecclSum, part, nullptr));
    EXPECT_EQ(sum, 2);
    EXPECT_SUCCESS(onecclCommDestroy(part));
    onecclUniqueId id;
    ASSERT_SUCCESS(onecclGetUniqueId(&id));
    ASSERT_SUCCESS(onecclCommInitRankConfig(&part, 1, id, 0, &config));
    EXPECT_SUCCESS(onecclCommDestroy(part));
  });
}

TEST(OneCcl, WrongArgumentsHaveTheirCodeAndASentence) {
  run_ranks(1, [](int, onecclComm_t comm) {
    float x = 0;
    EXPECT_EQ(onecclAllReduce(nullptr, &x, 1, onecclFloat32, onecclSum, comm, nullptr),
              onecclInvalidArgument);
    EXPECT_TRUE(error_says("send")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, number<onecclDataType_t>(99), onecclSum, comm, nullptr),
              onecclInvalidArgument);
    EXPECT_TRUE(error_says("datatype is 99")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, number<onecclRedOp_t>(6), comm, nullptr),
              onecclInvalidArgument);
    EXPECT_TRUE(error_says("reduction is 6")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclBroadcast(&x, &x, 1, onecclFloat32, 5, comm, nullptr), onecclInvalidArgument);
    EXPECT_TRUE(error_says("root")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, nullptr, nullptr),
              onecclInvalidArgument);
    EXPECT_TRUE(error_says("comm cannot be nullptr")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, &x),
              onecclInvalidArgument);
    EXPECT_TRUE(error_says("stream")) << onecclGetLastError(comm);
    onecclUniqueId foreign{};
    onecclComm_t none = nullptr;
    EXPECT_EQ(onecclCommInitRank(&none, 1, foreign, 0), onecclInvalidArgument);
    EXPECT_TRUE(error_says("commId")) << onecclGetLastError(comm);
    EXPECT_STREQ(onecclGetErrorString(onecclInvalidArgument), "invalid argument");
    // None of this has broken the communicator.
    EXPECT_SUCCESS(onecclCommGetAsyncError(comm));
    EXPECT_SUCCESS(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr));
  });
}

TEST(OneCcl, DifferentCallsAreFoundOnAllRanks) {
  run_ranks(ranks(2), [](int rank, onecclComm_t comm) {
    std::vector<float> x(4);
    const size_t count = rank == 0 ? 4 : 3;
    EXPECT_EQ(onecclAllReduce(x.data(), x.data(), count, onecclFloat32, onecclSum, comm, nullptr),
              onecclInvalidUsage);
    EXPECT_TRUE(error_says("different calls")) << onecclGetLastError(comm);
    EXPECT_EQ(onecclCommGetAsyncError(comm), onecclInvalidUsage);
    onecclCommDestroy(comm);
  });
}

TEST(OneCcl, ADeadRankIsNamed) {
  run_ranks(ranks(2, {1}), [](int rank, onecclComm_t comm) {
    if (rank == 1) tutti_test::kill_myself();
    float x = 1;
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr),
              onecclFailureCPU);
    EXPECT_TRUE(error_says("rank 1")) << onecclGetLastError(comm);
    onecclCommDestroy(comm);
  });
}

TEST(OneCcl, AbortEndsACallInAnotherThreadAndFreesTheCommunicator) {
  run_ranks(ranks(2), [](int rank, onecclComm_t comm) {
    float x = 1;
    if (rank == 0) {
      std::thread caller([&] {
        EXPECT_NE(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr),
                  onecclSuccess);
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_SUCCESS(onecclCommAbort(comm));
      caller.join();
      EXPECT_SUCCESS(onecclCommAbort(comm));
      EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr),
                onecclInvalidUsage);
      EXPECT_SUCCESS(onecclCommDestroy(comm));
      return;
    }
    while (onecclCommGetAsyncError(comm) == onecclSuccess) std::this_thread::yield();
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr), onecclError);
    onecclCommDestroy(comm);
  });
}

TEST(OneCcl, AFinalizedCommunicatorTakesNoFurtherCalls) {
  run_ranks(2, [](int, onecclComm_t comm) {
    float x = 1;
    EXPECT_SUCCESS(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr));
    EXPECT_SUCCESS(onecclCommFinalize(comm));
    EXPECT_EQ(onecclAllReduce(&x, &x, 1, onecclFloat32, onecclSum, comm, nullptr),
              onecclInvalidUsage);
  });
}

TEST(OneCcl, AllRanksMayLiveInOneProcess) {
  tutti_test::run_processes(ranks(1), [](int) {
    onecclComm_t comms[3] = {};
    ASSERT_SUCCESS(onecclCommInitAll(comms, 3, nullptr));
    float values[3] = {1, 2, 4};
    ASSERT_SUCCESS(onecclGroupStart());
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_SUCCESS(
          onecclAllReduce(&values[i], &values[i], 1, onecclFloat32, onecclSum, comms[i], nullptr));
    }
    ASSERT_SUCCESS(onecclGroupEnd());
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], 7);
    for (onecclComm_t comm : comms) EXPECT_SUCCESS(onecclCommDestroy(comm));
  });
}

TEST(OneCcl, MemoryAndItsRegistrationsAreChecked) {
  run_ranks(1, [](int, onecclComm_t comm) {
    void* memory = nullptr;
    ASSERT_SUCCESS(onecclMemAlloc(&memory, 1000));
    const std::vector<char> zeros(1000, 0);
    EXPECT_EQ(std::memcmp(memory, zeros.data(), zeros.size()), 0);
    void* handle = nullptr;
    EXPECT_SUCCESS(onecclCommRegister(comm, memory, 1000, &handle));
    EXPECT_SUCCESS(onecclCommDeregister(comm, handle));
    EXPECT_EQ(onecclCommDeregister(comm, handle), onecclInvalidArgument);
    onecclWindow_t window = nullptr;
    EXPECT_SUCCESS(
        onecclCommWindowRegister(comm, memory, 1000, &window, ONECCL_WINDOW_COLL_SYMMETRIC));
    void* inside = nullptr;
    EXPECT_SUCCESS(onecclGetLocalDevicePointer(window, 10, &inside));
    EXPECT_EQ(inside, static_cast<char*>(memory) + 10);
    EXPECT_EQ(onecclGetPeerDevicePointer(window, 0, 1, &inside), onecclNotImplemented);
    EXPECT_SUCCESS(onecclCommWindowDeregister(comm, window));
    EXPECT_SUCCESS(onecclMemFree(memory));
  });
}

TEST(OneCcl, NumbersAndLayoutsAreThoseOfTheOriginal) {
  static_assert(sizeof(onecclUniqueId) == 4096);
  static_assert(sizeof(onecclConfig_t) == 56);
  static_assert(offsetof(onecclConfig_t, netName) == 32);
  static_assert(offsetof(onecclConfig_t, plugin) == 48);
  static_assert(sizeof(onecclRedOp_t) == 4 && sizeof(onecclDataType_t) == 4);
  int version = 0;
  EXPECT_SUCCESS(onecclGetVersion(&version));
  EXPECT_EQ(version, 20220200);
  int major = 0;
  int minor = 0;
  int patch = -1;
  EXPECT_SUCCESS(onecclExtractVersionComponents(version, &major, &minor, &patch));
  EXPECT_EQ(major, 2022);
  EXPECT_EQ(minor, 2);
  EXPECT_EQ(patch, 0);
}

}  // namespace
