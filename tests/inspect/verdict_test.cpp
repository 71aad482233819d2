// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Who is to blame in jobs that are made up.
#include "inspect/verdict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/types.hpp"
#include "exec/call.hpp"
#include "inspect/advice.hpp"

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
          .detail_ranks = 0,
          .detail = 0};
}

// One communicator, each rank a process that sleeps: rank r has pid 100 + r.
Job job_of(int ranks) {
  Job job;
  job.now_ms = kNowMs;
  Communicator communicator;
  communicator.snapshot.name = "c";
  communicator.snapshot.host = "h";
  communicator.snapshot.all_ranks = ranks;
  for (int r = 0; r < ranks; ++r) {
    RankSnapshot rank;
    rank.place = rank.rank = r;
    rank.pid = 100 + r;
    rank.present = true;
    rank.past = {{.record = allreduce(4)}};
    communicator.snapshot.ranks.push_back(rank);
    communicator.processes.push_back(r);
    job.processes.push_back({.pid = 100 + r, .own_pid = 100 + r, .state = {.letter = 'S'}});
  }
  job.communicators.push_back(communicator);
  return job;
}

RankSnapshot& rank(Job& job, size_t place) { return job.communicators[0].snapshot.ranks[place]; }

void enters(RankSnapshot& rank, const CallRecord& record, int64_t for_ms = 5000) {
  rank.past.push_back({.record = record});
  Wait wait;
  wait.kind = WaitKind::kCall;
  wait.since_ms = kNowMs - for_ms;
  wait.record = record;
  rank.waits.push_back(wait);
}

void receives(RankSnapshot& rank, int from) {
  Wait wait;
  wait.kind = WaitKind::kRecv;
  wait.since_ms = kNowMs - 5000;
  wait.record.root = from;
  rank.waits.push_back(wait);
}

// Waits in a call that it has not entered: that goes on only once the others have come nearer.
void waits_before(RankSnapshot& rank, uint64_t sequence) {
  Wait wait;
  wait.kind = WaitKind::kCall;
  wait.since_ms = kNowMs - 5000;
  wait.record = allreduce(sequence);
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

TEST(Verdict, BlamesTheRankBehindWhichTheOthersWaitToBeginACall) {
  Job job = job_of(3);
  for (const size_t place : {size_t{1}, size_t{2}}) {
    rank(job, place).past.push_back({.record = allreduce(66)});
    waits_before(rank(job, place), 67);
  }
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  EXPECT_TRUE(says(verdict, "rank 0 (pid 100 on h) has not entered allreduce #67")) << verdict.text;
  EXPECT_EQ(verdict.findings.size(), 1u);
}

TEST(Verdict, NamesBothCallsThatRanksWaitToBeginWhereTheyDiffer) {
  Job job = job_of(3);
  waits_before(rank(job, 1), 67);
  waits_before(rank(job, 2), 67);
  rank(job, 2).waits[0].record.count = 9;
  EXPECT_TRUE(says(judge(job, 60), "is in allreduce #67 (9 float32, sum) instead of"))
      << judge(job, 60).text;
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

TEST(Verdict, IsAHangOfARankWhoseControlGroupIsFrozen) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].state.frozen = true;
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict, "it is frozen with its control group (state S)")) << verdict.text;
  EXPECT_NE(verdict.advice.find("cat /proc/101/cgroup"), std::string::npos) << verdict.advice;
}

TEST(Verdict, SendsNoDebuggerToAProcessThatWaitsForTheSystem) {
  const Verdict verdict = judge_with(2, 1, 'D');
  EXPECT_TRUE(says(verdict, "waits for a device or a file system (state D)")) << verdict.text;
  EXPECT_EQ(verdict.advice.find("gdb"), std::string::npos) << verdict.advice;
}

TEST(Verdict, TakesAWaitForAFileThatCannotBeInterruptedForOneOfItsDevice) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].state = {.letter = 'D', .blocked = BlockedOn::kFile};
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.findings.at(0).cause, Cause::kDevice);
  EXPECT_TRUE(says(verdict, "it waits for a device or a file system (state D)")) << verdict.text;
  EXPECT_FALSE(says(verdict, "a pipe")) << verdict.text;
}

