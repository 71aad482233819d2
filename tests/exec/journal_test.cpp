// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that tell one another of their calls.
#include "exec/journal.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "core/fields.hpp"

namespace tutti {
namespace {

constexpr uint32_t kSame = 7;

class Journals : public testing::Test {
 protected:
  Journals() {
    for (int rank = 0; rank < 2; ++rank) {
      journals_.push_back(
          std::make_unique<Journal>(rank, [this, rank](int to, const CallNote& note) {
            ASSERT_EQ(to, 1 - rank);
            ++told_;
            heard_ = journals_[static_cast<size_t>(to)]->heard(rank, bytes_of(note));
          }));
    }
  }
  static Status enter(Journal& journal, uint64_t sequence, uint64_t count,
                      uint32_t signature = kSame) {
    CallRecord record{};
    record.sequence = sequence;
    record.count = count;
    record.root = -1;
    record.collective = static_cast<uint8_t>(Collective::kAllgather);
    return journal.enter(record, signature);
  }
  Journal& zero() { return *journals_[0]; }
  Journal& one() { return *journals_[1]; }

  std::vector<std::unique_ptr<Journal>> journals_;
  Status heard_;
  int told_ = 0;
};

TEST_F(Journals, EqualCallsAreNoNews) {
  for (uint64_t call = 1; call <= 1000; ++call) {
    EXPECT_TRUE(enter(zero(), call, 5).ok());
    EXPECT_TRUE(enter(one(), call, 5).ok());
    zero().ask(1, call);
    EXPECT_TRUE(heard_.ok()) << heard_.message();
    EXPECT_EQ(one().answer_of(0, call), "");
  }
  EXPECT_EQ(told_, 1000) << "who is in the call need not answer";
}

TEST_F(Journals, WhoIsAskedInAnotherCallNamesBoth) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  ASSERT_TRUE(enter(one(), 1, 6, 2).ok());
  zero().ask(1, 1);
  EXPECT_EQ(heard_.code(), Code::kMismatch);
  EXPECT_EQ(
      heard_.message(),
      "ranks made different calls: rank 1 allgather #1 (6 int8), rank 0 allgather #1 (5 int8)");
}

TEST_F(Journals, WhoComesLaterToAnotherCallFindsOut) {
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  ASSERT_TRUE(enter(one(), 1, 5).ok());
  ASSERT_TRUE(enter(zero(), 2, 5, 1).ok());
  zero().ask(1, 2);
  EXPECT_TRUE(heard_.ok());
  EXPECT_EQ(zero().answer_of(1, 2),
            "; rank 1 had not entered the call, its last was allgather #1 (5 int8)");
  EXPECT_EQ(enter(one(), 2, 6, 2).code(), Code::kMismatch);
}

TEST_F(Journals, ADifferenceThatWentUnnoticedIsFoundAtALaterCall) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  ASSERT_TRUE(enter(one(), 1, 5, 2).ok());
  ASSERT_TRUE(enter(zero(), 2, 5).ok());
  ASSERT_TRUE(enter(one(), 2, 5).ok());
  zero().ask(1, 2);
  EXPECT_EQ(heard_.code(), Code::kMismatch);
}

TEST_F(Journals, CallsTooLongAgoAreNotCompared) {
  ASSERT_TRUE(enter(zero(), 1, 5, 1).ok());
  for (uint64_t call = 1; call <= 300; ++call) ASSERT_TRUE(enter(one(), call, 6, 2).ok());
  zero().ask(1, 1);
  EXPECT_TRUE(heard_.ok());
  one().ask(0, 1);
  EXPECT_EQ(told_, 1) << "nor asked about";
}

TEST_F(Journals, NonsenseIsAnError) {
  EXPECT_EQ(zero().heard(1, bytes_of(uint64_t{3})).code(), Code::kInternal);
  CallNote unreadable;
  unreadable.sequence = 1;
  unreadable.collective = 255;
  unreadable.asks = 1;
  ASSERT_TRUE(enter(zero(), 1, 5).ok());
  EXPECT_EQ(zero().heard(1, bytes_of(unreadable)).code(), Code::kMismatch);
}

}  // namespace
}  // namespace tutti
