// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that tell one another of their calls.
#include "exec/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/fields.hpp"

namespace tutti {
namespace {

constexpr uint32_t kSame = 7;

// Ranks whose messages are on their way until deliver().
struct Telling {
  explicit Telling(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto tell = [this, rank](int to, const JournalMessage& message) {
        ASSERT_NE(to, rank);
        on_the_way_.push_back({rank, to, message});
      };
      journals_.push_back(std::make_unique<Journal>(
          rank, ranks, tell, [](int peer) { return "rank " + std::to_string(peer); }));
    }
  }
  static Status enter(Journal& journal, uint64_t sequence, uint64_t count,
                      uint32_t signature = kSame) {
    CallRecord record{};
    record.sequence = sequence;
    record.count = count;
    record.root = -1;
    record.collective = static_cast<uint8_t>(Collective::kAllgather);
    uint32_t chain = 0;
    return journal.enter(record, signature, chain);
  }
  // Until nothing is on its way any more; the first error that somebody finds.
  Status deliver() {
    Status found;
    for (; !on_the_way_.empty(); on_the_way_.pop_front(), ++told_) {
      const Message& message = on_the_way_.front();
      Status status = journals_[static_cast<size_t>(message.to)]->heard(message.from,
                                                                        bytes_of(message.message));
      if (found.ok()) found = std::move(status);
    }
    return found;
  }
  Journal& zero() { return *journals_[0]; }
  Journal& one() { return *journals_[1]; }

  struct Message {
    int from;
    int to;
    JournalMessage message;
  };
  std::vector<std::unique_ptr<Journal>> journals_;
  std::deque<Message> on_the_way_;
  int told_ = 0;
};

class Journals : public Telling, public testing::Test {
 protected:
  explicit Journals(int ranks = 2) : Telling(ranks) {}
};

TEST_F(Journals, EqualCallsAreNoNews) {
  for (uint64_t call = 1; call <= 1000; ++call) {
    EXPECT_TRUE(enter(zero(), call, 5).ok());
    EXPECT_TRUE(enter(one(), call, 5).ok());
    zero().wait_for(1, call);
    zero().wait_for(1, call);
    const Status status = deliver();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(told_, 1000) << "told once, and who is in the call need not answer";
}

TEST_F(Journals, WhoIsToldOfAnotherCallNamesBoth) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  ASSERT_TRUE(enter(one(), 1, 6, 2).ok());
  zero().wait_for(1, 1);
  const Status status = deliver();
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_EQ(
      status.message(),
      "ranks made different calls: rank 1 allgather #1 (6 int8), rank 0 allgather #1 (5 int8)");
}

TEST_F(Journals, WhoComesLaterToAnotherCallFindsOut) {
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  ASSERT_TRUE(enter(one(), 1, 5).ok());
  ASSERT_TRUE(enter(zero(), 2, 5, 1).ok());
  zero().wait_for(1, 2);
  EXPECT_TRUE(deliver().ok());
  EXPECT_EQ(enter(one(), 2, 6, 2).code(), Code::kMismatch);
}

// Wherever it was, and whoever looks for it.
TEST_F(Journals, TheFirstCallThatDifferedIsNamed) {
  for (const bool by_message : {false, true}) {
    for (uint64_t different = 1; different <= 200; ++different) {
      Telling ranks(2);
      for (uint64_t call = 1; call <= 200; ++call) {
        ASSERT_TRUE(enter(ranks.zero(), call, 5).ok());
        const bool differs = call == different;
        ASSERT_TRUE(enter(ranks.one(), call, differs ? 6 : 5, differs ? 8 : kSame).ok());
      }
      if (by_message) {
        ranks.one().compare_with(0, 200);
      } else {
        ranks.zero().wait_for(1, 200);
      }
      const std::string text(ranks.deliver().message());
      for (const char* count : {"(5 int8)", "(6 int8)"}) {
        const std::string part = "allgather #" + std::to_string(different) + " " + count;
        EXPECT_NE(text.find(part), std::string::npos) << different << ": " << text;
      }
      EXPECT_LE(ranks.told_, 10);
    }
  }
}

// A message of a call that the other has yet to come to: what it answers is compared.
TEST_F(Journals, WhoIsBehindIsComparedWhereItIs) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  ASSERT_TRUE(enter(zero(), 2, 5).ok());
  ASSERT_TRUE(enter(one(), 1, 6, 2).ok());
  zero().compare_with(1, 2);
  const Status status = deliver();
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_NE(status.message().find("#1 (6 int8)"), std::string::npos) << status.message();
}

