// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti.hpp, by a program that knows nothing else of the library.
#include <gtest/gtest.h>
#include <tutti/tutti.hpp>

#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace {

using tutti_test::run_ranks;

// What a rank does with a communicator that it owns.
void with_ranks(int ranks, const std::function<void(tutti::Communicator&)>& body) {
  run_ranks(ranks, [&](int, tutti_comm_t handle) {
    tutti::Communicator comm(handle);
    body(comm);
    comm.release();  // run_ranks destroys it
  });
}

template <typename T>
constexpr tutti_type type_of = tutti::element<T>::value;

static_assert(type_of<char> == TUTTI_UINT8 && type_of<signed char> == TUTTI_INT8);
static_assert(type_of<bool> == TUTTI_UINT8 && type_of<std::byte> == TUTTI_UINT8);
static_assert(type_of<short> == TUTTI_INT16 && type_of<unsigned> == TUTTI_UINT32);
static_assert(type_of<long> == TUTTI_INT64 && type_of<long long> == TUTTI_INT64);
static_assert(type_of<size_t> == TUTTI_UINT64);
static_assert(type_of<float> == TUTTI_FLOAT32 && type_of<double> == TUTTI_FLOAT64);
static_assert(type_of<tutti::bfloat16> == TUTTI_BFLOAT16);
static_assert(type_of<std::complex<float>> == TUTTI_COMPLEX64);
static_assert(type_of<std::complex<double>> == TUTTI_COMPLEX128);
static_assert(!tutti::Element<long double> && !tutti::Element<std::string>);
static_assert(!tutti::Writable<const std::vector<int>&> && !tutti::Writable<std::span<const int>>);
static_assert(!std::is_copy_constructible_v<tutti::Communicator>);
static_assert(!std::is_copy_constructible_v<tutti::Request>);

TEST(Cpp, EveryCollectiveOfEqualBlocksGivesItsResult) {
  with_ranks(3, [](tutti::Communicator& comm) {
    const int rank = comm.rank();
    const std::array<int, 2> mine = {rank, 10 * rank};
    std::vector<int> two(2);
    comm.allreduce(mine, two, tutti::sum);
    EXPECT_EQ(two, (std::vector{3, 30}));
    comm.allreduce(two, tutti::max);
    EXPECT_EQ(two, (std::vector{3, 30}));
    comm.reduce(mine, two, tutti::max, 1);
    if (rank == 1) {
      EXPECT_EQ(two, (std::vector{2, 20}));
    }
    two = {rank, rank};
    comm.broadcast(two, 2);
    EXPECT_EQ(two, (std::vector{2, 2}));
    std::vector<int> all(6);
    comm.allgather(mine, all);
    EXPECT_EQ(all, (std::vector{0, 0, 1, 10, 2, 20}));
    comm.reduce_scatter(all, two, tutti::sum);
    EXPECT_EQ(two, (std::vector{3 * rank, 30 * rank}));
    std::vector<int> turned(6);
    comm.alltoall(all, turned);
    EXPECT_EQ(turned, (std::vector{rank, 10 * rank, rank, 10 * rank, rank, 10 * rank}));
    std::vector<int> gathered(rank == 2 ? 6 : 0);
    comm.gather(mine, gathered, 2);
    if (rank == 2) {
      EXPECT_EQ(gathered, (std::vector{0, 0, 1, 10, 2, 20}));
    }
    comm.scatter(gathered, two, 2);
    EXPECT_EQ(two, (std::vector{rank, 10 * rank}));
    comm.barrier();
  });
}

