// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL's calls with a match_id: each belongs to those of the other ranks that have the same one,
// whatever the order in which ranks make them and wait for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <oneapi/ccl.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/processes.hpp"

namespace {

using tutti_test::Meeting;
using tutti_test::Processes;
using tutti_test::Shared;

void run_ranks(const Processes& processes,
               const std::function<void(ccl::communicator& comm)>& body) {
  const Shared<ccl::kvs::address_type> address;
  const Meeting made(processes.count);
  tutti_test::run_processes(processes, [&](int rank) {
    auto kvs = rank == 0 ? ccl::create_main_kvs() : nullptr;
    if (rank == 0) *address = kvs->get_address();
    made.wait();
    if (rank != 0) kvs = ccl::create_kvs(*address);
    auto comm = ccl::create_communicator(processes.count, rank, kvs);
    body(comm);
  });
}
void run_ranks(int count, const std::function<void(ccl::communicator& comm)>& body) {
  Processes processes;
  processes.count = count;
  run_ranks(processes, body);
}

template <class Attributes = ccl::allreduce_attr>
Attributes named(const std::string& match_id) {
  return ccl::create_operation_attr<Attributes>(
      ccl::attr_val<ccl::operation_attr_id::match_id>(match_id));
}

ccl::event sum(int& value, const std::string& match_id, const ccl::communicator& comm) {
  return ccl::allreduce(&value, &value, 1, ccl::reduction::sum, comm, named(match_id));
}

// What an exception says; "" if there is none.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const ccl::exception& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MatchId, CallsMayBeMadeAndWaitedForInOtherOrdersOnEachRank) {
  run_ranks(2, [](ccl::communicator& comm) {
    for (int round = 0; round < 50; ++round) {
      int a = comm.rank() + 1;
      int b = 10 * (comm.rank() + 1);
      if (comm.rank() == 0) {
        const ccl::event first = sum(a, "a", comm);
        const ccl::event second = sum(b, "b", comm);
        first.wait();
        second.wait();
      } else {
        sum(b, "b", comm).wait();
        EXPECT_EQ(b, 30);
        sum(a, "a", comm).wait();
      }
      EXPECT_EQ(a, 3);
      EXPECT_EQ(b, 30);
    }
  });
}

TEST(MatchId, CallsOfOneIdAreMatchedInTheOrderInWhichEachRankMakesThem) {
  run_ranks(3, [](ccl::communicator& comm) {
    std::vector<int> values(20);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    int other = 1;
    std::vector<ccl::event> events;
    if (comm.rank() == 1) events.push_back(sum(other, "other", comm));
    for (int& value : values) events.push_back(sum(value, "same", comm));
    if (comm.rank() != 1) events.push_back(sum(other, "other", comm));
    for (const ccl::event& event : events) event.wait();
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 3 * static_cast<int>(i));
    EXPECT_EQ(other, 3);
  });
}

// Operations of several kinds, in an order of each rank's own, completed in another by wait and
// test.
void run_shuffled(ccl::communicator& comm, std::mt19937& random) {
  const int rank = comm.rank();
  const auto ranks = static_cast<size_t>(comm.size());
  constexpr size_t kCalls = 24;
  std::vector<std::vector<int>> sent(kCalls);
  std::vector<std::vector<int>> got(kCalls);
  std::vector<size_t> order(kCalls);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::pair<ccl::event, size_t>> running;
  for (const size_t i : order) {
    const std::string id = "call " + std::to_string(i);
    const size_t count = 1 + 700 * i;
    sent[i].assign(count, rank + static_cast<int>(i));
    got[i].assign(i % 3 == 1 ? ranks * count : count, -1);
    if (i % 3 == 0) {
      running.emplace_back(ccl::allreduce(sent[i].data(), got[i].data(), count, ccl::reduction::max,
                                          comm, named(id)),
                           i);
    } else if (i % 3 == 1) {
      running.emplace_back(ccl::allgather(sent[i].data(), got[i].data(), count, comm,
                                          named<ccl::allgather_attr>(id)),
                           i);
    } else {
      running.emplace_back(ccl::broadcast(sent[i].data(), got[i].data(), count, 1, comm,
                                          named<ccl::broadcast_attr>(id)),
                           i);
    }
  }
  std::shuffle(running.begin(), running.end(), random);
  while (!running.empty()) {
    if (random() % 2 == 0) running.back().first.wait();
    if (running.back().first.test()) {
      const size_t i = running.back().second;
      const int own = static_cast<int>(i);
      if (i % 3 == 1) {
        for (size_t j = 0; j < got[i].size(); ++j) {
          ASSERT_EQ(got[i][j], own + static_cast<int>(j / sent[i].size()));
        }
      } else {
        const int expected = own + (i % 3 == 0 ? comm.size() - 1 : 1);
        ASSERT_EQ(got[i], std::vector<int>(got[i].size(), expected));
      }
      running.pop_back();
    } else {
      std::rotate(running.begin(), running.begin() + 1, running.end());
    }
  }
}

