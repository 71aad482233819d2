// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Going on with the ranks that are left.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// The host of each rank ("aab": the third is on another one), and who dies.
struct Loss {
  std::string hosts;
  std::vector<int> victims;
};

void PrintTo(const Loss& loss, std::ostream* out) {
  *out << loss.hosts << "_without";
  for (const int victim : loss.victims) *out << '_' << victim;
}

Ranks ranks_of(const Loss& loss) {
  Ranks ranks;
  ranks.count = static_cast<int>(loss.hosts.size());
  ranks.killed = loss.victims;
  ranks.breaks = true;
  ranks.before = [&loss](int rank) {
    setenv("TUTTI_HOST_ID", std::string(1, loss.hosts[static_cast<size_t>(rank)]).c_str(), 1);
  };
  return ranks;
}

bool is_among(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

// Calls until one fails.
void await_failure(tutti_comm_t comm) {
  float x = 1;
  while (tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK) x = 1;
}

// That the ranks of `comm` are those of the old one, in their order.
void expect_ranks(tutti_comm_t comm, int old_rank, const std::vector<int>& expected) {
  int ranks = 0;
  ASSERT_OK(tutti_comm_size(comm, &ranks));
  std::vector<int> members(static_cast<size_t>(ranks));
  ASSERT_OK(tutti_allgather(&old_rank, members.data(), 1, TUTTI_INT32, comm));
  EXPECT_EQ(members, expected);
  const size_t count = 100'001;
  std::vector<int> sum(count, old_rank);
  ASSERT_OK(tutti_allreduce(sum.data(), sum.data(), count, TUTTI_INT32, TUTTI_SUM, comm));
  int total = 0;
  for (const int member : expected) total += member;
  EXPECT_EQ(sum, std::vector<int>(count, total));
}

std::vector<int> survivors_of(const Loss& loss) {
  std::vector<int> survivors;
  for (int rank = 0; rank < static_cast<int>(loss.hosts.size()); ++rank) {
    if (!is_among(loss.victims, rank)) survivors.push_back(rank);
  }
  return survivors;
}

class Shrink : public testing::TestWithParam<Loss> {};

TEST_P(Shrink, GoesOnWithTheSurvivors) {
  const Loss& loss = GetParam();
  const Ranks ranks = ranks_of(loss);
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    meeting.wait();
    if (is_among(loss.victims, rank)) kill_myself();
    await_failure(comm);
    tutti_comm_t smaller = nullptr;
    ASSERT_OK(tutti_comm_shrink(comm, nullptr, &smaller));
    expect_ranks(smaller, rank, survivors_of(loss));
    // The old one stays as it was.
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_comm_state(comm));
    EXPECT_OK(tutti_comm_destroy(smaller));
  });
}

// The others wait for it until then.
TEST_P(Shrink, LeavesOutWhoDiesMeanwhile) {
  const Loss& loss = GetParam();
  const Ranks ranks = ranks_of(loss);
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    meeting.wait();
    if (is_among(loss.victims, rank)) {
      usleep(30'000);
      kill_myself();
    }
    tutti_comm_t smaller = nullptr;
    ASSERT_OK(tutti_comm_shrink(comm, nullptr, &smaller));
    expect_ranks(smaller, rank, survivors_of(loss));
    EXPECT_OK(tutti_comm_destroy(smaller));
    await_failure(comm);
  });
}

// Sanitizers see as much with fewer.
const auto kLosses =
    kSanitized
        ? std::vector<Loss>{{"aa", {1}}, {"aaaaa", {0, 2}}, {"abab", {1, 3}}}
        : std::vector<Loss>{{"aa", {1}},   {"aaa", {0}},     {"aaaaa", {0, 2}}, {"aabb", {3}},
                            {"aabb", {1}}, {"abab", {1, 3}}, {"abc", {2}}};

INSTANTIATE_TEST_SUITE_P(Losses, Shrink, testing::ValuesIn(kLosses),
                         testing::PrintToStringParamName());

// Before, while and after it makes the new one with the others.
class DeathInShrink : public testing::TestWithParam<const char*> {};

