// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rounds of gathering, as frames: what all ranks said is packed once, and goes to each as fast as
// it takes it.
#include "bootstrap/meeting_state.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "bootstrap/relay.hpp"
#include "bootstrap/scripted.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

using tutti_test::contribution_of;
using tutti_test::scripted_id;
using Member = tutti_test::ScriptedMember;

class Round : public testing::Test {
 protected:
  static constexpr int kRanks = 20;
  Round() {
    log::set_level(LogLevel::kError);
    for (int rank = 0; rank < kRanks; ++rank) members_.emplace_back(meeting_, rank, kRanks);
    for (Member& member : members_) member.hear_all();
  }
  void gather_all(size_t bytes) {
    for (int rank = 0; rank < kRanks; ++rank) {
      members_[static_cast<size_t>(rank)].gather(contribution_of(rank, bytes));
    }
  }
  static Contributions expected(size_t bytes) {
    Contributions contributions;
    for (int rank = 0; rank < kRanks; ++rank) contributions.push_back(contribution_of(rank, bytes));
    return contributions;
  }

  Meeting meeting_{scripted_id()};
  std::deque<Member> members_;
};

TEST_F(Round, GivesAllPartsToEachInRankOrder) {
  for (const size_t bytes : {size_t{3}, kMostGatherBytes, size_t{0}}) {
    gather_all(bytes);
    for (Member& member : members_) {
      member.hear_all();
      EXPECT_EQ(std::exchange(member.contributions, {}), expected(bytes));
    }
  }
}

TEST_F(Round, KeepsOneFrameForAMemberThatTakesNone) {
  gather_all(kMostGatherBytes);
  Member& slow = members_.front();
  EXPECT_TRUE(meeting_.may_write(slow.link));
  EXPECT_TRUE(slow.link.session.out().empty());
  for (int turn = 0; turn < 3; ++turn) EXPECT_LE(meeting_.to_write(slow.link).size(), 70u << 10);
  slow.hear_all();
  EXPECT_EQ(slow.contributions, expected(kMostGatherBytes));
  EXPECT_FALSE(meeting_.may_write(slow.link));
}

TEST_F(Round, EndsForAllIfOneBeginsTheNextBeforeItHasHeardThis) {
  gather_all(kMostGatherBytes);
  members_[1].gather(contribution_of(1, 8));
  members_[2].hear_all();
  EXPECT_EQ(members_[2].heard.back(), MeetingFrameKind::kError);
}

// Ranks that are yet to come hear why from the service, whose process may end afterwards.
TEST(FailingMember, OfTheServicesProcessIsAnsweredOnceAllOthersKnow) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id());
  Member own(meeting, {.rank = 0, .ranks = 3, .own = true});
  Member first(meeting, 1, 3);
  own.hear_all();
  own.say(MeetingFrameKind::kFail, failure_bytes({Code::kSystem, "no way on"}));
  EXPECT_FALSE(meeting.may_write(own.link));
  first.hear_all();
  EXPECT_EQ(first.heard.back(), MeetingFrameKind::kError);
  EXPECT_FALSE(meeting.may_write(own.link)) << "one has not come yet";
  Member last(meeting, 2, 3);
  EXPECT_FALSE(meeting.may_write(own.link)) << "one does not know yet";
  last.hear_all();
  EXPECT_EQ(last.heard.back(), MeetingFrameKind::kError);
  EXPECT_TRUE(failure_in(last.last).message().ends_with("): no way on"));
  own.hear_all();
  EXPECT_EQ(own.heard.back(), MeetingFrameKind::kGoodbye);
}

TEST(FailingMember, OfAnotherProcessIsAnsweredAtOnce) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id());
  Member failing(meeting, 1, 3);
  failing.say(MeetingFrameKind::kFail, failure_bytes({Code::kSystem, "no way on"}));
  failing.hear_all();
  EXPECT_EQ(failing.heard.back(), MeetingFrameKind::kGoodbye);
  Member later(meeting, 0, 3);
  later.hear_all();
  EXPECT_TRUE(failure_in(later.last).message().ends_with("): no way on"));
}

