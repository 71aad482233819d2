// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/selector.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "env/fake_environment.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"

namespace tutti {
namespace {

Problem problem_of(Collective collective, uint64_t bytes, int ranks = 4) {
  Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.count = problem.stride = bytes / 4;
  problem.element_bytes = 4;
  problem.limits = {.slots = {.call_bytes = 32 << 10},
                    .window_bytes = 1 << 20,
                    .chunk_bytes = 256 << 10,
                    .non_temporal_bytes = 8 << 20};
  return problem;
}

Problem without_memory(Problem problem) {
  problem.limits = {};
  return problem;
}

Result<Selector> selector_with(std::map<std::string, std::string> variables) {
  return Selector::create(*read_environment(fake_environment(std::move(variables))), Machine());
}

std::string_view chosen(const Selector& selector, const Problem& problem) {
  const Algorithm* algorithm = selector.choose(problem).algorithm;
  return algorithm == nullptr ? "none" : algorithm->name;
}

std::string error_of(std::map<std::string, std::string> variables) {
  return std::string(selector_with(std::move(variables)).status().message());
}

std::string_view other_route(const Selector& selector, const Problem& problem) {
  const Algorithm* algorithm = selector.choose(problem).other_route;
  return algorithm == nullptr ? "none" : algorithm->name;
}

Problem pulling(Problem problem) {
  problem.limits.pulls = true;
  return problem;
}

TEST(OtherRoute, GoesTheOtherWay) {
  const Selector selector = *selector_with({});
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kBroadcast, Collective::kReduce, Collective::kAllgather,
        Collective::kReduceScatter, Collective::kAlltoall, Collective::kGather,
        Collective::kScatter, Collective::kAllgatherv, Collective::kReduceScatterv}) {
    for (const uint64_t bytes : {128u << 10, 1u << 20, 16u << 20}) {
      const Problem problem = pulling(problem_of(collective, bytes));
      const bool pulls = chosen(selector, problem).starts_with("pull");
      EXPECT_EQ(other_route(selector, problem).starts_with("pull"), !pulls)
          << collective_name(collective) << " of " << bytes;
      EXPECT_NE(other_route(selector, problem), "none") << collective_name(collective);
      EXPECT_EQ(selector.explain(problem).other_route, selector.choose(problem).other_route);
    }
  }
}

TEST(OtherRoute, IsThereWhereItMayPayOnly) {
  const Selector selector = *selector_with({});
  EXPECT_EQ(other_route(selector, problem_of(Collective::kAlltoall, 1 << 20)), "none")
      << "no pulls";
  EXPECT_EQ(other_route(selector, pulling(problem_of(Collective::kAlltoall, 60 << 10))), "none");
  EXPECT_EQ(other_route(selector, pulling(problem_of(Collective::kBarrier, 0))), "none");
  EXPECT_EQ(other_route(selector, pulling(problem_of(Collective::kAlltoallv, 0))), "none")
      << "no size that all know";
  Problem problem = pulling(problem_of(Collective::kBroadcast, 1 << 20));
  EXPECT_NE(other_route(selector, problem), "none");
  problem.limits.slots.call_bytes = 1 << 20;
  EXPECT_NE(other_route(selector, problem), "none");
  problem.count = problem.stride = (255 << 10) / problem.element_bytes;
  EXPECT_EQ(other_route(selector, problem), "none") << "calls run ahead of one another";
  problem.count = problem.stride = (1 << 20) / problem.element_bytes;
  problem.collective = Collective::kAllgather;
  EXPECT_NE(other_route(selector, problem), "none");
  problem.limits.maps_peers = true;
  EXPECT_EQ(other_route(selector, problem), "none");
  Machine machine;
  machine.pull_s = 1;
  const Selector slow = *Selector::create(*read_environment(fake_environment({})), machine);
  EXPECT_EQ(other_route(slow, pulling(problem_of(Collective::kAlltoall, 1 << 20))), "none");
}

TEST(OtherRoute, IsNoneOfWhatTheUserHasChosen) {
  const Problem problem = pulling(problem_of(Collective::kAlltoall, 1 << 20));
  EXPECT_EQ(other_route(*selector_with({{"CCL_ALLTOALL", "flat"}}), problem), "none");
  EXPECT_NE(other_route(*selector_with({{"CCL_ALLTOALL", "flat:0-1000"}}), problem), "none");
  EXPECT_EQ(other_route(*selector_with({{"TUTTI_ADAPT", "0"}}), problem), "none");
}