TEST_F(Journals, CallsTooLongAgoAreNotCompared) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  for (uint64_t call = 1; call <= 300; ++call) ASSERT_TRUE(enter(one(), call, 6, 2).ok());
  zero().wait_for(1, 1);
  EXPECT_TRUE(deliver().ok());
  one().wait_for(0, 1);
  EXPECT_TRUE(on_the_way_.empty()) << "nor told of";
}

TEST_F(Journals, ADifferenceTooLongAgoIsOneEvenSo) {
  for (uint64_t call = 1; call <= 1000; ++call) {
    ASSERT_TRUE(enter(zero(), call, 5, call == 1 ? 1 : kSame).ok());
    ASSERT_TRUE(enter(one(), call, 5, call == 1 ? 2 : kSame).ok());
  }
  zero().wait_for(1, 1000);
  const Status status = deliver();
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_NE(status.message().find("too long ago to tell which"), std::string::npos)
      << status.message();
}

class JournalsOfThree : public Journals {
 protected:
  JournalsOfThree() : Journals(3) {}
};

TEST_F(JournalsOfThree, AnswerWithTheirLastCalls) {
  for (const auto& journal : journals_) ASSERT_TRUE(enter(*journal, 1, 5).ok());
  ASSERT_TRUE(enter(zero(), 2, 5).ok());
  ASSERT_TRUE(enter(one(), 2, 5).ok());
  zero().ask_all();
  EXPECT_EQ(zero().answers(2).missing, (std::vector<int>{1, 2}));
  EXPECT_TRUE(deliver().ok());
  const Journal::Answers answers = zero().answers(2);
  EXPECT_TRUE(answers.missing.empty());
  ASSERT_EQ(answers.late.size(), 1u);
  EXPECT_EQ(answers.late[0].first, 2);
  EXPECT_EQ(describe(answers.late[0].second), "allgather #1 (5 int8)");
  zero().ask_all();
  EXPECT_EQ(zero().answers(2).missing.size(), 2u) << "earlier answers count no more";
}

TEST_F(JournalsOfThree, KnowWhoHasAskedLatelyInWhichCall) {
  const int64_t begin_ms = host_ms();
  for (const auto& journal : journals_) ASSERT_TRUE(enter(*journal, 1, 5).ok());
  zero().ask_all();
  EXPECT_TRUE(one().askers(1, begin_ms).empty());
  EXPECT_TRUE(deliver().ok());
  EXPECT_EQ(one().askers(1, begin_ms), std::vector<int>{0});
  EXPECT_TRUE(zero().askers(1, begin_ms).empty());
  EXPECT_TRUE(one().askers(2, begin_ms).empty()) << "not in that call";
  EXPECT_TRUE(one().askers(1, host_ms() + 1000).empty()) << "not since then";
}

TEST_F(Journals, LastWordsTellWhetherAllCallsMatched) {
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  EXPECT_TRUE(one().compare_last_words(0, bytes_of(zero().last_words())).ok())
      << "which may be to come";
  Status fewer = one().check_last_words(0, bytes_of(zero().last_words()));
  EXPECT_EQ(fewer.message(),
            "ranks made different calls: rank 1 has destroyed its communicator after no call, rank "
            "0 has made allgather #1 (5 int8)");
  ASSERT_TRUE(enter(one(), 1, 5).ok());
  EXPECT_TRUE(one().check_last_words(0, bytes_of(zero().last_words())).ok());
  ASSERT_TRUE(enter(one(), 2, 5).ok());
  Status status = one().check_last_words(0, bytes_of(zero().last_words()));
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_EQ(status.message(),
            "ranks made different calls: rank 0 has destroyed its communicator after allgather #1 "
            "(5 int8), rank 1 has made allgather #2 (5 int8)");
  ASSERT_TRUE(enter(zero(), 2, 6, 8).ok());
  status = one().check_last_words(0, bytes_of(zero().last_words()));
  EXPECT_EQ(
      status.message(),
      "ranks made different calls: rank 1 allgather #2 (5 int8), rank 0 allgather #2 (6 int8)");
}