TEST(FailingMember, KeepsNoRankOfTheServicesProcessFromComing) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id());
  Member failing(meeting, 1, 3);
  failing.say(MeetingFrameKind::kFail, failure_bytes({Code::kSystem, "no way on"}));
  failing.hear_all();
  Member own(meeting, {.rank = 0, .ranks = 3, .own = true});
  EXPECT_FALSE(meeting.may_write(own.link)) << "one has not come yet";
  Member last(meeting, 2, 3);
  last.hear_all();
  own.hear_all();
  EXPECT_EQ(own.heard.back(), MeetingFrameKind::kError);
}

TEST(ReleasedId, EndsTheMeetingOfThoseThatWait) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id());
  Member waiting(meeting, 1, 3);
  waiting.hear_all();
  Member other(meeting, Member::kNobody);
  other.say(MeetingFrameKind::kRelease);
  other.hear_all();
  EXPECT_EQ(other.heard.back(), MeetingFrameKind::kGoodbye);
  waiting.hear_all();
  EXPECT_EQ(waiting.heard.back(), MeetingFrameKind::kError);
  EXPECT_EQ(failure_in(waiting.last).code(), Code::kAborted);
}

TEST(ReleasedId, IsNothingToThoseThatHaveMet) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id());
  Member only(meeting, 0, 1);
  Member other(meeting, Member::kNobody);
  other.say(MeetingFrameKind::kRelease);
  only.hear_all();
  only.gather(contribution_of(0, 8));
  only.hear_all();
  EXPECT_EQ(only.heard.back(), MeetingFrameKind::kContributions);
}

TEST(UnusedId, IsGivenUpAfterItsLifetimeUnlessARankHasCome) {
  log::set_level(LogLevel::kError);
  Meeting unused(scripted_id(), 0, 0);
  unused.check_deadlines();
  EXPECT_TRUE(unused.finished());
  Meeting used(scripted_id(), 0, 0);
  Member first(used, 0, 2);
  used.check_deadlines();
  EXPECT_FALSE(used.finished());
}

class Together : public Round {
 protected:
  Together() {
    for (Member& member : members_) member.say(MeetingFrameKind::kStay);
    for (Member& member : members_) member.hear_all();
    for (Member& member : members_) EXPECT_EQ(member.heard.back(), MeetingFrameKind::kStayed);
  }
};

TEST_F(Together, TellsInOneFrameOfAllThatHaveLeftMeanwhile) {
  std::vector<int32_t> left;
  Member& slow = members_.back();
  for (int rank = kRanks - 2; rank >= 0; --rank) {
    members_[static_cast<size_t>(rank)].say(MeetingFrameKind::kLeave);
    left.push_back(rank);
  }
  slow.heard.clear();
  slow.hear_all();
  EXPECT_EQ(slow.heard, std::vector{MeetingFrameKind::kLeft});
  EXPECT_TRUE(std::ranges::equal(slow.last, std::as_bytes(std::span(left))));
  EXPECT_FALSE(meeting_.may_write(slow.link));
}

TEST_F(Together, RegroupsByWhatDiffers) {
  const std::vector<std::byte> same(kMostNewsBytes, std::byte{7});
  for (Member& member : members_) member.sent_to_it = 0;
  for (Member& member : members_) member.say(MeetingFrameKind::kRegroup, same);
  for (Member& member : members_) {
    member.hear_all();
    EXPECT_EQ(member.heard.back(), MeetingFrameKind::kRegroupContributions);
    EXPECT_TRUE(member.last.empty());
    EXPECT_GT(member.sent_to_it, kMostNewsBytes);
    EXPECT_LT(member.sent_to_it, 3 * kMostNewsBytes) << "of " << kRanks * kMostNewsBytes;
  }
}