std::string_view with_other_stores(const Selector& selector, Problem problem) {
  problem.limits.tries_non_temporal = true;
  const Algorithm* algorithm = selector.choose(problem).with_other_stores;
  return algorithm == nullptr ? "none" : algorithm->name;
}

TEST(OtherStores, AreTriedWhereARankReceivesMuch) {
  const Selector selector = *selector_with({});
  EXPECT_EQ(with_other_stores(selector, problem_of(Collective::kBroadcast, 4 << 20)), "flat");
  EXPECT_EQ(with_other_stores(selector, problem_of(Collective::kBroadcast, 4095 << 10)), "none");
  Problem problem = problem_of(Collective::kAllgather, 1 << 20);
  problem.ranks = 4;
  EXPECT_EQ(with_other_stores(selector, problem), "flat");
  problem.ranks = 3;
  EXPECT_EQ(with_other_stores(selector, problem), "none");
  problem = problem_of(Collective::kAllgather, 16 << 20);
  EXPECT_EQ(selector.choose(problem).with_other_stores, nullptr) << "the size is given";
  problem.limits.maps_peers = true;
  EXPECT_EQ(with_other_stores(selector, problem), "none");
  problem.limits = {};
  EXPECT_EQ(with_other_stores(selector, problem), "none") << "no shared memory";
}

TEST(OtherStores, AreThoseOfWhatWritesTheReceiveBufferItself) {
  const Problem problem = pulling(problem_of(Collective::kGather, 16 << 20));
  Machine machine;
  machine.pull_shared_s = machine.pull_memory_s = 1e-12;
  const Selector pulls = *Selector::create(*read_environment(fake_environment({})), machine);
  ASSERT_EQ(chosen(pulls, problem), "pull");
  EXPECT_EQ(with_other_stores(pulls, problem), "flat");
  EXPECT_EQ(with_other_stores(*selector_with({{"CCL_GATHER", "pull"}}), problem), "pull");
}

TEST(OtherStores, AreTriedUnlessASizeIsGiven) {
  const Problem problem = problem_of(Collective::kBroadcast, 4 << 20);
  EXPECT_EQ(with_other_stores(*selector_with({{"TUTTI_ADAPT", "0"}}), problem), "none");
  const auto tries = [](std::map<std::string, std::string> variables) {
    return limits_of(*read_environment(fake_environment(std::move(variables))), 2, 2)
        .tries_non_temporal;
  };
  EXPECT_TRUE(tries({}));
  EXPECT_TRUE(tries({{"TUTTI_STREAM_BYTES", "auto"}}));
  EXPECT_FALSE(tries({{"TUTTI_STREAM_BYTES", "64m"}}));
}

TEST(Selector, ComparesWhatAVariableNamesWithTheCheapest) {
  const Problem problem = problem_of(Collective::kAllreduce, 1 << 20);
  const auto demanded = selector_with({{"CCL_ALLREDUCE", "tree"}})->demanded(problem);
  ASSERT_TRUE(demanded.has_value());
  EXPECT_EQ(demanded->variable, "CCL_ALLREDUCE");
  EXPECT_EQ(demanded->named.algorithm->name, "tree");
  EXPECT_EQ(demanded->best.algorithm->name, chosen(*selector_with({}), problem));
  EXPECT_LT(demanded->best.seconds, demanded->named.seconds);
  EXPECT_FALSE(selector_with({})->demanded(problem).has_value());
  // One that does not apply is not used.
  EXPECT_FALSE(selector_with({{"CCL_ALLREDUCE", "inline"}})->demanded(problem).has_value());
}

TEST(Selector, GrowsFromLineToSlotToWindow) {
  const Selector selector = *selector_with({});
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 4)), "inline");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 56)), "inline");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 60)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 1 << 20)), "two_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kBroadcast, 8)), "inline");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kBroadcast, 4096)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kBroadcast, 1 << 20)), "flat");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllgather, 4096)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kReduceScatter, 1 << 20)), "flat");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kReduce, 8)), "inline");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kReduce, 1024)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kReduce, 1 << 20, 8)), "two_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kGather, 8)), "inline");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kScatter, 4096)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAlltoall, 1 << 20)), "flat");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kBarrier, 0)), "inline");
}

