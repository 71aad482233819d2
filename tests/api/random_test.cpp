// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Random programs: hundreds of mixed calls on several communicators, with delays that differ from
// rank to rank, each checked against the reference. The seed is in the test's name; all ranks draw
// the same program from it.
#include <unistd.h>

#include <cmath>
#include <exception>
#include <iterator>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  int below(int limit) {
    return static_cast<int>(mix(seed_, ++drawn_) % static_cast<uint64_t>(limit));
  }
  // As many small as large: 0, then up to 2^17.
  size_t count() { return static_cast<size_t>(std::exp2(below(171) / 10.0)) - 1; }

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;
};

void random_call(Random& random, Collectives& on) {
  const auto type = static_cast<tutti_type>(random.below(kTypes));
  Op op = kOps[random.below(static_cast<int>(std::size(kOps)))];
  if (!op_applies(op, type)) op = Op::kSum;
  const size_t count = random.count();
  const Variant variant{kForms[random.below(3)], random.below(2) == 0, random.below(2) == 0};
  const int root = random.below(on.ranks());
  switch (random.below(14)) {
    case 0: return on.allreduce(type, op, count, variant);
    case 1: return on.reduce_scatter(type, op, count / 8, variant);
    case 2: return on.broadcast(type, count, root, variant);
    case 3: return on.allgather(type, count / 8, variant);
    case 4: return on.alltoall(type, count / 8, variant);
    case 5: return on.reduce(type, op, count, root, variant);
    case 6: return on.gather(type, count / 8, root, variant);
    case 7: return on.scatter(type, count / 8, root, variant);
    case 8: return on.allgatherv(type, count / 8, variant);
    case 9: return on.reduce_scatterv(type, op, count / 8, variant);
    case 10: return on.alltoallv(type, count / 8, variant);
    case 11: return on.gatherv(type, count / 8, root, variant);
    case 12: return on.scatterv(type, count / 8, root, variant);
    default: return on.send_recv(type, count, variant);
  }
}

// `calls` calls on the communicators, drawn from `seed`; delays from rank and seed.
void run_program(uint64_t seed, int calls, int rank, const std::vector<tutti_comm_t>& comms) {
  std::vector<std::unique_ptr<Collectives>> collectives;
  for (tutti_comm_t comm : comms) {
    int own = -1;
    require_ok(tutti_comm_rank(comm, &own), "tutti_comm_rank");
    collectives.push_back(std::make_unique<Collectives>(own, comm));
  }
  Random random(seed);
  Random delays(mix(seed, static_cast<uint64_t>(rank) + 1));
  for (int call = 0; call < calls; ++call) {
    if (delays.below(20) == 0) usleep(static_cast<useconds_t>(delays.below(300)));
    // The parts of a split are drawn the same on all, though not all have the same size.
    Random own(mix(seed, 77, static_cast<uint64_t>(call)));
    const auto which = static_cast<size_t>(random.below(static_cast<int>(comms.size())));
    random_call(own, *collectives[which]);
  }
}

class RandomProgram : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(RandomProgram, GivesTheReference) {
  const auto [count, seed] = GetParam();
  run_ranks(count, [seed = static_cast<uint64_t>(seed)](int rank, tutti_comm_t world) {
    tutti_comm_t halves = nullptr;
    tutti_comm_t reversed = nullptr;
    ASSERT_OK(tutti_comm_split(world, rank % 2, rank, nullptr, &halves));
    ASSERT_OK(tutti_comm_split(world, 0, -rank, nullptr, &reversed));
    run_program(seed, 1000, rank, {world, halves, reversed});
    EXPECT_OK(tutti_comm_destroy(halves));
    EXPECT_OK(tutti_comm_destroy(reversed));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgram,
                         testing::Combine(testing::Values(2, 3, 5), testing::Values(1, 2, 3)),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_ranks_seed_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(RandomPrograms, OfSeveralThreadsDoNotDisturbOneAnother) {
  constexpr int kThreads = 3;
  run_ranks(3, [](int rank, tutti_comm_t world) {
    std::vector<tutti_comm_t> comms(kThreads);
    for (tutti_comm_t& comm : comms) ASSERT_OK(tutti_comm_split(world, 0, rank, nullptr, &comm));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        try {
          run_program(100 + i, 150, rank, {comms[i]});
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (tutti_comm_t comm : comms) EXPECT_OK(tutti_comm_destroy(comm));
  });
}

}  // namespace
}  // namespace tutti_test