TEST(Cpp, EveryCollectiveOfUnevenBlocksGivesItsResult) {
  with_ranks(3, [](tutti::Communicator& comm) {
    const auto rank = static_cast<size_t>(comm.rank());
    const std::vector<size_t> counts = {1, 2, 3};
    const std::vector<long> mine(rank + 1, comm.rank());
    const std::vector<long> expected = {0, 1, 1, 2, 2, 2};
    std::vector<long> all(6);
    comm.allgatherv(mine, all, counts);
    EXPECT_EQ(all, expected);
    std::vector<long> spaced(9, -1);
    comm.allgatherv(mine, spaced, counts, std::vector<size_t>{6, 3, 0});
    EXPECT_EQ(spaced, (std::vector<long>{2, 2, 2, 1, 1, -1, 0, -1, -1}));
    std::vector<long> block(rank + 1);
    comm.reduce_scatterv(all, block, counts, tutti::sum);
    EXPECT_EQ(block, std::vector<long>(rank + 1, 3 * comm.rank()));
    std::vector<long> at_root(rank == 0 ? 6 : 0);
    comm.gatherv(mine, at_root, rank == 0 ? tutti::PerRank(counts) : tutti::PerRank(), 0);
    if (rank == 0) {
      EXPECT_EQ(at_root, expected);
    }
    comm.scatterv(at_root, rank == 0 ? tutti::PerRank(counts) : tutti::PerRank(), block, 0);
    EXPECT_EQ(block, mine);
    const std::vector<size_t> same(3, rank + 1);  // to each rank, from rank r r + 1
    const std::vector<long> send(3 * (rank + 1), comm.rank());
    comm.alltoallv(send, same, all, counts);
    EXPECT_EQ(all, expected);
  });
}

TEST(Cpp, RequestsAreStartedTestedWaitedForAndMoved) {
  with_ranks(2, [](tutti::Communicator& comm) {
    std::vector<double> value = {1.0};
    tutti::Request request = comm.nonblocking().allreduce(value, tutti::sum);
    tutti::Request moved = std::move(request);
    EXPECT_FALSE(request);
    EXPECT_TRUE(moved.wait_for(std::chrono::seconds(60)));
    EXPECT_TRUE(moved.test());
    EXPECT_EQ(value[0], 2);
    tutti::Request again = comm.persistent().allreduce(value, tutti::sum);
    for (int i = 0; i < 3; ++i) {
      again.start();
      again.wait();
    }
    EXPECT_EQ(value[0], 16);
    const tutti::Request barrier = comm.nonblocking().barrier();  // waited for at its end
  });
}

TEST(Cpp, AWaitThatIsTooShortSaysSoAndTheOperationGoesOn) {
  with_ranks(2, [](tutti::Communicator& comm) {
    int value = comm.rank();
    if (comm.rank() == 0) {
      tutti::Request request = comm.nonblocking().recv(std::span(&value, 1), 1, 7);
      EXPECT_FALSE(request.wait_for(std::chrono::milliseconds(1)));
      comm.barrier();
      request.wait();
      EXPECT_EQ(request.recv_info().count, 1U);
      EXPECT_EQ(value, 1);
    } else {
      comm.barrier();
      comm.send(std::span(&value, 1), 0, 7);
    }
  });
}

TEST(Cpp, MessagesTellWhoSentThemAndGroupsCross) {
  with_ranks(2, [](tutti::Communicator& comm) {
    const int peer = 1 - comm.rank();
    const std::array<char, 3> out = {'a', 'b', static_cast<char>('0' + comm.rank())};
    std::array<char, 8> in{};
    const tutti_recv_info info = comm.sendrecv(out, peer, in, peer, 5);
    EXPECT_EQ(info.source, peer);
    EXPECT_EQ(info.tag, 5);
    EXPECT_EQ(info.count, 3U);
    EXPECT_EQ(in[2], '0' + peer);
    in = {};
    tutti::Group group;
    comm.send(out, peer);
    comm.recv(in, peer);
    group.end();
    EXPECT_EQ(in[2], '0' + peer);
  });
}

TEST(Cpp, CommunicatorsAreSplitAndOwned) {
  with_ranks(3, [](tutti::Communicator& comm) {
    tutti::Communicator part = comm.split(comm.rank() == 1 ? TUTTI_NO_COLOR : 0, -comm.rank());
    EXPECT_EQ(static_cast<bool>(part), comm.rank() != 1);
    if (!part) return;
    EXPECT_EQ(part.size(), 2);
    EXPECT_EQ(part.rank(), comm.rank() == 2 ? 0 : 1);
    tutti::Communicator other = std::move(part);
    EXPECT_FALSE(part);
    EXPECT_TRUE(other.state().ok());
    other.destroy();
    EXPECT_FALSE(other);
  });
}