// What was measured: ranks gain from slices the sooner the more they are, and the later the more a
// synchronisation costs.
TEST(Selector, WeighsSynchronisationAgainstBytes) {
  const Selector roomy = *selector_with({});
  const Selector oversubscribed = *Selector::create(Environment(), machine_for(4, 2));
  EXPECT_EQ(chosen(roomy, problem_of(Collective::kAllreduce, 16 << 10, 2)), "one_shot");
  EXPECT_EQ(chosen(roomy, problem_of(Collective::kAllreduce, 4 << 20, 2)), "two_shot");
  EXPECT_EQ(chosen(roomy, problem_of(Collective::kAllreduce, 4 << 10, 4)), "two_shot");
  EXPECT_EQ(chosen(oversubscribed, problem_of(Collective::kAllreduce, 4 << 10, 4)), "one_shot");
  EXPECT_EQ(chosen(oversubscribed, problem_of(Collective::kAllreduce, 16 << 10, 4)), "two_shot");
}

// What was measured with 3 and 4 ranks on 2 cores.
TEST(Selector, StagesInsteadOfPullingWhereRanksShareCores) {
  for (const int ranks : {3, 4}) {
    const Selector oversubscribed = *Selector::create(Environment(), machine_for(ranks, 2));
    const auto choose = [&](Collective collective, uint64_t bytes) {
      Problem problem = problem_of(collective, bytes, ranks);
      problem.limits = limits_of(Environment(), problem.ranks, 2).for_calls_of(collective);
      return std::string(chosen(oversubscribed, problem));
    };
    for (const uint64_t bytes : {16U << 10, 64U << 10}) {
      EXPECT_EQ(choose(Collective::kReduce, bytes), "one_shot") << ranks << " ranks, " << bytes;
      EXPECT_EQ(choose(Collective::kBroadcast, bytes), "one_shot") << ranks << " ranks, " << bytes;
    }
    EXPECT_EQ(choose(Collective::kScatter, 16 << 10), "one_shot") << ranks;
    EXPECT_EQ(choose(Collective::kScatter, 1 << 20), "direct") << ranks;
    EXPECT_EQ(choose(Collective::kGather, 64 << 10), "one_shot") << ranks;
  }
}

// In small pages by staging, in huge ones by reading: calls find out.
TEST(Selector, TimesPullsInLongExchangesOfRanksThatShareCores) {
  const Selector oversubscribed = *Selector::create(Environment(), machine_for(8, 2));
  for (const Collective collective : {Collective::kAllgather, Collective::kAlltoall}) {
    for (const uint64_t bytes : {uint64_t{256} << 10, uint64_t{4} << 20}) {
      Problem problem = problem_of(collective, bytes, 8);
      problem.limits = limits_of(Environment(), 8, 2).for_calls_of(collective);
      const Choice choice = oversubscribed.explain(problem);
      ASSERT_NE(choice.other_route, nullptr) << collective_name(collective) << ' ' << bytes;
      const bool pulls = choice.algorithm->name == "pull" || choice.other_route->name == "pull";
      EXPECT_TRUE(pulls) << collective_name(collective) << ' ' << bytes;
    }
  }
}

TEST(Selector, AnOversubscribedMachineIsSlower) {
  EXPECT_EQ(machine_for(4, 4).line_s, Machine().line_s);
  EXPECT_EQ(machine_for(4, 8).handover_s, Machine().handover_s);
  EXPECT_GT(machine_for(4, 2).line_s, Machine().line_s);
  EXPECT_EQ(machine_for(4, 2).takeover_s, 2 * Machine().takeover_s);
  // One of three peers is on the same core.
  EXPECT_DOUBLE_EQ(machine_for(4, 2).handover_s,
                   2 * (2 * Machine().handover_s + Machine().copy_cached_s) / 3);
  EXPECT_GT(machine_for(8, 2).line_s, machine_for(4, 2).line_s);
}

