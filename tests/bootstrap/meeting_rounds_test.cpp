// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rounds that go once to each host, as frames: to a leader there, which places the parts for the
// others.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "bootstrap/meeting.hpp"
#include "bootstrap/scripted.hpp"
#include "core/log.hpp"

namespace tutti::bootstrap {
namespace {

using tutti_test::Said;
using tutti_test::says;
using tutti_test::scripted_id;
using Member = tutti_test::ScriptedMember;

constexpr int kHosts = 4;
const FilePlace kFile{7, 8, 9, 10};

// Ranks that come in this order, one after the other to each host.
class Job {
 public:
  Job(int ranks, size_t least_saved, int hosts = kHosts, int32_t timeout_ms = -1, int own = 0)
      : meeting(scripted_id(), 0, least_saved) {
    log::set_level(LogLevel::kError);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto mark = static_cast<uint64_t>(1 + rank % hosts);
      members.emplace_back(meeting, Said{rank, ranks, mark, timeout_ms, rank < own});
      parts_.push_back(random_part());
    }
    hear_all();
  }

  void hear_all() {
    for (bool more = true; more;) {
      more = false;
      for (Member& member : members) more = member.hear() || more;
    }
  }
  void gather() {
    for (size_t i = 0; i < members.size(); ++i) members[i].gather(parts_[i]);
    hear_all();
  }
  // As leaders do that have all parts.
  void place(std::span<const std::byte> body = bytes_of(kFile)) {
    for (Member& member : members) {
      if (!leads(member)) continue;
      EXPECT_EQ(member.parts, parts_);
      member.say(FrameKind::kPlace, body);
      member.heard.clear();
    }
    hear_all();
  }
  // What each has is the parts, or the hash by which to know them.
  void expect_all_served() {
    for (Member& member : members) {
      if (member.has_heard(FrameKind::kPlaced)) {
        expect_hash(member);
      } else {
        EXPECT_EQ(member.parts, parts_);
      }
      member.parts.clear();
      member.packed.clear();
      member.heard.clear();
    }
  }
  static bool leads(const Member& member) { return member.has_heard(FrameKind::kLead); }
  [[nodiscard]] size_t leaders() const {
    return static_cast<size_t>(std::ranges::count_if(members, leads));
  }
  [[nodiscard]] size_t have(FrameKind kind) const {
    return static_cast<size_t>(
        std::ranges::count_if(members, [kind](auto& member) { return member.has_heard(kind); }));
  }
  [[nodiscard]] size_t sent() const {
    size_t bytes = 0;
    for (const Member& member : members) bytes += member.sent_to_it;
    return bytes;
  }
  // What the others learn of a meeting that has failed.
  std::string error_of_others(const Member& but) {
    hear_all();
    std::string text;
    for (const Member& member : members) {
      if (&member == &but) continue;
      EXPECT_EQ(member.heard.back(), FrameKind::kError);
      text = failure_in(member.last).message();
    }
    return text;
  }

  Meeting meeting;
  std::deque<Member> members;

 private:
  std::vector<std::byte> random_part() {
    std::vector<std::byte> part(kMaxGatherBytes);
    for (std::byte& byte : part) byte = static_cast<std::byte>(random_());
    return part;
  }
  void expect_hash(const Member& member) {
    const Bodies packed = pack_parts(parts_);
    auto body = std::span<const std::byte>(member.last);
    PartsPlace place{};
    ASSERT_TRUE(take(body, place));
    EXPECT_EQ(place.file, kFile);
    EXPECT_EQ(place.bytes, bytes_in(packed));
    EXPECT_EQ(place.hash, hash_of(packed));
    EXPECT_TRUE(member.parts.empty());
  }

