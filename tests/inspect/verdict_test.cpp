// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who is to blame in jobs that are made up.
#include "inspect/verdict.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/types.hpp"

namespace tutti::inspect {
namespace {

constexpr int64_t kNowMs = 100'000;

CallRecord allreduce(uint64_t sequence, uint64_t count = 8) {
  return {.sequence = sequence,
          .count = count,
          .root = -1,
          .collective = static_cast<uint8_t>(Collective::kAllreduce),
          .type = static_cast<uint8_t>(DataType::kFloat32),
          .op = static_cast<uint8_t>(ReduceOp::kSum),
          .marked = 0,
          .marks = 0};
}

// One communicator, each rank a process that sleeps: rank r has pid 100 + r.
Job job_of(int ranks) {
  Job job;
  job.now_ms = kNowMs;
  Communicator communicator;
  communicator.view.name = "c";
  communicator.view.host = "h";
  communicator.view.all_ranks = ranks;
  for (int r = 0; r < ranks; ++r) {
    RankView rank;
    rank.place = rank.rank = r;
    rank.pid = 100 + r;
    rank.present = true;
    rank.past = {{.record = allreduce(4)}};
    communicator.view.ranks.push_back(rank);
    communicator.pids.push_back(100 + r);
    job.processes.push_back({.pid = 100 + r, .own_pid = 100 + r, .state = {.letter = 'S'}});
  }
  job.communicators.push_back(communicator);
  return job;
}

RankView& rank(Job& job, size_t place) { return job.communicators[0].view.ranks[place]; }

void enters(RankView& rank, const CallRecord& record, int64_t for_ms = 5000) {
  rank.past.push_back({.record = record});
  Wait wait;
  wait.kind = WaitKind::kCall;
  wait.since_ms = kNowMs - for_ms;
  wait.record = record;
  rank.waits.push_back(wait);
}

void receives(RankView& rank, int from) {
  Wait wait;
  wait.kind = WaitKind::kRecv;
  wait.since_ms = kNowMs - 5000;
  wait.record.root = from;
  rank.waits.push_back(wait);
}

bool says(const Verdict& verdict, const std::string& part) {
  return verdict.text.find(part) != std::string::npos;
}

TEST(Verdict, BlamesTheRankThatHasNotEntered) {
  Job job = job_of(3);
  enters(rank(job, 0), allreduce(5));
  enters(rank(job, 2), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  EXPECT_TRUE(says(verdict, "rank 1 (pid 101 on h) has not entered allreduce #5 (8 float32, sum)"))
      << verdict.text;
  EXPECT_TRUE(says(verdict, "its last call was allreduce #4 (8 float32, sum)")) << verdict.text;
  EXPECT_EQ(verdict.findings.size(), 1u);
}

TEST(Verdict, IsAHangOfAWaitThatHasLastedTooLong) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5), 59'000);
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kWaits);
  EXPECT_EQ(judge(job, 58).outcome, Outcome::kHangs);
}

TEST(Verdict, IsAHangOfARankThatIsStoppedOrDead) {
  for (const char letter : {'T', 't', 'Z'}) {
    Job job = job_of(2);
    enters(rank(job, 0), allreduce(5));
    job.processes[1].state.letter = letter;
    EXPECT_EQ(judge(job, 60).outcome, Outcome::kHangs) << letter;
  }
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.communicators[0].pids[1] = 0;
  EXPECT_TRUE(says(judge(job, 60), "is dead"));
}

TEST(Verdict, ASleepingRankIsNamedBehindAStoppedOne) {
  Job job = job_of(3);
  enters(rank(job, 0), allreduce(5));
  job.processes[2].state.letter = 'T';
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "rank 2")) << verdict.text;
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_EQ(verdict.findings[1].pid, 101);
}

TEST(Verdict, FollowsARankThatWaitsItself) {
  Job job = job_of(3);
  enters(rank(job, 0), allreduce(5));
  receives(rank(job, 1), 2);
  enters(rank(job, 2), allreduce(5));
  rank(job, 2).waits.clear();  // it computes within the call
  job.busy = {102};
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "rank 2 (pid 102 on h) has not sent recv")) << verdict.text;
  EXPECT_TRUE(says(verdict, "it computes")) << verdict.text;
}

TEST(Verdict, FindsRanksThatWaitForOneAnother) {
  Job job = job_of(2);
  receives(rank(job, 0), 1);
  enters(rank(job, 1), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict, "ranks wait for one another")) << verdict.text;
  EXPECT_EQ(verdict.findings.size(), 1u);
}

TEST(Verdict, DoesNotTakeAStartedCallForAWaitOfItsRank) {
  Job job = job_of(2);
  receives(rank(job, 0), 1);
  enters(rank(job, 1), allreduce(5));
  rank(job, 1).waits[0].started = 1;
  const Verdict verdict = judge(job, 60);
  EXPECT_FALSE(says(verdict, "ranks wait for one another")) << verdict.text;
}

TEST(Verdict, NamesBothCallsWhereTheyDiffer) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  enters(rank(job, 1), allreduce(5, 9));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict, "is in allreduce #5 (") && says(verdict, "9 float32") &&
              says(verdict, "8 float32"))
      << verdict.text;
}

TEST(Verdict, SendsTheReaderToTheHostOfTheRankThatIsAwaited) {
  Job job = job_of(1);
  job.communicators[0].view.all_ranks = 2;
  enters(rank(job, 0), allreduce(5));
  Wait& wait = rank(job, 0).waits[0];
  wait.awaited[0] = 1;
  wait.pid = 7;
  std::strcpy(wait.host, "n2");
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "rank 1 (pid 7 on n2)")) << verdict.text;
  EXPECT_NE(verdict.advice.find("run on n2: tutti why 7"), std::string::npos) << verdict.advice;
}

TEST(Verdict, IsIdleWhereNobodyWaits) {
  Job job = job_of(2);
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kIdle);
  job.communicators[0].moved = true;
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kGoesOn);
}

TEST(Verdict, TellsTheCauseOfABrokenCommunicator) {
  Job job = job_of(2);
  job.communicators[0].view.stopped = true;
  job.communicators[0].view.cause = "rank 1 has died";
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kHangs);
  EXPECT_TRUE(says(judge(job, 60), "\"c\" is broken: rank 1 has died"));
}

}  // namespace
}  // namespace tutti::inspect