TEST(Selector, FindsAnAlgorithmForEveryProblem) {
  for (const char* strict : {"0", "1"}) {
    const Selector selector = *selector_with({{"TUTTI_STRICT", strict}});
    for (const Collective collective :
         {Collective::kAllreduce, Collective::kBroadcast, Collective::kAllgather,
          Collective::kReduceScatter, Collective::kReduce, Collective::kAlltoall,
          Collective::kGather, Collective::kScatter, Collective::kAllgatherv,
          Collective::kReduceScatterv, Collective::kAlltoallv, Collective::kGatherv,
          Collective::kScatterv, Collective::kBarrier}) {
      for (const int ranks : {1, 2, 3, 8, 100, 1000}) {
        for (const uint64_t bytes : {0UL, 4UL, 40'000UL, 1UL << 34}) {
          const Problem problem = problem_of(collective, bytes, ranks);
          EXPECT_NE(chosen(selector, problem), "none") << collective_name(collective);
          EXPECT_NE(chosen(selector, without_memory(problem)), "none")
              << collective_name(collective);
        }
      }
    }
  }
}

// One rank on each of `ranks` hosts.
Result<Selector> selector_across(int ranks, const NetworkFigures& network = {}) {
  std::vector<int> marks(static_cast<size_t>(ranks));
  std::iota(marks.begin(), marks.end(), 0);
  return Selector::create(Environment(), machine_across(Hosts::of(marks), Machine(), network));
}

// What was measured with 4 hosts at 1 Gbit/s: sending twice the data in 2 rounds takes a third
// longer than sending 1.5 times the data in 4.
TEST(Selector, SendsNoMoreThanItMustOnASlowNetwork) {
  const auto choose = [](uint64_t bytes, const NetworkFigures& network, int ranks = 4) {
    return std::string(chosen(*selector_across(ranks, network),
                              without_memory(problem_of(Collective::kAllreduce, bytes, ranks))));
  };
  const NetworkFigures slow{.message_s = 20e-6, .line_byte_s = 1 / 118e6};
  const NetworkFigures fast{.message_s = 20e-6, .line_byte_s = 1 / 10e9};
  EXPECT_EQ(choose(8, slow), "recursive_doubling");
  EXPECT_EQ(choose(1024, slow), "recursive_doubling");
  for (const uint64_t bytes : {16U << 10, 64U << 10}) {
    // Which is circulant without its copy, for powers of two.
    EXPECT_EQ(choose(bytes, slow), "rabenseifner") << bytes;
    EXPECT_EQ(choose(bytes, slow, 5), "circulant") << bytes;
    EXPECT_EQ(choose(bytes, fast), "recursive_doubling") << bytes;
  }
  // The halves that others exchange are asked for first.
  EXPECT_EQ(choose(256 << 10, slow), "ring");
  EXPECT_EQ(choose(256 << 10, fast), "ring");
}

TEST(Selector, SharesTheLineOfAHostAmongItsRanks) {
  const NetworkFigures network{.message_s = 3e-6, .line_byte_s = 2e-9};
  const Hosts hosts = Hosts::of(std::vector<int>{0, 0, 0, 1});
  const Machine machine = machine_across(hosts, Machine(), network);
  EXPECT_DOUBLE_EQ(machine.message_s, 3e-6);
  EXPECT_DOUBLE_EQ(machine.message_byte_s, 6e-9);
}

// What was measured with 4 and 8 hosts: 3 messages at once are faster than 2 rounds, 7 slower
// than 3.
TEST(Selector, PacksShortBlocksForManyHostsTogether) {
  const auto choose = [](int ranks, uint64_t bytes) {
    return std::string(chosen(*selector_across(ranks),
                              without_memory(problem_of(Collective::kAlltoall, bytes, ranks))));
  };
  for (const int ranks : {2, 3, 4}) EXPECT_EQ(choose(ranks, 8), "pairwise") << ranks;
  for (const int ranks : {8, 13, 64}) {
    EXPECT_EQ(choose(ranks, 8), "bruck") << ranks;
    EXPECT_EQ(choose(ranks, 512), "bruck") << ranks;
    EXPECT_EQ(choose(ranks, 64 << 10), "pairwise") << ranks;
  }
}

TEST(Selector, PassesLongMessagesBetweenHostsInBlocks) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const auto choose = [&](int ranks, uint64_t bytes) {
      return std::string(
          chosen(*selector_across(ranks), without_memory(problem_of(collective, bytes, ranks))));
    };
    EXPECT_EQ(choose(2, 16 << 20), "tree");
    for (const int ranks : {3, 4, 13, 64}) {
      EXPECT_EQ(choose(ranks, 1024), "tree") << ranks;
      EXPECT_EQ(choose(ranks, 1 << 20), ranks < 64 ? "chain" : "circulant") << ranks;
      EXPECT_EQ(choose(ranks, 64 << 20), ranks < 64 ? "chain" : "circulant") << ranks;
    }
  }
}