TEST(Cpp, MemoryIsABuffer) {
  with_ranks(2, [](tutti::Communicator& comm) {
    tutti::Memory<float> memory = comm.alloc<float>(10000);
    EXPECT_EQ(memory.size(), 10000U);
    EXPECT_EQ(memory[9999], 0);
    std::ranges::fill(memory, 1.5F);
    comm.allreduce(memory, tutti::sum);
    EXPECT_EQ(memory.span()[9999], 3);
    EXPECT_EQ(comm.alloc<int>(0).data(), nullptr);
    EXPECT_THROW(static_cast<void>(comm.alloc<double>(SIZE_MAX / 4)), tutti::Error);
  });
}

TEST(Cpp, ReductionsAreFunctionsOrPremultiplied) {
  with_ranks(3, [](tutti::Communicator& comm) {
    int called = 0;
    const auto keep_first =
        tutti::Reduction::of<int>([&called](std::span<const int>, std::span<int> accumulator) {
          called += static_cast<int>(accumulator.size() > 0);
        });
    int value = comm.rank() + 5;
    comm.allreduce(std::span(&value, 1), keep_first);
    EXPECT_EQ(value, 5);  // ranks ascend from rank 0
    const auto twice = tutti::Reduction::premul_sum(2.0F);
    std::array<float, 1> one = {1};
    comm.allreduce(one, twice);
    EXPECT_EQ(one[0], 6);
  });
}

TEST(Cpp, AnErrorIsAnExceptionWithCodeNameAndText) {
  with_ranks(1, [](tutti::Communicator& comm) {
    std::array<int, 1> value = {1};
    EXPECT_THROW(comm.send(value, 9), tutti::Error);
    try {
      comm.broadcast(value, 4);
      FAIL();
    } catch (const tutti::Error& error) {
      EXPECT_EQ(error.code(), TUTTI_ERR_INVALID_ARGUMENT);
      EXPECT_STREQ(error.name(), "TUTTI_ERR_INVALID_ARGUMENT");
      EXPECT_NE(std::string(error.what()).find("root"), std::string::npos) << error.what();
    }
  });
}

TEST(Cpp, AlltoallWorksInPlaceAndWhatOverlapsInPartIsRefused) {
  with_ranks(2, [](tutti::Communicator& comm) {
    std::vector<int> x = {10 * comm.rank(), 10 * comm.rank() + 1};
    comm.alltoall(x, x);
    EXPECT_EQ(x, (std::vector<int>{comm.rank(), 10 + comm.rank()}));
    const std::vector<size_t> ones = {1, 1};
    comm.alltoallv(x, ones, x, ones);
    EXPECT_EQ(x, (std::vector<int>{10 * comm.rank(), 10 * comm.rank() + 1}));
    std::vector<int> y(5);
    const auto calls = comm.nothrow();
    const tutti::Status status = calls.alltoall(std::span(y).first(4), std::span(y).subspan(1, 4));
    EXPECT_EQ(status.code(), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(status.text()).find("overlap"), std::string::npos) << status.text();
  });
}