TEST(Verdict, SaysThatARankWhichCouldRunHasNoCore) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  Process& process = job.processes[1];
  process.state = {.letter = 'R'};
  EXPECT_EQ(judge(job, 60).findings.at(0).cause, Cause::kQuiet) << "seen once, it may compute";
  process.take({.letter = 'R'});
  EXPECT_EQ(judge(job, 60).findings.at(0).cause, Cause::kShared);
  EXPECT_TRUE(says(judge(job, 60), "it could run, and has no core (state R)"));
  EXPECT_EQ(judge(job, 60).advice, "give it a core of its own: taskset -cp 101");
  process.busy = true;
  EXPECT_EQ(judge(job, 60).findings.at(0).cause, Cause::kComputes);
  // It slept a moment before.
  process.state = {.letter = 'S', .blocked = BlockedOn::kTime};
  process.busy = false;
  process.take({.letter = 'R'});
  EXPECT_EQ(judge(job, 60).findings.at(0).cause, Cause::kSleeps);
  process.state.letter = 'S';  // and was about to do so again
  EXPECT_EQ(judge(job, 60).findings.at(0).cause, Cause::kSleeps);
  EXPECT_TRUE(says(judge(job, 60), "it is sleeping (state S), sleeps for a time"));
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

TEST(Verdict, FindsNoCircleInALongCallThatGetsOn) {
  Job job = job_of(2);
  for (const size_t place : {size_t{0}, size_t{1}}) {
    enters(rank(job, place), allreduce(5));
    rank(job, place).waits[0].awaited[0] = place == 0 ? 1 : 0;
  }
  EXPECT_TRUE(says(judge(job, 60), "ranks wait for one another")) << judge(job, 60).text;
  rank(job, 1).moved = true;
  job.communicators[0].moved = true;
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kGoesOn) << judge(job, 60).text;
}

// Nobody has made another call, so the program is not to blame.
TEST(Verdict, BlamesTheLineWhereRanksOfTwoHostsWaitForOneAnotherWithinOneCall) {
  Job job = job_of(2);
  rank(job, 1).host = "other";
  for (const size_t place : {size_t{0}, size_t{1}}) {
    enters(rank(job, place), allreduce(5));
    rank(job, place).waits[0].awaited[0] = place == 0 ? 1 : 0;
  }
  const Verdict verdict = judge(job, 60);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].cause, Cause::kLine);
  EXPECT_TRUE(verdict.findings[0].ranks.empty()) << "as of slow lines";
  EXPECT_TRUE(says(verdict, "rank 0 (pid 100 on h), rank 1 (pid 101 on other) wait"))
      << verdict.text;
  EXPECT_TRUE(says(verdict, "a line between their hosts lets nothing through")) << verdict.text;
}

// Rank 1 was interrupted in its wait, and its signal handler does not return: its note is old. Rank
// 0 waits for its part since then.
TEST(Verdict, BlamesARankThatDoesNotLookAnyMoreAndNoCircleOrLine) {
  for (const char* host : {"", "other"}) {
    Job job = job_of(2);
    rank(job, 1).host = host;
    for (const size_t place : {size_t{0}, size_t{1}}) {
      enters(rank(job, place), allreduce(5));
      Wait& wait = rank(job, place).waits[0];
      wait.awaited[0] = place == 0 ? 1 : 0;
      wait.looked_after_ms = place == 0 ? 4800 : 1000;
    }
    const Verdict verdict = judge(job, 60);
    ASSERT_EQ(verdict.findings.size(), 1u) << host;
    EXPECT_EQ(verdict.findings[0].cause, Cause::kInside) << verdict.text;
    EXPECT_EQ(verdict.findings[0].ranks, std::vector<int>{1});
    EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  }
}

// Rank 0 waits for rank 1, whose old note says that it waits for rank 2.
TEST(Verdict, KeepsTheNoteOfARankThatCannotRun) {
  Job job = job_of(3);
  for (const size_t place : {size_t{0}, size_t{1}, size_t{2}}) {
    enters(rank(job, place), allreduce(5));
    Wait& wait = rank(job, place).waits[0];
    wait.awaited[0] = static_cast<int>(place) + 1;
    wait.looked_after_ms = place == 0 ? 4800 : 1000;
  }
  rank(job, 2).waits.clear();
  EXPECT_EQ(judge(job, 60).findings[0].ranks, std::vector<int>{1}) << judge(job, 60).text;
  job.processes[1].again = true;
  job.processes[1].state.letter = 'R';
  EXPECT_EQ(judge(job, 60).findings[0].ranks, std::vector<int>{2}) << judge(job, 60).text;
  job.processes[1].state.letter = 'T';
  EXPECT_EQ(judge(job, 60).findings[0].cause, Cause::kStopped) << judge(job, 60).text;
}