// A meeting of rank 0 in the service's process with ranks 1 and 2 by a relay, which is in rank 1's.
// All say the same pid, as ranks in containers may.
class RelayedMeeting : public testing::Test {
 protected:
  RelayedMeeting() {
    log::set_level(LogLevel::kError);
    own_.emplace(meeting_, tutti_test::Said{.rank = 0, .ranks = kRanks, .own = true});
    relay_.say(MeetingFrameKind::kRelay);
    for (int32_t rank = 1; rank < kRanks; ++rank) {
      const Hello hello{rank, kRanks, 0, 1, -1, host_field("host"), rank == 1 ? 1 : 0};
      relay_.say_from(static_cast<uint32_t>(rank), MeetingFrameKind::kHello, bytes_of(hello));
    }
    meeting_.take_returns_at(parse_address("127.0.0.1", 1));
    own_->say(MeetingFrameKind::kStay);
    for (uint32_t rank = 1; rank < kRanks; ++rank) relay_.say_from(rank, MeetingFrameKind::kStay);
    relay_.hear_all();
    own_->hear_all();
    EXPECT_EQ(own_->heard.back(), MeetingFrameKind::kStayed);
  }

  static constexpr int kRanks = 3;
  Meeting meeting_{scripted_id()};
  Member relay_{meeting_, Member::kNobody};
  std::optional<Member> own_;
};

TEST_F(RelayedMeeting, LosesWithTheRelayTheRankOfItsProcessAndNoOtherOfThatPid) {
  meeting_.lost(relay_.link, 0);
  own_->heard.clear();
  own_->hear_all();
  EXPECT_EQ(own_->heard, std::vector{MeetingFrameKind::kFailed});
  std::span<const std::byte> told = own_->last;
  int32_t rank = 0;
  EXPECT_TRUE(take(told, rank));
  EXPECT_EQ(rank, 1);
}

TEST_F(RelayedMeeting, TakesARankThatComesBackAsTheEndOfItsRelay) {
  Member back(meeting_, Member::kNobody);
  back.say(MeetingFrameKind::kReturn,
           bytes_of(Return{.rank = 2, .failures = 0, .left = 0, .rounds = 0}));
  EXPECT_TRUE(relay_.link.gone);
  EXPECT_FALSE(back.link.gone);
  back.hear_all();
  EXPECT_EQ(back.heard.back(), MeetingFrameKind::kFailed);
  own_->hear_all();
  EXPECT_EQ(own_->heard.back(), MeetingFrameKind::kFailed);
}

TEST_F(RelayedMeeting, KeepsTheRankOfARelayThatOthersGoAround) {
  Member back(meeting_, Member::kNobody);
  back.say(MeetingFrameKind::kReturn, bytes_of(Return{2, 0, 0, 0, 1}));
  EXPECT_FALSE(back.link.gone);
  relay_.heard.clear();
  relay_.hear_all();
  EXPECT_EQ(relay_.heard, std::vector{MeetingFrameKind::kHangUp}) << "for rank 2";
  // What the relay passes on of rank 2 when it runs again.
  relay_.say_from(2, MeetingFrameKind::kFail, failure_bytes({Code::kAborted, "said before"}));
  const Addressed second{2, 0};
  relay_.say(MeetingFrameKind::kHungUp, bytes_of(second));
  own_->heard.clear();
  own_->hear_all();
  EXPECT_TRUE(own_->heard.empty());
  for (Member* member : {&*own_, &back}) member->say(MeetingFrameKind::kRegroup);
  back.hear_all();
  EXPECT_TRUE(back.heard.empty()) << "rank 1 is yet to come";
  relay_.say_from(1, MeetingFrameKind::kRegroup);
  for (Member* member : {&relay_, &back, &*own_}) {
    member->hear_all();
    EXPECT_TRUE(member->has_heard(member == &relay_ ? MeetingFrameKind::kToAll
                                                    : MeetingFrameKind::kRegroupContributions));
  }
}