// The ranks of a host share its way to the others, which one of them alone has to itself.
TEST(Selector, SendsLongMessagesToEachHostOnce) {
  std::vector<int> marks(16);
  for (size_t rank = 0; rank < marks.size(); ++rank) marks[rank] = static_cast<int>(rank) / 4;
  const Hosts hosts = Hosts::of(marks);
  const Selector selector = *Selector::create(Environment(), machine_across(hosts, Machine()));
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    for (const uint64_t bytes : {64U << 10, 1U << 20, 64U << 20}) {
      Problem problem = without_memory(problem_of(collective, bytes, 16));
      problem.hosts = &hosts;
      EXPECT_EQ(chosen(selector, problem), "hierarchical") << bytes;
    }
  }
}

// 64 hosts in 4 groups.
std::string chosen_in_groups(uint64_t bytes, double times_slower) {
  std::vector<int> marks(64);
  std::iota(marks.begin(), marks.end(), 0);
  Hosts hosts = Hosts::of(marks);
  for (int& mark : marks) mark /= 16;
  hosts.group_by(marks);
  NetworkFigures network;
  network.group_byte_s = times_slower * network.line_byte_s;
  const Machine across = machine_across(hosts, Machine(), network);
  const Selector selector =
      *Selector::create(Environment(), machine_over_groups(*hosts.groups, across, network));
  Problem problem = without_memory(problem_of(Collective::kAllreduce, bytes, 64));
  problem.hosts = hosts.groups.get();
  return std::string(chosen(selector, problem));
}

TEST(Selector, GoesByWayOfGroupsWhereTheNetworkBetweenThemIsSlow) {
  EXPECT_EQ(chosen_in_groups(64 << 10, 8), "hierarchical");
  EXPECT_NE(chosen_in_groups(64 << 10, 1), "hierarchical");
  EXPECT_NE(chosen_in_groups(8, 8), "hierarchical");
  EXPECT_EQ(chosen_in_groups(1 << 20, 0), chosen_in_groups(1 << 20, 2)) << "nobody has measured it";
}

TEST(Selector, ARankThatSendsAloneHasTheLineOfItsHost) {
  const Hosts hosts = Hosts::of(std::vector<int>{0, 0, 0, 1});
  const Machine across = machine_across(hosts, Machine(), {.line_byte_s = 2e-9});
  EXPECT_DOUBLE_EQ(alone_on_host(hosts, across).message_byte_s, 2e-9);
}

// Not where the bytes are what counts, nor where the message for a whole host would be asked for.
TEST(Selector, SendsShortBlocksOfManyRanksToEachHostTogether) {
  const auto choose = [](Collective collective, int hosts, int ranks_each, uint64_t bytes) {
    std::vector<int> marks;
    for (int rank = 0; rank < hosts * ranks_each; ++rank) marks.push_back(rank / ranks_each);
    const Hosts shape = Hosts::of(marks);
    const Selector selector = *Selector::create(Environment(), machine_across(shape, Machine()));
    Problem problem = without_memory(problem_of(collective, bytes, hosts * ranks_each));
    problem.hosts = &shape;
    return std::string(chosen(selector, problem));
  };
  for (const int ranks_each : {2, 4, 8}) {
    for (const Collective collective :
         {Collective::kAlltoall, Collective::kGather, Collective::kScatter}) {
      EXPECT_EQ(choose(collective, 2, ranks_each, 1024), "hierarchical") << ranks_each;
    }
  }
  EXPECT_EQ(choose(Collective::kAlltoall, 8, 8, 4096), "hierarchical");
  EXPECT_EQ(choose(Collective::kAlltoall, 8, 8, 1 << 20), "pairwise");
  EXPECT_EQ(choose(Collective::kGather, 8, 8, 1024), "hierarchical");
  EXPECT_EQ(choose(Collective::kGather, 8, 8, 1 << 20), "direct");
  EXPECT_EQ(choose(Collective::kScatter, 2, 8, 64 << 10), "direct") << "messages that ask first";
  EXPECT_EQ(choose(Collective::kScatter, 2, 8, 1 << 20), "direct");
  EXPECT_EQ(choose(Collective::kScatter, 2, 1, 1024), "direct");
  EXPECT_EQ(choose(Collective::kScatter, 8, 1, 1024), "tree") << "fewer messages from the root";
  EXPECT_EQ(choose(Collective::kScatter, 8, 1, 64 << 10), "direct");
}

