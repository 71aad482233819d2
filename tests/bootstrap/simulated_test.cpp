// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Meetings of many ranks on many hosts, simulated. TUTTI_TEST_RANKS=10000 has so many, on a
// hundredth as many hosts, and takes minutes.
#include "bootstrap/simulated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "bootstrap/scripted.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

using tutti_test::scripted_id;
using tutti_test::simulated_ms;
using tutti_test::simulated_ns;
using tutti_test::SimulatedHost;
using tutti_test::SimulatedRank;
using tutti_test::SimulatedService;
using tutti_test::Simulation;

constexpr int64_t kSecond = 1'000'000'000;

int ranks_wanted() {
  const char* given = std::getenv("TUTTI_TEST_RANKS");
  return given != nullptr ? std::atoi(given) : 120;
}

// Mostly alike, as what ranks say of themselves is: of 58 bytes, an address and a key differ.
std::vector<std::byte> contribution_of_round(int rank, int round) {
  std::vector<std::byte> contribution(58, static_cast<std::byte>(round));
  for (size_t i = 0; i < 12; ++i) {
    contribution[20 + i] =
        static_cast<std::byte>(static_cast<uint32_t>(rank + 1) * 2654435761u >> (i % 4 * 8));
  }
  return contribution;
}

// What a meeting of ranks on hosts takes, the service on the first.
class Job {
 public:
  Job(int ranks, int hosts, bool relays) : hosts_(static_cast<size_t>(hosts)) {
    log::set_level(LogLevel::kError);
    service_ = std::make_unique<SimulatedService>(
        simulation_, hosts_[0], std::make_unique<Meeting>(scripted_id(), 0, kNever, &simulated_ms));
    const int each = (ranks + hosts - 1) / hosts;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto host = static_cast<size_t>(rank / each);
      ranks_.push_back(std::make_unique<SimulatedRank>(simulation_, hosts_[host], scripted_id(),
                                                       rank, ranks, kRounds, contribution_));
      const bool by_relay = relays && host > 0;
      if (by_relay && rank % each == 0) start_relay(hosts_[host], ranks_.back()->pid());
      ranks_.back()->keeps_outcome = rank % 7 == 0;
      ranks_.back()->join(by_relay ? *relays_.back() : *service_);
    }
  }

  void start_relay(SimulatedHost& host, int pid) {
    auto state = std::make_unique<Relay>(scripted_id(), &simulated_ms);
    Link* const meeting = state->meeting();
    relays_.push_back(std::make_unique<SimulatedService>(simulation_, host, std::move(state)));
    relays_.back()->process = pid;
    relays_.back()->attach(*meeting, *simulation_.connect(*relays_.back(), *service_));
    simulation_.wake(*relays_.back(), 0);
  }

  void run(int64_t for_ns) { simulation_.run(simulated_ns + for_ns); }

  void print(const char* how) const {
    int64_t last_ns = 0;
    uint64_t relayed = 0;
    double relay_s = 0;
    for (const auto& rank : ranks_) last_ns = std::max(last_ns, rank->stayed_at_ns());
    for (const auto& relay : relays_) {
      relayed = std::max(relayed, relay->sent_bytes());
      relay_s = std::max(relay_s, relay->processor_s());
    }
    fmt::print(
        "{} ranks on {} hosts {}: met within {:.3f} s, of which the service took {:.3f} s "
        "of processor; {} connections, {:.1f} MB sent; at most at a relay {:.3f} s, {:.1f} "
        "MB\n",
        ranks_.size(), hosts_.size(), how, static_cast<double>(last_ns) * 1e-9,
        service_->processor_s(), service_->most_connections(),
        static_cast<double>(service_->sent_bytes()) * 1e-6, relay_s,
        static_cast<double>(relayed) * 1e-6);
  }

  void expect_met() const {
    Contributions expected;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      expected.push_back(contribution_of_round(static_cast<int>(rank), kRounds - 1));
    }
    for (const auto& rank : ranks_) {
      ASSERT_TRUE(rank->stayed()) << rank->told().message();
      if (rank->keeps_outcome) {
        EXPECT_TRUE(rank->outcome() == expected);
      }
    }
  }

  static constexpr int kRounds = 17;
  const SimulatedRank::Contribution contribution_ = contribution_of_round;
  Simulation simulation_;
  std::vector<SimulatedHost> hosts_;
  std::unique_ptr<SimulatedService> service_;
  std::vector<std::unique_ptr<SimulatedService>> relays_;
  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
};