  std::mt19937 random_{11};
  Parts parts_;
};

// Without what each rank gets besides: a seal, a place, an answer to its hello.
TEST(Rounds, WhatLeavesTheServiceGrowsWithHostsAndNotWithRanks) {
  constexpr size_t kForEach = 512;
  for (const int ranks : {40, 80, 160}) {
    Job job(ranks, kLeastSaved);
    job.gather();
    EXPECT_EQ(job.leaders(), size_t{kHosts});
    job.place();
    job.expect_all_served();
    const auto count = static_cast<size_t>(ranks);
    const size_t round = count * kMostPackedBytes;
    EXPECT_GT(job.sent(), kHosts * count * kMaxGatherBytes);
    EXPECT_LT(job.sent(), kHosts * round + count * kForEach);
    Job without(ranks, SIZE_MAX);
    without.gather();
    without.expect_all_served();
    EXPECT_GT(without.sent(), count * count * kMaxGatherBytes);
  }
}

TEST(Rounds, GoToEachRankOfOneHostAndWhereLittleIsSaved) {
  Job one_host(40, 0, 1);
  one_host.gather();
  EXPECT_EQ(one_host.leaders(), 0u);
  one_host.expect_all_served();
  Job small(8, kLeastSaved);
  small.gather();
  EXPECT_EQ(small.leaders(), 0u);
  small.expect_all_served();
  Job alone(kHosts, 0);  // one rank on each
  alone.gather();
  EXPECT_EQ(alone.leaders(), 0u);
  alone.expect_all_served();
}

TEST(Rounds, FollowOneAnother) {
  Job job(12, 1);
  for (int round = 0; round < 5; ++round) {
    job.gather();
    EXPECT_EQ(job.have(FrameKind::kPlaced), 0u) << "before the leaders have placed anything";
    job.place();
    EXPECT_EQ(job.have(FrameKind::kPlaced), 8u);
    job.expect_all_served();
  }
  for (Member& member : job.members) member.say(FrameKind::kStay);
  job.hear_all();
  EXPECT_EQ(job.have(FrameKind::kStayed), 12u);
}

TEST(Rounds, GoToEachRankOfAHostWhoseLeaderCanPlaceNothing) {
  Job job(12, 1);
  for (const size_t leaders : {4u, 0u}) {
    job.gather();
    EXPECT_EQ(job.leaders(), leaders);
    job.place({});
    EXPECT_EQ(job.have(FrameKind::kPlaced), 0u);
    job.expect_all_served();
  }
}

TEST(Rounds, GoToARankThatCannotReadWhatWasPlaced) {
  Job job(12, 1);
  for (const size_t told : {8u, 7u}) {
    job.gather();
    job.place();
    EXPECT_EQ(job.have(FrameKind::kPlaced), told);
    Member& lacking = job.members.back();
    if (lacking.has_heard(FrameKind::kPlaced)) lacking.say(FrameKind::kLack);
    lacking.heard.clear();
    job.hear_all();
    job.expect_all_served();
  }
}

TEST(Rounds, EndForAllIfALeaderDiesBeforeItHasPlacedAnything) {
  Job job(12, 1);
  job.gather();
  Member& leader = job.members[1];
  ASSERT_TRUE(Job::leads(leader));
  job.meeting.lost(leader.client, 0);
  EXPECT_EQ(job.error_of_others(leader),
            "rank 1 (pid 1001 on host host) ended while the communicator was being made");
}

TEST(Rounds, NameALeaderThatIsLateAndNotThoseThatWaitForIt) {
  Job job(12, 1, kHosts, 200);
  job.gather();
  Member& late = job.members[2];
  ASSERT_TRUE(Job::leads(late));
  for (Member& member : job.members) {
    if (&member != &late && Job::leads(member)) member.say(FrameKind::kPlace, bytes_of(kFile));
  }
  job.hear_all();
  for (Member& member : job.members) {
    const bool done = Job::leads(member) || member.has_heard(FrameKind::kPlaced);
    if (&member != &late && done) member.gather({});
  }
  while (now_ms() < job.meeting.next_deadline_ms()) pause_for(1);
  job.meeting.check_deadlines();
  EXPECT_TRUE(says(job.error_of_others(late), "rank 2 of 12 stopped taking part"));
}

TEST(Rounds, GoOnIfALeaderLeavesWithoutPlacingAnything) {
  Job job(12, 1);
  job.gather();
  for (Member& member : job.members) {
    if (Job::leads(member)) member.say(FrameKind::kLeave);
  }
  job.meeting.forget_gone();
  while (job.members.front().has_heard(FrameKind::kLead)) job.members.pop_front();
  job.hear_all();
  job.expect_all_served();
}

TEST(Rounds, GoOnIfOneLeavesThatWaitsForItsLeader) {
  Job job(12, 1);
  job.gather();
  job.members.back().say(FrameKind::kLeave);
  job.meeting.forget_gone();
  job.members.pop_back();
  job.place();
  job.expect_all_served();
}

// They are told last, as they may end the service, so nobody may wait for them.
TEST(Rounds, AreNotLedByRanksOfTheServicesProcess) {
  Job job(12, 1, kHosts, -1, 2);
  job.gather();
  EXPECT_EQ(job.leaders(), size_t{kHosts});
  EXPECT_FALSE(Job::leads(job.members[0]));
  EXPECT_FALSE(Job::leads(job.members[1]));
  EXPECT_TRUE(Job::leads(job.members[4]));
  EXPECT_TRUE(Job::leads(job.members[5]));
  job.place();
  job.expect_all_served();
  Job all_own(12, 1, kHosts, -1, 12);
  all_own.gather();
  EXPECT_EQ(all_own.leaders(), 0u);
  all_own.expect_all_served();
}

// What a member says that knows the secret, and is no part of a round.
TEST(Rounds, EndForAllIfAMemberSpeaksOutOfTurn) {
  const auto end_with = [](auto&& speak) {
    Job job(12, 1);
    job.gather();
    Member& speaker = job.members.front();
    speak(job, speaker);
    EXPECT_TRUE(says(job.error_of_others(speaker), "rank 0 (pid 1000 on host host) ended while"));
  };
  end_with([](Job&, Member& leader) { leader.gather({}); });
  end_with([](Job&, Member& leader) { leader.say(FrameKind::kLack); });
  end_with([](Job&, Member& leader) { leader.say(FrameKind::kPlace, std::vector<std::byte>(3)); });
  end_with([](Job& job, Member& leader) {
    job.place();
    leader.say(FrameKind::kPlace, bytes_of(kFile));
  });
  Job job(12, 1);
  job.gather();
  Member& waits = job.members.back();
  waits.say(FrameKind::kPlace, bytes_of(kFile));
  EXPECT_TRUE(says(job.error_of_others(waits), "rank 11 (pid 1011 on host host) ended while"));
}

}  // namespace
}  // namespace tutti::bootstrap