TEST(MatchId, ManyCallsInRandomOrdersGiveEachItsResult) {
  const char* const given = std::getenv("TUTTI_TEST_SEED");
  const auto seed = given == nullptr ? 1u : static_cast<unsigned>(std::atoi(given));
  run_ranks(4, [seed](ccl::communicator& comm) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed + static_cast<unsigned>(comm.rank()));
    for (int round = 0; round < 10; ++round) run_shuffled(comm, random);
  });
}

TEST(MatchId, ACallIsMatchedAndGoesOnWhileTheProgramDoesOtherThings) {
  constexpr int kRounds = 300;
  const Shared<std::atomic<int>> done;  // rounds of rank 1
  run_ranks(2, [&](ccl::communicator& comm) {
    for (int round = 1; round <= kRounds; ++round) {
      int a = 1;
      int b = 1;
      if (comm.rank() == 0) {
        const ccl::event first = sum(a, "a", comm);
        const ccl::event second = sum(b, "b", comm);
        // Not in the library, and rank 1 does not get here before both are complete there.
        while (done->load() < round) std::this_thread::yield();
        first.wait();
        second.wait();
      } else {
        sum(b, "b", comm).wait();
        sum(a, "a", comm).wait();
        done->store(round);
      }
      EXPECT_EQ(a, 2);
      EXPECT_EQ(b, 2);
    }
  });
}

TEST(MatchId, CallsWithoutOneKeepTheirOwnOrder) {
  run_ranks(2, [](ccl::communicator& comm) {
    int named_one = 1;
    int plain = 10;
    if (comm.rank() == 0) {
      const ccl::event event = sum(named_one, "a", comm);
      ccl::allreduce(&plain, &plain, 1, ccl::reduction::sum, comm).wait();
      event.wait();
    } else {
      ccl::allreduce(&plain, &plain, 1, ccl::reduction::sum, comm).wait();
      sum(named_one, "a", comm).wait();
    }
    EXPECT_EQ(named_one, 2);
    EXPECT_EQ(plain, 20);
  });
}

TEST(MatchId, CallsOfAGroupAreMatchedFromItsEndOn) {
  run_ranks(2, [](ccl::communicator& comm) {
    int a = 1;
    int b = 10;
    int sent = comm.rank();
    int received = -1;
    std::vector<ccl::event> events;
    ccl::group_start();
    ccl::recv(&received, 1, 1 - comm.rank(), comm);
    if (comm.rank() == 0) events.push_back(sum(a, "a", comm));
    sum(b, "b", comm);
    if (comm.rank() != 0) events.push_back(sum(a, "a", comm));
    ccl::send(&sent, 1, 1 - comm.rank(), comm);
    EXPECT_THROW(events.front().wait(), ccl::exception);
    EXPECT_FALSE(events.front().test());
    ccl::group_end();
    EXPECT_EQ(b, 20);
    EXPECT_EQ(received, 1 - comm.rank());
    events.front().wait();
    EXPECT_EQ(a, 2);
  });
}

TEST(MatchId, ACallMadeBeforeAGroupMayBeWaitedForInIt) {
  run_ranks(2, [](ccl::communicator& comm) {
    int a = 1;
    const ccl::event event = sum(a, "a", comm);
    ccl::group_start();
    event.wait();
    EXPECT_EQ(a, 2);
    ccl::group_end();
  });
}