TEST(Verdict, BlamesARankThatDoesNotLookAnyMoreInAReceive) {
  Job job = job_of(2);
  receives(rank(job, 0), 1);
  receives(rank(job, 1), 0);
  rank(job, 0).waits[0].looked_after_ms = 4800;
  rank(job, 1).waits[0].looked_after_ms = 1000;
  const Verdict verdict = judge(job, 60);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_TRUE(says(verdict, "rank 1 (pid 101 on h) does not get on in recv")) << verdict.text;
  EXPECT_FALSE(says(verdict, "have entered")) << verdict.text;
}

TEST(Verdict, AReceiveOfAnyRankIsNotForEverWhileOneMayYetSend) {
  Job job = job_of(3);
  receives(rank(job, 0), -1);
  enters(rank(job, 1), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  EXPECT_TRUE(says(verdict, "rank 2 (pid 102 on h) has ")) << verdict.text;
  receives(rank(job, 2), 1);
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kHangs);
  EXPECT_TRUE(says(judge(job, 60), "ranks wait for one another")) << judge(job, 60).text;
}

TEST(Verdict, SaysThatARankWaitsForItself) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  receives(rank(job, 1), 1);
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict, "rank 1 (pid 101 on h) waits for itself in recv")) << verdict.text;
}

// All four ranks are threads of the first process.
TEST(Verdict, TellsRanksThatAreThreadsOfOneProcessApart) {
  Job job = job_of(4);
  job.communicators[0].processes = {0, 0, 0, 0};
  for (const size_t place : {size_t{0}, size_t{1}, size_t{3}})
    enters(rank(job, place), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  EXPECT_TRUE(says(verdict, "rank 2 (pid 100 on h) has not entered allreduce #5")) << verdict.text;
}

// Two of them wait for one another, over two communicators.
TEST(Verdict, FindsThreadsOfOneProcessThatWaitForOneAnother) {
  Job job = job_of(3);
  job.communicators[0].processes = {0, 0, 0};
  job.communicators.push_back(job.communicators[0]);
  Communicator& other = job.communicators[1];
  other.snapshot.ranks.erase(other.snapshot.ranks.begin());
  for (RankSnapshot& one : other.snapshot.ranks) one.global_rank = one.rank;
  enters(rank(job, 1), allreduce(5));
  enters(rank(job, 0), allreduce(5));
  enters(other.snapshot.ranks[1], allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kHangs);
  EXPECT_TRUE(says(verdict, "ranks wait for one another")) << verdict.text;
}

// As in a handler of a signal.
TEST(Verdict, NamesARankThatDoesNotGetOnInACallThatAllHaveEntered) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  rank(job, 0).waits[0].awaited[0] = 1;
  enters(rank(job, 1), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.outcome, Outcome::kWaits);
  EXPECT_TRUE(says(verdict, "rank 1 (pid 101 on h) does not get on in allreduce #5"))
      << verdict.text;
  EXPECT_NE(verdict.advice.find("101"), std::string::npos) << verdict.advice;
}

TEST(Verdict, SaysOnceThatNewcomersAreMissing) {
  Job job = job_of(2);
  for (const size_t place : {size_t{0}, size_t{1}}) {
    Wait wait;
    wait.kind = WaitKind::kMake;
    wait.since_ms = kNowMs - 5000;
    wait.record.count = 3;
    wait.record.detail = static_cast<uint64_t>(Purpose::kGrow);
    rank(job, place).waits.push_back(wait);
  }
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict, "wait for its newcomers, of which there are 1")) << verdict.text;
  EXPECT_NE(verdict.advice.find("newcomers"), std::string::npos) << verdict.advice;
  EXPECT_EQ(verdict.findings.size(), 1u);
}

TEST(Verdict, BlamesTheRankThatIsNotThereWhereACommunicatorIsMade) {
  Job job = job_of(4);
  for (const size_t place : {size_t{0}, size_t{1}}) {
    Wait wait;
    wait.kind = WaitKind::kMake;
    wait.since_ms = kNowMs - 5000;
    wait.record.count = 3;  // rank 3 has no part in it
    wait.record.detail = static_cast<uint64_t>(Purpose::kSplit);
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
  job.communicators[0].snapshot.all_ranks = 2;
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
  job.communicators[0].snapshot.stopped = true;
  job.communicators[0].snapshot.cause = "rank 1 has died";
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kHangs);
  EXPECT_TRUE(says(judge(job, 60), "\"c\" is broken: rank 1 has died"));
}

