// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rounds of those who are left: ranks are threads, and die by being called gone.
#include "comm/regroup.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "core/wait.hpp"

namespace tutti {
namespace {

constexpr int64_t kLongMs = 240'000;

class Board {
 public:
  explicit Board(size_t ranks) : signs_(ranks), gone_(ranks) {}
  [[nodiscard]] int ranks() const { return static_cast<int>(signs_.size()); }
  std::unique_ptr<Regroup> regroup(int rank) {
    return regroup_in_memory(rank, {&decision_, signs_}, [this](int other) {
      return gone_[static_cast<size_t>(other)].load();
    });
  }
  void die(int rank) { gone_[static_cast<size_t>(rank)] = true; }
  void come_to(uint32_t round, int rank) { signs_[static_cast<size_t>(rank)].round = round; }
  // As a rank does that is about to decide.
  void begin_to_decide(uint32_t round, int rank) {
    decision_.coordinator = uint64_t{round} << 32 | static_cast<uint64_t>(rank + 1);
  }

 private:
  RegroupDecision decision_{};
  std::vector<RegroupSign> signs_;
  std::vector<std::atomic<bool>> gone_;
};

void in_threads(const std::vector<int>& ranks, const std::function<void(int rank)>& body) {
  std::vector<std::thread> threads;
  for (const int rank : ranks) threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

// The line of a rank whose rounds are never over: each withdrawal is answered once.
class SlowLine final : public Control {
 public:
  ~SlowLine() override {
    for (std::thread& thread : answers_) thread.join();
  }
  [[nodiscard]] int fd() const override { return -1; }
  std::vector<ControlNews> read() override { return {}; }
  void look() override {}
  void tell(int /*rank*/, std::span<const std::byte> /*note*/) override {}
  void send_page(int /*rank*/, std::span<const std::byte> /*page*/) override {}
  Status regroup(std::span<const std::byte> /*contribution*/) override { return {}; }
  void withdraw() override {
    const ControlNews news{.kind = ControlNews::Kind::kWithdrawn, .rank = missing, .count = 1};
    answers_.emplace_back([this, news] { listener->heard(news); });
  }
  [[nodiscard]] bool is_open() override { return true; }
  void fail(const Status& /*cause*/) override {}
  void leave() override {}

  ControlRegroup* listener = nullptr;
  int missing = 0;

 private:
  std::vector<std::thread> answers_;
};

// What a rank gives to a round.
std::vector<std::byte> contribution_of(int rank, int round) {
  return std::vector<std::byte>(static_cast<size_t>(rank + round), static_cast<std::byte>(rank));
}

void expect_contributions(const Result<Regroup::Contributions>& contributions,
                          const std::vector<int>& ranks, int round) {
  ASSERT_TRUE(contributions.ok()) << contributions.status().message();
  Regroup::Contributions expected;
  for (const int rank : ranks) expected[rank] = contribution_of(rank, round);
  EXPECT_EQ(*contributions, expected);
}

TEST(Regroup, RoundsGiveEveryonesPartToAll) {
  for (const int ranks : {1, 2, 5}) {
    Board board(static_cast<size_t>(ranks));
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    in_threads(all, [&](int rank) {
      const auto regroup = board.regroup(rank);
      for (int round = 0; round < 20; ++round) {
        expect_contributions(regroup->round(contribution_of(rank, round), kNever), all, round);
      }
    });
  }
}

TEST(Regroup, TheDeadAreLeftOut) {
  Board board(4);
  board.die(0);
  in_threads({1, 2, 3}, [&](int rank) {
    const auto regroup = board.regroup(rank);
    expect_contributions(regroup->round(contribution_of(rank, 1), kNever), {1, 2, 3}, 1);
    if (rank == 2) return board.die(2);
    expect_contributions(regroup->round(contribution_of(rank, 2), kNever), {1, 3}, 2);
  });
}

TEST(Regroup, WhoGivesUpIsNotWaitedFor) {
  Board board(3);
  in_threads({0, 1, 2}, [&](int rank) {
    const auto regroup = board.regroup(rank);
    if (rank == 1) return regroup->give_up();
    expect_contributions(regroup->round(contribution_of(rank, 1), kNever), {0, 2}, 1);
  });
}

TEST(Regroup, ADeathWhileDecidingIsMadeGood) {
  Board board(3);
  board.begin_to_decide(1, 2);
  std::atomic<int> waiting{0};
  in_threads({0, 1, 2}, [&](int rank) {
    if (rank == 2) {  // has come to the round, and dies a while after the others have
      auto contributions = board.regroup(2)->round(contribution_of(2, 1), now_ms());
      EXPECT_EQ(contributions.status().code(), Code::kTimeout);
      while (waiting < 2) std::this_thread::yield();
      return board.die(2);
    }
    ++waiting;
    expect_contributions(board.regroup(rank)->round(contribution_of(rank, 1), kNever), {0, 1}, 1);
  });
}

TEST(Regroup, TheDeadlineNamesWhoIsMissing) {
  Board board(4);
  board.die(3);
  const auto contributions = board.regroup(0)->round({}, now_ms() + 20);
  EXPECT_EQ(contributions.status().code(), Code::kTimeout);
  EXPECT_EQ(contributions.status().message(),
            "2 of 4 ranks neither went on nor ended, rank 1 first");
}

TEST(Regroup, TheDeadlineNamesWhoShouldHaveDecided) {
  Board board(2);
  board.begin_to_decide(1, 1);
  in_threads({0, 1}, [&](int rank) {
    if (rank == 1) return board.come_to(1, 1);
    const auto contributions = board.regroup(0)->round({}, now_ms() + 200);
    EXPECT_EQ(contributions.status().code(), Code::kTimeout);
    EXPECT_NE(contributions.status().message().find("it was up to rank 1 of 2"), std::string::npos)
        << contributions.status().message();
  });
}

TEST(Regroup, TooManyBytesAreAnError) {
  Board board(1);
  const std::vector<std::byte> many(RegroupSign::kMostContributionBytes + 1);
  EXPECT_EQ(board.regroup(0)->round(many, kNever).status().code(), Code::kInternal);
}

TEST(Survivors, MeetWhereTheFirstOfThemSays) {
  Board board(4);
  board.die(0);
  std::array<tutti_unique_id, 4> ids{};
  in_threads({1, 2, 3}, [&](int rank) {
    const auto regroup = board.regroup(rank);
    const auto survivors = agree_on_survivors(*regroup, rank, now_ms() + kLongMs);
    ASSERT_TRUE(survivors.ok()) << survivors.status().message();
    EXPECT_EQ(survivors->ranks, (std::vector<int>{1, 2, 3}));
    ids[static_cast<size_t>(rank)] = encode(survivors->id);
  });
  for (const int rank : {2, 3}) {
    EXPECT_EQ(std::memcmp(&ids[1], &ids[static_cast<size_t>(rank)], sizeof ids[1]), 0);
  }
}

TEST(ControlRegroup, EachDeadlineNamesWhoIsMissingThen) {
  SlowLine line;
  ControlRegroup regroup(line);
  line.listener = &regroup;
  for (const int missing : {3, 2}) {
    line.missing = missing;
    const auto contributions = regroup.round({}, now_ms());
    ASSERT_EQ(contributions.status().code(), Code::kTimeout);
    EXPECT_TRUE(
        contributions.status().message().ends_with("rank " + std::to_string(missing) + " first"))
        << contributions.status().message();
  }
}

}  // namespace
}  // namespace tutti
