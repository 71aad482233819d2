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

}  // namespace
}  // namespace tutti_test