// The ranks went on in another, where one is late now.
TEST(Verdict, LeavesABrokenCommunicatorBehindAsItsRanksDo) {
  // A tick is a nanosecond.
  const auto at = [](int64_t s) {
    return Moment{.stamp = static_cast<uint64_t>(s) * 1'000'000'000,
                  .monotonic_ns = s * 1'000'000'000,
                  .real_ns = s * 1'000'000'000};
  };
  Job job = job_of(2);
  job.now = at(100);
  job.communicators[0].snapshot.made = at(50);
  for (RankSnapshot& one : job.communicators[0].snapshot.ranks) one.past[0].begun = at(60).stamp;
  job.communicators.push_back(job.communicators[0]);
  job.communicators[0].snapshot.stopped = true;
  job.communicators[0].snapshot.cause = "rank 1 waited";
  EXPECT_TRUE(says(judge(job, 60), "\"c\" is broken")) << judge(job, 60).text;
  enters(job.communicators[1].snapshot.ranks[0], allreduce(5));
  job.communicators[1].snapshot.ranks[0].past.back().begun = at(90).stamp;
  EXPECT_TRUE(says(judge(job, 60), "rank 1 (pid 101 on h) has not entered allreduce #5"))
      << judge(job, 60).text;
}

Finding first_of(const Job& job) {
  const Verdict verdict = judge(job, 60);
  return verdict.findings.empty() ? Finding() : verdict.findings.front();
}

TEST(Verdict, GivesCauseAndRankForPrograms) {
  Job job = job_of(3);
  enters(rank(job, 0), allreduce(5));
  enters(rank(job, 2), allreduce(5));
  rank(job, 1).global_rank = 7;
  job.processes[1].state.letter = 'T';
  EXPECT_EQ(to_string(first_of(job).cause), "stopped");
  EXPECT_EQ(first_of(job).ranks, std::vector<int>{7});
}

TEST(Verdict, SaysOfTheRankInTheOddCallThatItIsThere) {
  Job job = job_of(4);
  // The odd one came first, so that all others seem to be late for its call.
  enters(rank(job, 1), allreduce(5, 9), 6000);
  for (const size_t place : {size_t{2}, size_t{3}}) enters(rank(job, place), allreduce(5));
  const Verdict verdict = judge(job, 60);
  EXPECT_TRUE(says(verdict,
                   "rank 1 (pid 101 on h) is in allreduce #5 (9 float32, sum) instead of "
                   "allreduce #5 (8 float32, sum)"))
      << verdict.text;
  const auto is_mismatch = [](const Finding& one) { return one.cause == Cause::kMismatch; };
  EXPECT_EQ(std::ranges::count_if(verdict.findings, is_mismatch), 1);
  EXPECT_EQ(verdict.findings.front().ranks, std::vector<int>{1});
}

TEST(Verdict, NamesTheRankInAnotherCallThatHasDiedOrIsStopped) {
  for (const char letter : {'X', 'T'}) {
    Job job = job_of(2);
    enters(rank(job, 0), allreduce(5));
    enters(rank(job, 1), allreduce(5, 9));
    rank(job, 1).waits.clear();
    job.processes[1].state = {.letter = letter, .gone = letter == 'X'};
    const Verdict verdict = judge(job, 60);
    EXPECT_TRUE(says(verdict, "rank 1 (pid 101 on h) is in another call than allreduce #5"))
        << verdict.text;
  }
}

TEST(Advice, KnowsWhoHasTheLockOfAFile) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 77 00:1b:12 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 78 00:1b:13 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 79 00:1b:13 0 EOF\n"
      "3: OFDLCK ADVISORY  READ  -1 00:1b:14 0 EOF\n"
      "3: -> POSIX  ADVISORY  WRITE 80 00:1b:14 0 EOF\n"
      "nonsense\n";
  EXPECT_EQ(holder_in(locks, 79), 78);
  EXPECT_EQ(holder_in(locks, 78), 0) << "it waits for none";
  EXPECT_EQ(holder_in(locks, 80), 0) << "a descriptor has it, and no process";
}

TEST(Advice, SaysWhatStopsARankAgainThatReadsInTheBackground) {
  Process process{.pid = 7, .state = {.letter = 'T'}};
  EXPECT_EQ(advice_for_stopped(process), "kill -CONT 7");
  process.state.background = true;
  EXPECT_NE(advice_for_stopped(process).find("fg"), std::string::npos);
}

TEST(Verdict, AsksForMemoryWhereAControlGroupHasNone) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].state = {.letter = 'D', .blocked = BlockedOn::kMemory};
  const Verdict verdict = judge(job, 60);
  EXPECT_EQ(verdict.findings.front().cause, Cause::kMemory);
  EXPECT_TRUE(says(verdict, "it waits for memory: its control group has none left"))
      << verdict.text;
}

