// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "simulate/jobs.hpp"

namespace tutti_test {
namespace {

// Every algorithm that applies to these ranks.
std::vector<Question> all_on(int ranks, int hosts, uint64_t bytes) {
  std::vector<Question> questions;
  for (int i = 0; i < tutti::kCollectives; ++i) {
    Question asked = question(static_cast<Collective>(i), ranks, hosts, bytes);
    asked.root = ranks / 2;
    const auto names = applicable(asked);
    EXPECT_TRUE(names.ok());
    for (const tutti::Algorithm* algorithm : *names) {
      asked.algorithm = algorithm->name;
      questions.push_back(asked);
    }
  }
  return questions;
}

TEST(Simulate, EveryAlgorithmEndsAndWhatIsSentIsReceived) {
  for (const auto& [ranks, hosts] : {std::pair(1, 1), {6, 1}, {6, 6}, {12, 3}, {11, 4}}) {
    for (const uint64_t bytes : {uint64_t{16}, uint64_t{300000}}) {
      for (const Question& asked : all_on(ranks, hosts, bytes)) {
        const Simulated simulated = simulate(asked, {.calls = 2});
        ASSERT_TRUE(simulated.status.ok())
            << collective_name(asked.collective) << " " << asked.algorithm << " of " << bytes
            << " bytes on " << ranks << " ranks of " << hosts
            << " hosts: " << simulated.status.message();
        EXPECT_EQ(simulated.outcome.bytes_sent, simulated.outcome.bytes_received);
      }
    }
  }
}

TEST(Simulate, EveryCompositionOfCompositionsEndsAndWhatIsSentIsReceived) {
  for (const std::vector<int>& groups : {std::vector{0, 0, 1, 1}, {0, 1, 1, 1}, {0, 1, 0, 1}}) {
    for (const uint64_t bytes : {uint64_t{16}, uint64_t{300000}}) {
      for (Question& asked : all_on(11, 4, bytes)) {
        if (asked.algorithm != "hierarchical") continue;
        asked.groups = groups;
        const Simulated simulated = simulate(asked, {.calls = 2});
        ASSERT_TRUE(simulated.status.ok()) << collective_name(asked.collective) << " of " << bytes
                                           << " bytes: " << simulated.status.message();
        EXPECT_TRUE(simulated.job->grouped());
        EXPECT_EQ(simulated.outcome.bytes_sent, simulated.outcome.bytes_received);
      }
    }
  }
}

TEST(Simulate, ARuleOfTheEnvironmentHoldsInColumnsWhoseHostsAreInGroupsAsInJobs) {
  Question named = question(Collective::kAllreduce, 24, 8, 64 << 10, "hierarchical");
  named.groups = {0, 0, 1, 1, 2, 2, 3, 3};
  Question ruled = named;
  ruled.algorithm.clear();
  ruled.environment.allreduce = "hierarchical";
  const Simulated by_name = simulate(named);
  const Simulated by_rule = simulate(ruled);
  ASSERT_TRUE(by_name.status.ok()) << by_name.status.message();
  ASSERT_TRUE(by_rule.status.ok()) << by_rule.status.message();
  EXPECT_EQ(by_rule.outcome.messages, by_name.outcome.messages);
}

uint64_t bytes_above_leaves(const Question& asked) {
  const Simulated simulated = simulate(asked, {}, "fat-tree:8");
  EXPECT_TRUE(simulated.status.ok()) << simulated.status.message();
  for (const LinkKind& kind : kinds_of(*simulated.network, simulated.outcome, 1)) {
    if (kind.name == "leaf up") return kind.bytes;
  }
  return 0;
}

TEST(Simulate, HostsInGroupsSendLessBetweenGroups) {
  // 4 hosts on each of 4 leaves, 2 ranks on each host: of n bytes, 2n (4-1)/4 leave each leaf.
  constexpr uint64_t kBytes = 4 << 20;
  Question asked = question(Collective::kAllreduce, 32, 16, kBytes, "hierarchical");
  const uint64_t by_hosts = bytes_above_leaves(asked);
  for (int host = 0; host < 16; ++host) asked.groups.push_back(host / 4);
  const uint64_t by_groups = bytes_above_leaves(asked);
  EXPECT_EQ(by_groups, 4 * 2 * kBytes * 3 / 4);
  EXPECT_GT(by_hosts, by_groups);
}

TEST(Simulate, WhatLeavesAHostEntersOthersOverEveryTopology) {
  for (const std::string topology : {"single-switch", "fat-tree:4", "dragonfly:1"}) {
    const Simulated simulated =
        simulate(question(Collective::kAllreduce, 12, 6, 1 << 20), {}, topology);
    ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
    uint64_t up = 0;
    uint64_t down = 0;
    for (const LinkKind& kind : kinds_of(*simulated.network, simulated.outcome, 1)) {
      if (kind.name == "host up") up = kind.bytes;
      if (kind.name == "host down") down = kind.bytes;
    }
    EXPECT_EQ(up, simulated.outcome.bytes_between_hosts) << topology;
    EXPECT_EQ(down, up) << topology;
    EXPECT_GT(up, 0u) << topology;
  }
}

TEST(Simulate, ShortBlocksOfAnAllgatherGoAlongColumnsInFewRounds) {
  // 8 hosts of 4 ranks: three rounds in each column, not a message to each of seven others.
  const auto messages = [](int hosts, uint64_t bytes) {
    const Simulated simulated =
        simulate(question(Collective::kAllgather, 4 * hosts, hosts, bytes, "hierarchical"));
    EXPECT_TRUE(simulated.status.ok()) << simulated.status.message();
    return kinds_of(*simulated.network, simulated.outcome, 1).front().name == "host up"
               ? simulated.outcome.messages
               : 0;
  };
  EXPECT_EQ(messages(8, 8), 8u * 4 * 3);
  EXPECT_EQ(messages(8, 2048), 8u * 4 * 3);
  EXPECT_EQ(messages(8, 2052), 8u * 4 * 7) << "copying longer ones once more would take longer";
  EXPECT_EQ(messages(4, 8), 4u * 4 * 3) << "messages to three others leave at once";
}

TEST(Simulate, AStragglerDelaysExactlyThoseThatDependOnIt) {
  // A broadcast goes down a binomial tree: rank 4 of 8 gives to 5, 6 and, by way of 6, to 7.
  const Question asked = question(Collective::kBroadcast, 8, 8, 1024, "tree");
  const Outcome usual = outcome_of(asked);
  const Outcome slow = outcome_of(asked, {.stragglers = {{4, 50}}});
  for (size_t rank = 0; rank < 8; ++rank) {
    if (rank < 4) {
      EXPECT_EQ(slow.ranks[rank].end_s, usual.ranks[rank].end_s) << rank;
    } else {
      EXPECT_GT(slow.ranks[rank].end_s, usual.ranks[rank].end_s) << rank;
    }
  }
  EXPECT_EQ(slow.ranks[5].waited_for, 4);
  EXPECT_EQ(slow.ranks[5].cause.rank, 4);
  EXPECT_EQ(slow.ranks[7].waited_for, 6);
  EXPECT_EQ(slow.ranks[7].cause.rank, 4) << "for which rank 6 waited itself";
  EXPECT_GT(slow.ranks[7].cause.seconds, 10 * usual.ranks[7].cause.seconds);
}

TEST(Simulate, ALateRankIsTheCauseOfWaitsWithinItsHostToo) {
  Question asked = question(Collective::kAllreduce, 16, 4, 64, "hierarchical");
  asked.machine = tutti::Machine();
  const Outcome slow = outcome_of(asked, {.stragglers = {{9, 1e6}}});
  for (size_t rank = 0; rank < 16; ++rank) {
    if (rank == 9) continue;
    EXPECT_EQ(slow.ranks[rank].cause.rank, 9) << rank;
  }
}

TEST(Simulate, AStragglerDelaysAllRanksOfAnAllreduce) {
  Question asked = question(Collective::kAllreduce, 16, 4, 4096);
  asked.machine = tutti::Machine();  // on which each step takes time
  const Outcome usual = outcome_of(asked);
  const Outcome slow = outcome_of(asked, {.stragglers = {{9, 1000}}});
  for (size_t rank = 0; rank < 16; ++rank) {
    EXPECT_GT(slow.ranks[rank].end_s, usual.ranks[rank].end_s) << rank;
  }
}

TEST(Simulate, AFailedLinkIsRoutedAround) {
  const Question asked = question(Collective::kAlltoall, 16, 16, 4096, "pairwise");
  const Simulated simulated = simulate(asked, {}, "fat-tree:8", {"leaf0-spine1"});
  ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
  const std::vector<Link>& links = simulated.network->links();
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].failed) {
      EXPECT_EQ(simulated.outcome.links[i].messages, 0u);
    }
  }
  EXPECT_EQ(simulated.network->failed(), std::vector<std::string>{"leaf0-spine1"});
}