// 16 ranks that share a cache look at one another; more, or ranks of several domains, have leaders
// do it.
TEST(Selector, TakesLeadersWhereThereAreMany) {
  const Selector roomy = *selector_with({});
  for (const Collective collective : {Collective::kAllreduce, Collective::kBroadcast,
                                      Collective::kReduce, Collective::kBarrier}) {
    const Algorithm& leaders = *find_algorithm(collective, "leaders");
    const uint64_t bytes = collective == Collective::kBarrier ? 0 : 8;
    for (const int ranks : {2, 8, 16}) {
      const Applies applies = leaders.applies(problem_of(collective, bytes, ranks));
      EXPECT_FALSE(applies.yes) << ranks;
      EXPECT_NE(applies.why_not.find("TUTTI_DOMAIN"), std::string_view::npos);
    }
    EXPECT_EQ(chosen(roomy, problem_of(collective, bytes, 128)), "leaders");
  }
}

TEST(Selector, TakesLeadersForDomainsThatAreFarFromOneAnother) {
  std::vector<int> marks(32);
  for (size_t rank = 0; rank < marks.size(); ++rank) marks[rank] = static_cast<int>(rank) / 8;
  const Hosts domains = Hosts::of(marks);
  const Selector roomy = *selector_with({});
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kBroadcast, Collective::kBarrier}) {
    Problem problem = problem_of(collective, collective == Collective::kBarrier ? 0 : 8, 32);
    problem.cache_domains = &domains;
    EXPECT_EQ(chosen(roomy, problem), "leaders") << collective_name(collective);
    // Where ranks share cores, every hand-over waits for a turn.
    const Selector oversubscribed = *Selector::create(Environment(), machine_for(32, 2));
    EXPECT_NE(chosen(oversubscribed, problem), "leaders") << collective_name(collective);
  }
}

TEST(Selector, LimitsReadersOnlyWhereEachRankHasACore) {
  EXPECT_EQ(limits_of(Environment(), 8, 8).pull_readers, Environment().pull_readers);
  EXPECT_EQ(limits_of(Environment(), 9, 8).pull_readers, 0);
}

TEST(Selector, PullsInAFewCollectivesAloneWhereRanksOutnumberCores) {
  const std::set<Collective> few{Collective::kAllgather, Collective::kAllgatherv,
                                 Collective::kAlltoall, Collective::kScatter};
  for (int i = 0; i < kCollectives; ++i) {
    const auto any = static_cast<Collective>(i);
    EXPECT_TRUE(limits_of(Environment(), 8, 8).for_calls_of(any).pulls);
    EXPECT_EQ(limits_of(Environment(), 9, 8).for_calls_of(any).pulls, few.contains(any));
  }
}

TEST(Selector, PullsAsAVariableSays) {
  for (const bool pulls : {false, true}) {
    Environment given;
    given.pull = pulls;
    EXPECT_EQ(limits_of(given, 8, 8).pulls, pulls);
    for (const Collective any : {Collective::kAllreduce, Collective::kAlltoall}) {
      EXPECT_EQ(limits_of(given, 9, 8).for_calls_of(any).pulls, pulls);
    }
  }
}

TEST(Selector, FollowsAVariable) {
  const Selector selector = *selector_with({{"CCL_ALLREDUCE", "two_shot"}});
  const Choice choice = selector.explain(problem_of(Collective::kAllreduce, 4));
  EXPECT_EQ(choice.algorithm->name, "two_shot");
  EXPECT_EQ(choice.origin, "CCL_ALLREDUCE");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 4)), "two_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kBroadcast, 4)), "inline");
}

TEST(Selector, BothEndsOfARangeBelongToIt) {
  const Selector selector =
      *selector_with({{"CCL_ALLREDUCE", "flat:100-200; TWO_SHOT : 8k-MAX ;one_shot:160-180"}});
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 96)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 100)), "flat");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 200)), "flat");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 204)), "one_shot");
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 160)), "one_shot")
      << "later rules overlay earlier ones";
  EXPECT_EQ(chosen(selector, problem_of(Collective::kAllreduce, 8192)), "two_shot");
}