// The bytes of all outcomes, as one connection carries them.
uint64_t outcome_bytes(int ranks) {
  uint64_t bytes = 0;
  for (int round = 0; round < Job::kRounds; ++round) {
    Contributions contributions;
    for (int rank = 0; rank < ranks; ++rank)
      contributions.push_back(contribution_of_round(rank, round));
    for (const auto& body : pack_contributions(contributions)) bytes += body.size();
  }
  return bytes;
}

int hosts_wanted() { return std::max(ranks_wanted() / 100, 6); }

TEST(SimulatedMeeting, TakesAConnectionForEachHostAndSendsOutcomesToEachOnce) {
  const int ranks = ranks_wanted();
  const int hosts = hosts_wanted();
  Job job(ranks, hosts, true);
  job.run(1000 * kSecond);
  job.expect_met();
  job.print("with a relay on each");
  const auto lines = static_cast<size_t>(hosts - 1 + (ranks + hosts - 1) / hosts);
  EXPECT_LE(job.service_->most_connections(), lines);
  constexpr size_t kLittle = 300;  // for each rank: its proof, or how it is addressed
  EXPECT_LT(job.service_->sent_bytes(),
            lines * outcome_bytes(ranks) + kLittle * static_cast<size_t>(ranks));
}

TEST(SimulatedMeeting, TakesAConnectionForEachRankWhereNoneHasARelay) {
  const int ranks = ranks_wanted();
  Job job(ranks, hosts_wanted(), false);
  job.run(1000 * kSecond);
  job.expect_met();
  job.print("without relays");
  EXPECT_EQ(job.service_->most_connections(), static_cast<size_t>(ranks));
}

// The relay of the fourth host is in the process of its first rank.
TEST(SimulatedMeeting, EndsForAllWhenTheProcessOfARelayDies) {
  constexpr int kRanks = 60;
  constexpr int kFirst = 30;
  Job job(kRanks, 6, true);
  while (job.ranks_[kFirst]->rounds_done() < 3) job.run(kSecond / 100'000);
  job.relays_[2]->die();
  job.ranks_[kFirst]->die();
  job.run(10 * kSecond);
  for (int rank = 0; rank < kRanks; ++rank) {
    const SimulatedRank& one = *job.ranks_[static_cast<size_t>(rank)];
    if (rank == kFirst) continue;
    EXPECT_FALSE(one.stayed());
    EXPECT_TRUE(one.hung_up_on());
    if (rank / 10 == kFirst / 10) continue;
    EXPECT_TRUE(one.told().message().starts_with(fmt::format("rank {} (pid ", kFirst)))
        << one.told().message();
  }
  EXPECT_TRUE(job.service_->finished());
}

TEST(SimulatedMeeting, EndsForAllWhenTheServiceDies) {
  Job job(60, 6, true);
  while (job.ranks_[30]->rounds_done() < 3) job.run(kSecond / 100'000);
  job.service_->die();
  job.run(10 * kSecond);
  for (const auto& rank : job.ranks_) EXPECT_TRUE(rank->hung_up_on());
  for (const auto& relay : job.relays_) EXPECT_TRUE(relay->finished());
}

TEST(SimulatedMeeting, EndsWhenAllHaveLeft) {
  Job job(60, 6, true);
  job.run(10 * kSecond);
  job.expect_met();
  for (const auto& rank : job.ranks_) rank->leave();
  job.run(10 * kSecond);
  for (const auto& rank : job.ranks_) EXPECT_TRUE(rank->hung_up_on());
  EXPECT_TRUE(job.service_->finished());
  for (const auto& relay : job.relays_) EXPECT_TRUE(relay->finished());
}

}  // namespace
}  // namespace tutti::bootstrap