TEST_F(Journals, WhoLeavesHearsWhetherAPeerHasMadeItsLastCallAtOnceAndWhenItDoes) {
  const auto all = [](int) { return true; };
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  zero().leave(all);
  EXPECT_FALSE(zero().answer_of(1));
  ASSERT_TRUE(deliver().ok());
  EXPECT_EQ(zero().answer_of(1), 0U);
  ASSERT_TRUE(enter(one(), 1, 5).ok());
  ASSERT_TRUE(deliver().ok());
  EXPECT_EQ(zero().answer_of(1), 1U);
  zero().leave(all);
  ASSERT_TRUE(deliver().ok());
  EXPECT_EQ(zero().answer_of(1), 1U);
}

TEST_F(Journals, WhoHasMadeAnotherCallThanARankThatLeavesFindsOutInNoCall) {
  const auto all = [](int) { return true; };
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  ASSERT_TRUE(enter(one(), 1, 6, 8).ok());
  zero().leave(all);
  EXPECT_EQ(deliver().code(), Code::kMismatch);
}

TEST_F(Journals, WhoMakesAnotherCallThanARankThatHasLeftFindsOutInIt) {
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  zero().leave([](int) { return true; });
  ASSERT_TRUE(deliver().ok());
  EXPECT_EQ(enter(one(), 1, 6, 8).code(), Code::kMismatch);
}

// The first call that differed is found by halving, while the one that leaves still hears.
TEST_F(Journals, WhoLeavesAfterManyCallsLearnsWhichDiffered) {
  for (uint64_t call = 1; call <= 20; ++call) {
    ASSERT_TRUE(enter(zero(), call, 5).ok());
    ASSERT_TRUE(enter(one(), call, 5, call == 7 ? 8 : kSame).ok());
  }
  zero().leave([](int) { return true; });
  const Status status = deliver();
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_NE(status.message().find("#7"), std::string::npos) << status.message();
}

TEST_F(Journals, NonsenseIsAnError) {
  EXPECT_EQ(zero().heard(1, bytes_of(uint64_t{3})).code(), Code::kInternal);
  JournalMessage unreadable;
  unreadable.record.sequence = 1;
  unreadable.record.collective = 255;
  unreadable.kind = JournalMessage::Kind::kWaits;
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  EXPECT_EQ(zero().heard(1, bytes_of(unreadable)).code(), Code::kMismatch);
}

TEST(Mismatch, OfCountsTellsForWhomTheyDifferNotWhichIsTheGreatest) {
  const auto record_with = [](std::vector<uint64_t> counts) {
    Call call;
    call.collective = Collective::kAllgatherv;
    call.type = DataType::kInt8;
    call.count = *std::ranges::max_element(counts);
    BlockLayout layout;
    layout.counts = std::move(counts);
    call.layouts = std::make_shared<const BlockLayouts>(BlockLayouts{{}, std::move(layout)});
    return record_of(call, 3, digest_of(call));
  };
  EXPECT_EQ(
      mismatch("rank 0", record_with({8, 4, 8}), "rank 1", record_with({8, 5, 9})).message(),
      "ranks made different calls: rank 0 and rank 1 are both in allgatherv #3 (int8), but the "
      "count for rank 1 differs");
}

// Of two that agree on the greatest count.
TEST(Mismatch, OfCountsTellsForWhomTheyDiffer) {
  const auto record_with = [](std::vector<uint64_t> counts) {
    Call call;
    call.collective = Collective::kAllgatherv;
    call.type = DataType::kInt8;
    call.count = 8;
    BlockLayout layout;
    layout.counts = std::move(counts);
    call.layouts = std::make_shared<const BlockLayouts>(BlockLayouts{{}, std::move(layout)});
    return record_of(call, 3, digest_of(call));
  };
  const CallRecord own = record_with({8, 4, 8});
  EXPECT_FALSE(differ(own, record_with({8, 4, 8})));
  EXPECT_TRUE(differ(own, record_with({8, 8, 4})));
  EXPECT_EQ(
      mismatch("rank 0", own, "rank 1", record_with({8, 8, 4})).message(),
      "ranks made different calls: rank 0 and rank 1 are both in allgatherv #3 (up to 8 int8 per "
      "rank), but the count for rank 1 differs");
  std::vector<uint64_t> many(64, 8);
  const CallRecord of_many = record_with(many);
  many[37] = 7;
  const Status status = mismatch("rank 0", of_many, "rank 1", record_with(many));
  EXPECT_NE(status.message().find("the count for one of the ranks 32 to 39 differs"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace tutti