TEST(Selector, AutoAndNothingMeanTheCostModel) {
  for (const char* text : {"", " ", "auto", "flat;auto:0-max", ";"}) {
    const Selector selector = *selector_with({{"CCL_ALLREDUCE", text}});
    const Choice choice = selector.explain(problem_of(Collective::kAllreduce, 4));
    EXPECT_EQ(choice.algorithm->name, "inline") << text;
    EXPECT_EQ(choice.origin, "cost model") << text;
  }
}

TEST(Selector, AnUnknownNameIsAnErrorThatListsTheNames) {
  const std::string error = error_of({{"CCL_BARRIER", "inlin"}});
  EXPECT_NE(error.find("CCL_BARRIER=inlin"), std::string::npos) << error;
  EXPECT_NE(error.find("no barrier algorithm \"inlin\""), std::string::npos) << error;
  EXPECT_NE(error.find("auto, inline"), std::string::npos) << error;
  EXPECT_NE(error_of({{"CCL_BARRIER", "two_shot"}}), "") << "another collective has it";
  EXPECT_NE(error_of({{"CCL_ALLREDUCE", ":0-5"}}), "");
}

TEST(Selector, ABadRangeIsAnError) {
  for (const char* range : {"", "5", "5-", "-5", "9-5", "a-b", "1-2-3", "0x1-2"}) {
    const std::string error = error_of({{"CCL_ALLREDUCE", std::string("flat:") + range}});
    EXPECT_NE(error.find("is not a range of sizes"), std::string::npos) << range;
    EXPECT_NE(error.find("CCL_ALLREDUCE"), std::string::npos) << error;
  }
}

TEST(Selector, FallsBackAndSaysWhyIfTheDemandedDoesNotApply) {
  const Selector selector = *selector_with({{"CCL_ALLREDUCE", "inline"}});
  const Choice choice = selector.explain(problem_of(Collective::kAllreduce, 60));
  EXPECT_EQ(choice.algorithm->name, "one_shot");
  EXPECT_EQ(choice.origin, "cost model");
  EXPECT_NE(choice.note.find("CCL_ALLREDUCE demands inline"), std::string::npos) << choice.note;
  EXPECT_NE(choice.note.find("over 56 bytes"), std::string::npos) << choice.note;
}

TEST(Selector, NamesOfOneCclAreTakenForTheirNearestHere) {
  EXPECT_EQ(
      chosen(*selector_with({{"CCL_ALLREDUCE", "nreduce"}}), problem_of(Collective::kAllreduce, 4)),
      "two_shot");
  EXPECT_EQ(chosen(*selector_with({{"CCL_BCAST", "naive"}}), problem_of(Collective::kBroadcast, 4)),
            "flat");
  EXPECT_EQ(
      chosen(*selector_with({{"CCL_ALLREDUCE", "direct"}}), problem_of(Collective::kAllreduce, 4)),
      "inline");
}

TEST(Rules, EveryAlgorithmThatOneCclHasCanBeNamed) {
  const std::map<Collective, std::vector<std::string>> theirs = {
      {Collective::kAllgather, {"direct", "naive", "ring", "flat", "multi_bcast", "topo"}},
      {Collective::kAllgatherv, {"direct", "naive", "ring", "flat", "multi_bcast", "topo"}},
      {Collective::kAllreduce,
       {"direct", "rabenseifner", "nreduce", "ring", "ring_rma", "double_tree",
        "recursive_doubling", "2d", "topo"}},
      {Collective::kAlltoall, {"direct", "naive", "scatter", "topo"}},
      {Collective::kAlltoallv, {"direct", "naive", "scatter", "topo"}},
      {Collective::kBarrier, {"direct", "ring"}},
      {Collective::kBroadcast, {"direct", "ring", "double_tree", "naive", "topo"}},
      {Collective::kReduce, {"direct", "rabenseifner", "ring", "tree", "double_tree", "topo"}},
      {Collective::kReduceScatter, {"direct", "naive", "ring", "topo"}},
  };
  for (const auto& [collective, names] : theirs) {
    for (const std::string& name : names) {
      const Result<Rules> rules = parse_rules(collective, "CCL_X", name);
      EXPECT_TRUE(rules.ok()) << rules.status().message();
    }
  }
}