TEST_F(RelayedMeeting, AnswersTheLeavingRankOfTheServicesProcessOnceTheOthersAreBackAndKnow) {
  meeting_.lost(relay_.link, 0);
  own_->hear_all();
  own_->say(MeetingFrameKind::kLeave);
  EXPECT_FALSE(meeting_.may_write(own_->link)) << "one is yet to come back";
  Member back(meeting_, Member::kNobody);
  back.say(MeetingFrameKind::kReturn,
           bytes_of(Return{.rank = 2, .failures = 0, .left = 0, .rounds = 0}));
  EXPECT_FALSE(meeting_.may_write(own_->link)) << "it does not know yet";
  back.hear_all();
  EXPECT_TRUE(back.has_heard(MeetingFrameKind::kFailed));
  EXPECT_TRUE(back.has_heard(MeetingFrameKind::kLeft));
  EXPECT_TRUE(back.has_heard(MeetingFrameKind::kGoodbye));
  own_->hear_all();
  EXPECT_EQ(own_->heard.back(), MeetingFrameKind::kGoodbye);
}

TEST(FailedMeeting, DropsARelayThatComesLateIfItDoesNotGo) {
  log::set_level(LogLevel::kError);
  Meeting meeting(scripted_id(), 0, 2, {Code::kSystem, "no way on"}, now_ms());
  Member relay(meeting, Member::kNobody);
  relay.say(MeetingFrameKind::kRelay);
  EXPECT_TRUE(relay.link.relays);
  EXPECT_LT(meeting.next_deadline_ms(), kNever);
}

// A relay, and the meeting to which it comes.
class OneRelay : public testing::Test {
 protected:
  OneRelay() { log::set_level(LogLevel::kError); }
  // All that either has to say to the other.
  void pass() {
    bool any = true;
    while (any) {
      any = false;
      if (relay_.may_write(up_)) {
        meeting_.hear(down_, std::exchange(relay_.to_write(up_), {}));
        any = true;
      }
      if (meeting_.may_write(down_)) {
        relay_.hear(up_, std::exchange(meeting_.to_write(down_), {}));
        any = true;
      }
    }
  }

  Meeting meeting_{scripted_id()};
  Relay relay_{scripted_id()};
  Link& up_ = *relay_.meeting();
  Link& down_ = meeting_.enter({.from = "the test"});
};

TEST_F(OneRelay, EndsOnceItHasPassedOnWhatItHeardBeforeTheMeetingKnewIt) {
  std::vector<std::byte> opening = std::exchange(relay_.to_write(up_), {});
  {
    Member brief(relay_, 1, 3);
    relay_.lost(brief.link, 0);
    relay_.forget_gone();
  }
  EXPECT_FALSE(relay_.finished());
  meeting_.hear(down_, opening);
  pass();
  Member other(meeting_, 0, 3);
  other.hear_all();
  EXPECT_EQ(other.heard.back(), MeetingFrameKind::kError) << "rank 1 came and went";
  EXPECT_TRUE(relay_.finished());
}

TEST_F(OneRelay, AnswersTheRankOfItsProcessOnceAllIsPassedOn) {
  pass();
  Member own(relay_, {.rank = 0, .ranks = 2, .own = true});
  Member other(relay_, 1, 2);
  pass();
  other.hear_all();
  EXPECT_EQ(other.heard.back(), MeetingFrameKind::kWelcome);
  other.gather(contribution_of(1, 8));
  EXPECT_FALSE(relay_.may_write(own.link)) << "a contribution is to be passed on";
  pass();
  own.hear_all();
  EXPECT_EQ(own.heard.back(), MeetingFrameKind::kWelcome);
}

}  // namespace
}  // namespace tutti::bootstrap
