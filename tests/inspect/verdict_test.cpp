// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who is to blame in jobs that are made up.
#include "inspect/verdict.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/types.hpp"
#include "exec/call.hpp"

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
    communicator.processes.push_back(r);
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

// Rank 0 waits for all others, of which one process is in that state.
Verdict judge_with(int ranks, size_t process, char letter) {
  Job job = job_of(ranks);
  enters(rank(job, 0), allreduce(5));
  job.processes[process].state.letter = letter;
  return judge(job, 60);
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
    EXPECT_EQ(judge_with(2, 1, letter).outcome, Outcome::kHangs) << letter;
  }
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.communicators[0].processes[1] = -1;
  EXPECT_TRUE(says(judge(job, 60), "is dead"));
}

TEST(Verdict, SendsNoDebuggerToAProcessThatWaitsForTheSystem) {
  const Verdict verdict = judge_with(2, 1, 'D');
  EXPECT_TRUE(says(verdict, "waits for a device or a file system (state D)")) << verdict.text;
  EXPECT_EQ(verdict.advice.find("gdb"), std::string::npos) << verdict.advice;
}

TEST(Verdict, ASleepingRankIsNamedBehindAStoppedOne) {
  const Verdict verdict = judge_with(3, 2, 'T');
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
  job.processes[2].busy = true;
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "rank 2 (pid 102 on h) has sent nothing that recv")) << verdict.text;
  EXPECT_TRUE(says(verdict, "it computes")) << verdict.text;
}

// Rank 1 waits for its neighbour, which was not seen to wait yet and may be kept by rank 2.
TEST(Verdict, NamesARankThatDoesNotAnswerBeforeOneThatIsLateWithinTheCall) {
  Job job = job_of(3);
  enters(rank(job, 0), allreduce(5));
  rank(job, 0).waits.clear();
  enters(rank(job, 1), allreduce(5));
  rank(job, 1).waits[0].awaited[0] = 0;
  rank(job, 2).answers = false;
  rank(job, 2).silent_s = 3;
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "rank 2 (pid 102 on h) does not answer")) << verdict.text;
  EXPECT_EQ(verdict.findings.size(), 2u);
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

TEST(Verdict, BlamesTheRankThatIsNotThereWhereACommunicatorIsMade) {
  Job job = job_of(4);
  for (const size_t place : {size_t{0}, size_t{1}}) {
    Wait wait;
    wait.kind = WaitKind::kMake;
    wait.since_ms = kNowMs - 5000;
    wait.record.count = 3;  // rank 3 has no part in it
    wait.record.marks = static_cast<uint64_t>(Purpose::kSplit);
    wait.awaited[0] = place == 0 ? 1 : 0;
    wait.awaited[1] = 2;
    rank(job, place).waits.push_back(wait);
  }
  job.processes[2].state.letter = 'T';
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict,
                   "rank 2 (pid 102 on h) has not entered the making of a communicator of "
                   "3 ranks by split"))
      << verdict.text;
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
  EXPECT_NE(verdict.advice.find("on n2: tutti why 7"), std::string::npos) << verdict.advice;
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