TEST(Rules, EveryNameOfOneCclSaysWhatItStandsFor) {
  int names = 0;
  const auto check = [&](Collective collective, std::string_view theirs, std::string_view ours) {
    ++names;
    const Result<Rules> rules = parse_rules(collective, "CCL_X", theirs);
    ASSERT_TRUE(rules.ok()) << rules.status().message();
    ASSERT_EQ(rules->rules.size(), 1U);
    EXPECT_EQ(rules->notes.size(), 1U) << "a name of ours hides " << theirs;
    const Algorithm* algorithm = rules->rules[0].algorithm;
    EXPECT_EQ(algorithm == nullptr ? "" : algorithm->name, ours) << theirs;
  };
#define TUTTI_ONECCL_NAME(collective, theirs, ours, why) \
  check(Collective::k##collective, theirs, ours);
#include "select/names.inc"
#undef TUTTI_ONECCL_NAME
  EXPECT_GT(names, 0);
}

TEST(Selector, StrictModeReducesInRankOrderOnly) {
  const Selector strict = *selector_with({{"TUTTI_STRICT", "1"}, {"CCL_ALLREDUCE", "ring"}});
  for (const uint64_t bytes : {4UL, 4096UL, 1UL << 20, 1UL << 28}) {
    for (const Problem& problem : {problem_of(Collective::kAllreduce, bytes),
                                   without_memory(problem_of(Collective::kAllreduce, bytes))}) {
      const Choice choice = strict.explain(problem);
      EXPECT_TRUE(choice.algorithm->rank_order) << choice.algorithm->name;
      EXPECT_NE(choice.note.find("TUTTI_STRICT"), std::string::npos) << choice.note;
      EXPECT_EQ(strict.choose(problem).algorithm, choice.algorithm);
    }
  }
}

TEST(Selector, KeepsTheOrderOfTheRanksWhereItMatters) {
  const Selector selector = *selector_with({{"CCL_ALLREDUCE", "ring"}});
  for (const Problem& shared : {problem_of(Collective::kAllreduce, 1 << 20),
                                without_memory(problem_of(Collective::kAllreduce, 1 << 20))}) {
    Problem problem = shared;
    EXPECT_EQ(chosen(selector, problem), "ring");
    problem.rank_order = true;
    const Choice choice = selector.explain(problem);
    EXPECT_TRUE(choice.algorithm->rank_order) << choice.algorithm->name;
    EXPECT_NE(choice.note.find("which operation and type need"), std::string::npos) << choice.note;
  }
}

TEST(Selector, EveryRankChoosesAlike) {
  const Selector selector = *selector_with({});
  for (const uint64_t bytes : {0UL, 8UL, 60UL, 3000UL, 30'000UL, 300'000UL, 3UL << 30}) {
    Problem problem = problem_of(Collective::kAllreduce, bytes, 5);
    const Algorithm* first = selector.choose(problem).algorithm;
    for (problem.rank = 0; problem.rank < problem.ranks; ++problem.rank) {
      problem.in_place = problem.rank % 2 == 0;
      EXPECT_EQ(selector.choose(problem).algorithm, first);
      EXPECT_EQ(selector.explain(problem).algorithm, first);
    }
  }
}

TEST(Selector, ExplainsEveryCandidate) {
  const Selector selector = *selector_with({});
  const Choice choice = selector.explain(problem_of(Collective::kAllreduce, 60));
  size_t expected = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective == Collective::kAllreduce) ++expected;
  }
  EXPECT_EQ(choice.candidates.size(), expected);
  for (const Candidate& candidate : choice.candidates) {
    EXPECT_EQ(candidate.applies, candidate.why_not.empty());
    EXPECT_EQ(candidate.applies, candidate.seconds > 0);
  }
}

// Ranks do not know one another's sizes.
TEST(Selector, LooksAtNoLayout) {
  const Selector selector = *selector_with({});
  Problem problem = problem_of(Collective::kAlltoallv, 0, 3);
  const Algorithm* even = selector.choose(problem).algorithm;
  problem.layouts.send = {{1 << 20, 0, 5}, {0, 1 << 20, 1 << 20}};
  EXPECT_EQ(selector.choose(problem).algorithm, even);
}

}  // namespace
}  // namespace tutti