void add(const void* in, size_t count, void* inout, size_t*, ccl::datatype,
         const ccl::fn_context* context) {
  EXPECT_TRUE(std::string(context->match_id) == "a" || std::string(context->match_id) == "b");
  for (size_t i = 0; i < count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

TEST(MatchId, ReductionsByAFunctionMayBeMadeInOtherOrders) {
  run_ranks(3, [](ccl::communicator& comm) {
    const auto with_function = [](const char* id) {
      auto attributes = named(id);
      attributes.set<ccl::allreduce_attr_id::reduction_fn>(&add);
      return attributes;
    };
    const std::vector<int> send(300'000, comm.rank() + 1);
    std::vector<int> a(send.size(), -1);
    std::vector<int> b(send.size(), -1);
    std::vector<ccl::event> events;
    for (const bool first : {true, false}) {
      const bool is_a = first == (comm.rank() == 0);
      events.push_back(ccl::allreduce(send.data(), is_a ? a.data() : b.data(), send.size(),
                                      ccl::reduction::custom, comm,
                                      with_function(is_a ? "a" : "b")));
    }
    for (const ccl::event& event : events) event.wait();
    EXPECT_EQ(a, std::vector<int>(send.size(), 6));
    EXPECT_EQ(b, std::vector<int>(send.size(), 6));
  });
}

TEST(MatchId, DifferentCallsOfOneIdAreFoundAndBreakTheCommunicator) {
  run_ranks(2, [](ccl::communicator& comm) {
    std::vector<int> data(10);
    const size_t count = comm.rank() == 0 ? 9 : 10;
    EXPECT_TRUE(says(error_of([&] {
                       ccl::allreduce(data.data(), data.data(), count, ccl::reduction::sum, comm,
                                      named("a"))
                           .wait();
                     }),
                     "MISMATCH"));
    int value = 1;
    EXPECT_NE(error_of([&] { sum(value, "b", comm).wait(); }), "");
    EXPECT_NE(
        error_of([&] { ccl::allreduce(&value, &value, 1, ccl::reduction::sum, comm).wait(); }), "");
  });
}

TEST(MatchId, RanksThatWaitForDifferentIdsAreToldWhichAndWhoseAreMissing) {
  const Shared<ccl::kvs::address_type> address;
  const Meeting made(2);
  Processes processes;
  processes.count = 2;
  tutti_test::run_processes(processes, [&](int rank) {
    setenv("TUTTI_TIMEOUT_MS", "2000", 1);
    auto kvs = rank == 0 ? ccl::create_main_kvs() : nullptr;
    if (rank == 0) *address = kvs->get_address();
    made.wait();
    if (rank != 0) kvs = ccl::create_kvs(*address);
    auto comm = ccl::create_communicator(2, rank, kvs);
    int value = 1;
    const std::string error =
        error_of([&] { sum(value, rank == 0 ? "weights" : "biases", comm).wait(); });
    EXPECT_TRUE(says(error, "weights") || says(error, "biases")) << error;
    EXPECT_TRUE(says(error, "match_id")) << error;
  });
}

TEST(MatchId, ADeadRankIsNamedToThoseThatWaitForItsCall) {
  Processes processes;
  processes.count = 3;
  processes.killed = {1};
  run_ranks(processes, [](ccl::communicator& comm) {
    int value = 1;
    sum(value, "a", comm).wait();
    if (comm.rank() == 1) tutti_test::kill_myself();
    const std::string error = error_of([&] { sum(value, "b", comm).wait(); });
    EXPECT_TRUE(says(error, "PEER_FAILED")) << error;
    EXPECT_TRUE(says(error, "rank 1")) << error;
  });
}

TEST(MatchId, ARankThatDiesBeforeItsFirstCallIsNamed) {
  Processes processes;
  processes.count = 2;
  processes.killed = {1};
  run_ranks(processes, [](ccl::communicator& comm) {
    if (comm.rank() == 1) tutti_test::kill_myself();
    int value = 1;
    const std::string error = error_of([&] { sum(value, "a", comm).wait(); });
    EXPECT_TRUE(says(error, "rank 1")) << error;
  });
}

}  // namespace