TEST(Simulate, AHostWithoutAWayIsReported) {
  const Simulated simulated =
      simulate(question(Collective::kAllreduce, 4, 4, 64), {}, "single-switch", {"host2-switch"});
  EXPECT_NE(simulated.status.message().find("there is no way"), std::string::npos)
      << simulated.status.message();
  EXPECT_NE(simulated.status.message().find("host2-switch"), std::string::npos);
}

TEST(Simulate, TenThousandRanksFinish) {
  for (const auto& [collective, algorithm] :
       {std::pair(Collective::kAllreduce, "recursive_doubling"),
        {Collective::kAllreduce, "tree"},
        {Collective::kBarrier, "dissemination"},
        {Collective::kAllreduce, "hierarchical"}}) {
    const Simulated simulated =
        simulate(question(collective, 10000, 1250, 64, algorithm), {}, "fat-tree");
    ASSERT_TRUE(simulated.status.ok()) << simulated.status.message();
    EXPECT_GT(simulated.outcome.seconds, kAlpha);
    EXPECT_EQ(simulated.outcome.bytes_sent, simulated.outcome.bytes_received);
  }
}

TEST(Simulate, RanksThatDoTheSameShareOneProgram) {
  const Simulated simulated = simulate(question(Collective::kAllgather, 64, 64, 256, "ring"));
  ASSERT_TRUE(simulated.status.ok());
  EXPECT_EQ(simulated.job->programs.count(), 1u);
}

TEST(Simulate, TooManyStepsAreRefusedWithTheirNumber) {
  const Simulated simulated =
      simulate(question(Collective::kAlltoall, 100000, 100000, 8, "pairwise"));
  EXPECT_NE(simulated.status.message().find("alltoall pairwise has"), std::string::npos)
      << simulated.status.message();
  EXPECT_NE(simulated.status.message().find("--most-steps"), std::string::npos);
}

TEST(Simulate, TheStepsOfAllCallsCount) {
  Question asked = question(Collective::kAllreduce, 8, 8, 64, "recursive_doubling");
  EXPECT_TRUE(make_job(asked).ok());
  asked.calls = 1 << 30;
  const auto job = make_job(asked);
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.status().message().find("in 1073741824 calls"), std::string::npos)
      << job.status().message();
}

TEST(Simulate, TooManyStepsOfALongBlockAreRefusedBeforeTheyAreMade) {
  const auto job = make_job(question(Collective::kAllreduce, 64, 64, uint64_t{1} << 40, "ring"));
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.status().message().find("--most-steps"), std::string::npos)
      << job.status().message();
}

}  // namespace
}  // namespace tutti_test