TEST_P(DeathInShrink, AtAnyMomentIsMadeGood) {
  const Loss loss{GetParam(), {1}};
  const Ranks ranks = ranks_of(loss);
  // Communicators over hosts take longer to make.
  const bool alone = loss.hosts == std::string(loss.hosts.size(), 'a');
  const auto moments_us = alone ? std::vector{0, 300, 1000, 1500, 2000, 3000, 5000, 10'000, 500'000}
                                : std::vector{2000, 300'000};
  for (const int after_us : moments_us) {
    const Meeting meeting(ranks.count);
    run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
      meeting.wait();
      if (rank == 1) {
        std::thread([after_us] {
          usleep(static_cast<unsigned>(after_us));
          kill_myself();
        }).detach();
      }
      std::vector<tutti_comm_t> made = {comm};
      int size = 0;
      do {
        tutti_comm_t next = nullptr;
        ASSERT_OK(tutti_comm_shrink(made.back(), nullptr, &next));
        made.push_back(next);
        ASSERT_OK(tutti_comm_size(next, &size));
        if (size == ranks.count) await_failure(next);
      } while (size == ranks.count);
      expect_ranks(made.back(), rank, survivors_of(loss));
      for (size_t i = 1; i < made.size(); ++i) (void)tutti_comm_destroy(made[i]);
      await_failure(comm);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DeathInShrink, testing::Values("aaa", "aab"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Shrunk, CommunicatorsShrinkAgain) {
  const Loss loss{"aaaa", {1, 2, 3}};
  const Meeting meetings[] = {Meeting(1), Meeting(2), Meeting(3), Meeting(4)};
  run_ranks(ranks_of(loss), [&](int rank, tutti_comm_t comm) {
    // The next one dies once the communicator of those before is there.
    std::vector<tutti_comm_t> made;
    for (int victim = 3; victim >= 1; --victim) {
      tutti_comm_t last = made.empty() ? comm : made.back();
      meetings[victim].wait();
      if (rank == victim) kill_myself();
      await_failure(last);
      made.push_back(nullptr);
      ASSERT_OK(tutti_comm_shrink(last, nullptr, &made.back()));
    }
    expect_ranks(made.back(), rank, {0});
    EXPECT_OK(tutti_comm_destroy(made.back()));
    for (size_t i = made.size() - 1; i-- > 0;) {
      EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_comm_destroy(made[i]));
    }
  });
}

// Nobody is lost by a mismatch, nor without any failure.
class ShrinkOfAll : public testing::TestWithParam<const char*> {};

TEST_P(ShrinkOfAll, KeepsAll) {
  const Loss loss{GetParam(), {}};
  Ranks ranks = ranks_of(loss);
  const std::vector<int> all = survivors_of(loss);
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    tutti_comm_t whole = nullptr;
    ASSERT_OK(tutti_comm_shrink(comm, nullptr, &whole));
    expect_ranks(whole, rank, all);
    EXPECT_OK(tutti_comm_state(comm));
    meeting.wait();
    if (rank == 0) {
      EXPECT_OK(tutti_comm_abort(comm, "enough"));
    }
    await_failure(comm);
    tutti_comm_t after = nullptr;
    ASSERT_OK(tutti_comm_shrink(comm, nullptr, &after));
    expect_ranks(after, rank, all);
    for (tutti_comm_t made : {whole, after}) EXPECT_OK(tutti_comm_destroy(made));
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShrinkOfAll, testing::Values("a", "aaa", "aab"),
                         [](const auto& info) { return std::string(info.param); });

class ShrinkWithout : public testing::TestWithParam<const char*> {};

TEST_P(ShrinkWithout, WhoHasDestroyedTheCommunicator) {
  const Loss loss{GetParam(), {}};
  const Ranks ranks = ranks_of(loss);
  const Meeting meeting(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    meeting.wait();
    if (rank == 1) return;
    tutti_comm_t smaller = nullptr;
    ASSERT_OK(tutti_comm_shrink(comm, nullptr, &smaller));
    expect_ranks(smaller, rank, {0, 2});
    EXPECT_OK(tutti_comm_destroy(smaller));
  });
}

TEST_P(ShrinkWithout, WhoDoesNotAskEndsAtTheDeadline) {
  const Loss loss{GetParam(), {}};
  const Ranks ranks = ranks_of(loss);
  Shared<std::atomic<int>> ended;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    if (rank == 1) {
      while (ended->load() < 2) usleep(1000);
      return;
    }
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    config.init_timeout_ms = 300;
    tutti_comm_t smaller = nullptr;
    for (int again = 0; again < 2; ++again) {
      EXPECT_STATUS(TUTTI_ERR_TIMEOUT, tutti_comm_shrink(comm, &config, &smaller));
      EXPECT_ERROR_SAYS("neither went on nor ended, rank 1 first");
    }
    EXPECT_EQ(smaller, nullptr);
    ended->fetch_add(1);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShrinkWithout, testing::Values("aaa", "aab"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ShrinkOverHosts, NeedsTheProcessThatKeepsTheRanksInTouch) {
  const Loss loss{"aab", {0}};
  const Meeting meeting(3);
  run_ranks(ranks_of(loss), [&](int rank, tutti_comm_t comm) {
    meeting.wait();
    if (rank == 0) kill_myself();
    await_failure(comm);
    tutti_comm_t smaller = nullptr;
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED, tutti_comm_shrink(comm, nullptr, &smaller));
    EXPECT_ERROR_SAYS("rank 0 (pid");
    EXPECT_ERROR_SAYS("kept the ranks in touch");
  });
}

TEST(ShrinkUsage, IsChecked) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    tutti_comm_t result = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_shrink(nullptr, nullptr, &result));
    EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_shrink(comm, nullptr, nullptr));
    EXPECT_OK(tutti_group_start());
    EXPECT_STATUS(TUTTI_ERR_INVALID_USAGE, tutti_comm_shrink(comm, nullptr, &result));
    EXPECT_OK(tutti_group_end());
  });
}

}  // namespace
}  // namespace tutti_test
