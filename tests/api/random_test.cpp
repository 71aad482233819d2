// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Random programs: thousands of mixed calls, alone and in groups, on several communicators, with
// delays that differ from rank to rank, each checked against the reference. All ranks draw the same
// program from its seed, which a failure shows; TUTTI_TEST_SEED replaces the seeds of all programs.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
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
  uint64_t any() { return mix(seed_, ++drawn_); }
  // As many small as large: 0, then up to 2^17.
  size_t count() { return static_cast<size_t>(std::exp2(below(171) / 10.0)) - 1; }

 private:
  uint64_t seed_;
  uint64_t drawn_ = 0;
};

// TUTTI_TEST_SEED, or this one.
uint64_t seed_or(uint64_t usual) {
  const char* given = std::getenv("TUTTI_TEST_SEED");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

void random_call(uint64_t seed, Collectives& on, bool in_group) {
  Random random(seed);
  const auto type = static_cast<tutti_type>(random.below(kTypes));
  Op op = kOps[random.below(static_cast<int>(std::size(kOps)))];
  if (!op_applies(op, type)) op = Op::kSum;
  const size_t count = random.count();
  Variant variant{kForms[random.below(3)], random.below(2) == 0, random.below(2) == 0};
  if (in_group && variant.form == Form::kPersistent) variant.form = Form::kBlocking;
  const int root = random.below(on.ranks());
  switch (random.below(15)) {
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
    case 13: return on.send_recv(type, count, variant);
    default:
      if (in_group) variant.form = Form::kNonBlocking;  // a group refuses to block
      return on.barrier(variant);
  }
}

// A call that was drawn: the parts of a split draw the same, though not all have the same size.
struct Drawn {
  size_t on;
  uint64_t seed;
};

// Each communicator's calls in their order; which communicator is next, each rank decides itself.
std::vector<Drawn> shuffled(const std::vector<Drawn>& calls, Random& random) {
  std::vector<Drawn> order;
  std::vector<Drawn> left = calls;
  while (!left.empty()) {
    const size_t on = left[static_cast<size_t>(random.below(static_cast<int>(left.size())))].on;
    const auto next = std::ranges::find(left, on, &Drawn::on);
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

class Program {
 public:
  Program(uint64_t seed, int rank, const std::vector<tutti_comm_t>& comms)
      : random_(seed), own_(mix(seed, static_cast<uint64_t>(rank) + 1)) {
    for (tutti_comm_t comm : comms) {
      int rank_there = -1;
      require_ok(tutti_comm_rank(comm, &rank_there), "tutti_comm_rank");
      on_.push_back(std::make_unique<Collectives>(rank_there, comm));
    }
  }

  void run(int calls) {
    for (int done = 0; done < calls;) {
      if (own_.below(20) == 0) usleep(static_cast<useconds_t>(own_.below(300)));
      const int together = random_.below(8) == 0 ? 1 + random_.below(6) : 0;
      done += std::max(1, together);
      if (together == 0) {
        const Drawn call = draw();
        random_call(call.seed, *on_[call.on], false);
        continue;
      }
      std::vector<Drawn> calls_of_group;
      for (int i = 0; i < together; ++i) calls_of_group.push_back(draw());
      require_ok(tutti_group_start(), "tutti_group_start");
      run_from(shuffled(calls_of_group, own_), 0);
    }
  }

 private:
  Drawn draw() {
    const auto on = static_cast<size_t>(random_.below(static_cast<int>(on_.size())));
    return {on, mix(random_.any(), on)};
  }
  // The calls of a group from `next` on, and its end.
  void run_from(const std::vector<Drawn>& group, size_t next) {
    if (next == group.size()) return require_ok(tutti_group_end(), "tutti_group_end");
    Collectives& on = *on_[group[next].on];
    on.in_group([&] { run_from(group, next + 1); });
    random_call(group[next].seed, on, true);
  }

  Random random_;  // the same on all ranks
  Random own_;     // of this rank: delays, orders
  std::vector<std::unique_ptr<Collectives>> on_;
};

// Parts drawn at random, whose ranks are in random order.
tutti_comm_t random_split(tutti_comm_t comm, Random& random, int rank, int ranks) {
  int color = 0;
  int key = 0;
  const int colors = 1 + random.below(3);
  for (int each = 0; each < ranks; ++each) {
    const int drawn_color = random.below(colors);
    const int drawn_key = random.below(100);
    if (each != rank) continue;
    color = drawn_color;
    key = drawn_key;
  }
  tutti_comm_t part = nullptr;
  require_ok(tutti_comm_split(comm, color, key, nullptr, &part), "tutti_comm_split");
  return part;
}

class RandomProgram : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(RandomProgram, GivesTheReference) {
  constexpr int kPrograms = kSanitized ? 2 : 4;
  constexpr int kCalls = 400;
  const auto [ranks, usual] = GetParam();
  const uint64_t seed = seed_or(static_cast<uint64_t>(usual));
  SCOPED_TRACE("TUTTI_TEST_SEED=" + std::to_string(seed));
  run_ranks(ranks, [seed, ranks = ranks](int rank, tutti_comm_t world) {
    Random splits(mix(seed, 99));
    for (uint64_t program = 0; program < kPrograms; ++program) {
      tutti_comm_t part = random_split(world, splits, rank, ranks);
      tutti_comm_t other = random_split(world, splits, rank, ranks);
      tutti_comm_t reversed = nullptr;  // of a part
      ASSERT_OK(tutti_comm_split(part, 0, -rank, nullptr, &reversed));
      Program(mix(seed, program), rank, {world, part, other, reversed}).run(kCalls);
      for (tutti_comm_t comm : {reversed, other, part}) EXPECT_OK(tutti_comm_destroy(comm));
    }
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
  const uint64_t seed = seed_or(100);
  SCOPED_TRACE("TUTTI_TEST_SEED=" + std::to_string(seed));
  run_ranks(3, [seed](int rank, tutti_comm_t world) {
    std::vector<tutti_comm_t> comms(kThreads);
    for (tutti_comm_t& comm : comms) ASSERT_OK(tutti_comm_split(world, 0, rank, nullptr, &comm));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        try {
          Program(seed + i, rank, {comms[i]}).run(150);
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