TEST(Verdict, TellsWhatASleepingRankWaitsFor) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].state.blocked = BlockedOn::kLock;
  EXPECT_EQ(first_of(job).cause, Cause::kLock);
  EXPECT_TRUE(says(judge(job, 60), "is sleeping (state S), waits for a lock or another thread"))
      << judge(job, 60).text;
}

// Its processor time is that of another thread.
TEST(Verdict, DoesNotTakeCallsOfAnotherThreadForWorkOfTheOneThatIsLate) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].busy = true;
  job.processes[1].spent = 10;
  job.processes[1].state.blocked = BlockedOn::kLock;
  EXPECT_EQ(first_of(job).cause, Cause::kComputes);  // in threads that it waits for
  job.communicators.push_back(job.communicators[0]);
  for (RankSnapshot& one : job.communicators[1].snapshot.ranks) one.waits.clear();
  job.communicators[1].snapshot.ranks[1].moved = true;
  EXPECT_EQ(first_of(job).cause, Cause::kLock);
}

TEST(Verdict, SaysWhereALateRankMakesCallsMeanwhile) {
  Job job = job_of(2);
  enters(rank(job, 0), allreduce(5));
  job.processes[1].busy = true;
  job.communicators.push_back(job.communicators[0]);
  job.communicators[1].snapshot.name = "d";
  for (RankSnapshot& one : job.communicators[1].snapshot.ranks) one.waits.clear();
  job.communicators[1].snapshot.ranks[1].moved = true;
  EXPECT_TRUE(says(judge(job, 60), "it makes calls of \"d\" meanwhile")) << judge(job, 60).text;
}

TEST(Verdict, DoesNotWaitForARankThatWaitsInALaterCall) {
  Job job = job_of(2);
  enters(rank(job, 1), allreduce(5));
  rank(job, 1).waits[0].awaited[0] = 0;  // as its note said when it still looked
  rank(job, 0).past.push_back({.record = allreduce(5)});
  enters(rank(job, 0), allreduce(6), 2000);
  EXPECT_EQ(first_of(job).cause, Cause::kInside) << judge(job, 60).text;
  EXPECT_EQ(first_of(job).ranks, std::vector<int>{1});
}

TEST(Verdict, BlamesTheRankOfManyThatMadeAnotherCall) {
  Job job = job_of(3);
  for (RankSnapshot& one : job.communicators[0].snapshot.ranks) {
    one.past.push_back({.record = allreduce(5, one.rank == 1 ? 9 : 8)});
  }
  job.communicators[0].snapshot.stopped = true;
  EXPECT_EQ(first_of(job).cause, Cause::kMismatch);
  EXPECT_EQ(first_of(job).ranks, std::vector<int>{1});
}

TEST(Verdict, NamesTheRankWhoseEndHasBrokenACommunicator) {
  Job job = job_of(3);
  CommunicatorSnapshot& snapshot = job.communicators[0].snapshot;
  snapshot.stopped = true;
  snapshot.cause_code = static_cast<uint32_t>(Code::kPeerFailed);
  snapshot.ranks[2].left = true;
  EXPECT_EQ(first_of(job).cause, Cause::kDestroyed);
  EXPECT_EQ(first_of(job).ranks, std::vector<int>{2});
  snapshot.ranks[2].left = false;
  snapshot.ranks[2].answers = false;
  EXPECT_EQ(first_of(job).cause, Cause::kDead);
  EXPECT_EQ(first_of(job).ranks, std::vector<int>{2});
}

// Another group of the job gets on.
TEST(Verdict, TellsOfABrokenCommunicatorThoughOthersOfTheJobGoOn) {
  Job job = job_of(2);
  Job others = job_of(2);
  for (Process& process : others.processes) job.processes.push_back(process);
  others.communicators[0].processes = {2, 3};
  others.communicators[0].moved = others.communicators[0].snapshot.ranks[0].moved = true;
  job.communicators.push_back(others.communicators[0]);
  job.communicators[0].snapshot.stopped = true;
  EXPECT_EQ(judge(job, 60).outcome, Outcome::kHangs);
}

TEST(Verdict, SaysThatAMessageWithAnotherTagHasComeWhereRanksWaitForOneAnother) {
  Job job = job_of(2);
  receives(rank(job, 0), 1);
  receives(rank(job, 1), 0);
  EXPECT_EQ(first_of(job).cause, Cause::kCircle);
  rank(job, 0).waits[0].has_told = 1;
  EXPECT_EQ(first_of(job).cause, Cause::kUnmet);
  EXPECT_EQ(first_of(job).ranks, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace tutti::inspect