TEST(Cpp, SizesThatDoNotSuitAreRefusedBeforeAnythingIsSent) {
  with_ranks(2, [](tutti::Communicator& comm) {
    std::vector<int> three(3);
    std::vector<int> four(4);
    const auto refused = [](tutti::Status status) {
      EXPECT_EQ(status.code(), TUTTI_ERR_INVALID_ARGUMENT);
      EXPECT_NE(std::string(status.text()), "");
    };
    const auto calls = comm.nothrow();
    refused(calls.allreduce(three, four, tutti::sum));
    refused(calls.allgather(three, four));
    refused(calls.reduce_scatter(four, three, tutti::sum));
    refused(calls.alltoall(three, three));
    refused(calls.alltoall(three, four));
    refused(calls.allgatherv(three, four, std::vector<size_t>{3, 2}));
    refused(calls.allgatherv(three, four, std::vector<size_t>{3}));
    refused(calls.allgatherv(three, four, std::vector<size_t>{1, 1}));
    refused(calls.reduce_scatterv(four, three, std::vector<size_t>{2, 3}, tutti::sum));
    refused(calls.alltoallv(four, std::vector<size_t>{2, 2}, four, std::vector<size_t>{2, 2}, {},
                            std::vector<size_t>{0, SIZE_MAX}));
    if (comm.rank() == 1) {
      refused(calls.reduce(three, four, tutti::sum, 1));
      refused(calls.gather(three, four, 1));
      refused(calls.gatherv(three, four, std::vector<size_t>{2, 3}, 1));
      refused(calls.scatter(four, three, 1));
      refused(calls.scatterv(four, std::vector<size_t>{2, 3}, three, 1));
    }
    comm.barrier();  // still in step
  });
}

TEST(Cpp, ResultsTellOfErrorsWithoutExceptions) {
  with_ranks(1, [](tutti::Communicator&) {
    auto comm = tutti::nothrow::Communicator::from_env();
    ASSERT_TRUE(comm.ok()) << comm.text();
    std::array<int, 1> value = {1};
    EXPECT_TRUE(comm->allreduce(value, tutti::sum));
    EXPECT_STREQ(tutti::Status().text(), "");
    const tutti::Status status = comm->broadcast(value, 3);
    EXPECT_EQ(status.code(), TUTTI_ERR_INVALID_ARGUMENT);
    EXPECT_STREQ(status.text(), tutti_last_error());
    auto request = comm->nonblocking().broadcast(value, 3);
    EXPECT_FALSE(request);
    EXPECT_THROW(request.value(), tutti::Error);
    auto memory = comm->alloc<int>(4);
    EXPECT_TRUE(memory.ok());
    EXPECT_EQ(std::move(memory).value().size(), 4U);
    tutti::nothrow::Group group;
    EXPECT_TRUE(group.end().ok());
  });
}

TEST(Cpp, AbortBreaksTheCommunicatorWithItsReason) {
  with_ranks(1, [](tutti::Communicator& comm) {
    tutti::Communicator part = comm.split(0);
    part.abort("enough");
    EXPECT_EQ(part.state().code(), TUTTI_ERR_ABORTED);
    try {
      part.destroy();
      FAIL();
    } catch (const tutti::Error& error) {
      EXPECT_NE(std::string(error.what()).find("enough"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(part);
  });
}

TEST(Cpp, RanksMeetByAUniqueId) {
  with_ranks(1, [](tutti::Communicator&) {
    const tutti::UniqueId id = tutti::Communicator::unique_id();
    tutti::Config config;
    config.name = "alone";
    config.timeout_ms = 1000;
    const tutti::Communicator comm = tutti::Communicator::create(id, 0, 1, config);
    EXPECT_EQ(comm.size(), 1);
    comm.set_timeout(std::chrono::seconds(2));
    EXPECT_THROW(tutti::Communicator::unique_id_at("no port"), tutti::Error);
  });
}

TEST(Cpp, AHeldIdIsGivenBackUnlessItIsKept) {
  with_ranks(1, [](tutti::Communicator&) {
    tutti::Config config;
    config.init_timeout_ms = 100;
    std::optional<tutti::HeldId> held(tutti::Communicator::unique_id());
    const tutti::UniqueId lost = held->id();
    held.reset();
    EXPECT_THROW(tutti::Communicator::create(lost, 0, 1, config), tutti::Error);
    held.emplace(tutti::Communicator::unique_id());
    tutti::HeldId moved = *std::move(held);
    held.reset();
    const tutti::UniqueId kept = moved.keep();
    EXPECT_EQ(tutti::Communicator::create(kept, 0, 1, config).size(), 1);
  });
}

}  // namespace
