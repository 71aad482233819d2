// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs that are made up, and what costs them most.
#include "inspect/slow.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "core/fields.hpp"
#include "core/types.hpp"

namespace tutti::inspect {
namespace {

constexpr int64_t kMs = 1'000'000;

// A tick is a nanosecond.
Moment at(int64_t ns) {
  return {.stamp = static_cast<uint64_t>(ns), .monotonic_ns = ns, .real_ns = ns};
}

PastCall call(uint64_t sequence, int64_t begun_ns) {
  PastCall call;
  call.record.sequence = sequence;
  call.record.count = 8;
  call.record.root = -1;
  call.record.collective = static_cast<uint8_t>(Collective::kAllreduce);
  call.record.type = static_cast<uint8_t>(DataType::kFloat32);
  call.begun = static_cast<uint64_t>(begun_ns);
  return call;
}

// Each rank makes a call every 10 ms, and `late` comes late by so much.
Job job_of(int ranks, int late, int64_t by_ns, uint64_t first = 1, uint64_t calls = 20) {
  Job job;
  job.now = at(10'000 * kMs);
  Communicator communicator;
  communicator.moved = true;
  communicator.snapshot.name = "c";
  communicator.snapshot.host = "h";
  communicator.snapshot.all_ranks = ranks;
  communicator.snapshot.made = at(0);
  for (int r = 0; r < ranks; ++r) {
    RankSnapshot rank;
    rank.place = rank.rank = r;
    rank.pid = 100 + r;
    rank.present = true;
    for (uint64_t n = first; n < first + calls; ++n) {
      rank.past.push_back(
          call(n, static_cast<int64_t>(n) * 10 * kMs + (r == late ? by_ns : r * 1000)));
    }
    communicator.snapshot.ranks.push_back(std::move(rank));
    communicator.processes.push_back(r);
    job.processes.push_back({.pid = 100 + r, .own_pid = 100 + r, .state = {.letter = 'S'}});
  }
  job.communicators.push_back(std::move(communicator));
  return job;
}

Usage usage(double runs, double delayed) {
  Usage usage;
  usage.known = true;
  usage.runs = runs;
  usage.delayed = delayed;
  return usage;
}

Finding first_of(const Job& job, const std::vector<Usage>& usages) {
  const Verdict verdict = judge_slow(job, usages, 0.5);
  return verdict.findings.empty() ? Finding{.cause = Cause::kQuiet, .text = "", .advice = ""}
                                  : verdict.findings.front();
}

TEST(Slow, NamesTheRankThatComesLastAndByHowMuch) {
  const Job job = job_of(3, 1, 5 * kMs);
  const Verdict verdict = judge_slow(job, {usage(0.5, 0), usage(1, 0), usage(0.5, 0)}, 0.5);
  EXPECT_EQ(verdict.outcome, Outcome::kSlow);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<int>{1});
  EXPECT_NE(verdict.text.find("rank 1 (pid 101 on h) enters 19 of the last 19 calls of \"c\" last, "
                              "by 5.0 ms"),
            std::string::npos)
      << verdict.text;
}

TEST(Slow, SaysNothingWhereNobodyIsLate) {
  const Verdict verdict =
      judge_slow(job_of(3, 1, 1000), {usage(1, 0), usage(1, 0), usage(1, 0)}, 0.5);
  EXPECT_EQ(verdict.outcome, Outcome::kGoesOn);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(Slow, TellsWhyARankIsLateByWhatTheSystemGivesIt) {
  const Job job = job_of(2, 1, 5 * kMs);
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(0.9, 0)}).cause, Cause::kComputes);
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(0.3, 0.6)}).cause, Cause::kShared);
  Usage throttled = usage(0.2, 0.6);
  throttled.throttled = 0.6;
  EXPECT_EQ(first_of(job, {usage(1, 0), throttled}).cause, Cause::kThrottled);
  Usage stopped = usage(0.1, 0);
  stopped.stopped = 0.5;
  EXPECT_EQ(first_of(job, {usage(1, 0), stopped}).cause, Cause::kStopped);
  Usage reads = usage(0.1, 0);
  reads.blocked[static_cast<size_t>(BlockedOn::kFile)] = 9;
  reads.blocked[static_cast<size_t>(BlockedOn::kLock)] = 2;
  EXPECT_EQ(first_of(job, {usage(1, 0), reads}).cause, Cause::kFile);
  Usage waits = usage(0.5, 0);
  waits.device = 0.3;
  EXPECT_EQ(first_of(job, {usage(1, 0), waits}).cause, Cause::kDevice);
  waits.faults = 200;
  EXPECT_EQ(first_of(job, {usage(1, 0), waits}).cause, Cause::kMemory);
}

// All ranks enter at once, and say that their calls took 8 of 10 ms.
Job job_of_long_calls() {
  Job job = job_of(2, 1, 1000);
  for (RankSnapshot& rank : job.communicators[0].snapshot.ranks) {
    for (PastCall& call : rank.past) call.ended = call.begun + static_cast<uint64_t>(8 * kMs);
  }
  return job;
}

TEST(Slow, BlamesTheLineThatIsBusyWhileTheRanksAreInTheirCalls) {
  Job job = job_of_long_calls();
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(1, 0)}).cause, Cause::kCalls);
  Usage sends = usage(1, 0);
  sends.line = {.peer = "10.0.0.2", .bytes = 1 << 20, .segments = 100, .sent_again = 5};
  sends.line_busy = 0.9;
  // What a process sends elsewhere holds up no call within its host.
  EXPECT_EQ(first_of(job, {usage(1, 0), sends}).cause, Cause::kCalls);
  job.communicators[0].snapshot.ranks[0].host = "other";
  const Finding finding = first_of(job, {usage(1, 0), sends});
  EXPECT_EQ(finding.cause, Cause::kLine);
  EXPECT_TRUE(finding.ranks.empty());
  EXPECT_NE(finding.text.find("the line of pid 101 to 10.0.0.2 is busy for 90 % of it: 2.1 MB/s, "
                              "5.0 % of its segments are sent again"),
            std::string::npos)
      << finding.text;
  // A rank that is late by itself is what the others wait for.
  Job late = job_of(2, 1, 5 * kMs);
  late.communicators[0].snapshot.ranks[0].host = "other";
  EXPECT_NE(first_of(late, {usage(1, 0), sends}).cause, Cause::kLine);
}

TEST(Slow, BlamesAnAlgorithmThatAVariableDemandsWhereItIsExpectedToCostMost) {
  Job job = job_of_long_calls();
  Demand demand;
  demand.call = job.communicators[0].snapshot.ranks[0].past[0].record;
  demand.seconds = 8e-3;
  demand.best_seconds = 2e-3;
  put_text(demand.variable, "CCL_ALLREDUCE");
  put_text(demand.algorithm, "tree");
  put_text(demand.best, "two_shot");
  std::optional<Demand>& noted = job.communicators[0].snapshot.ranks[0].demand;
  noted = demand;
  const std::vector<Usage> usages = {usage(1, 0), usage(1, 0)};
  EXPECT_EQ(first_of(job, usages).cause, Cause::kAlgorithm);
  EXPECT_NE(
      first_of(job, usages)
          .text.find(
              "CCL_ALLREDUCE demands tree for it, which is expected to take 4.0 times as long as "
              "two_shot"),
      std::string::npos)
      << first_of(job, usages).text;
  noted->best_seconds = 5.5e-3;  // within what the model errs
  EXPECT_EQ(first_of(job, usages).cause, Cause::kCalls);
  noted = demand;
  noted->call.count += 1;  // other calls than those that are made
  EXPECT_EQ(first_of(job, usages).cause, Cause::kCalls);
}

TEST(Slow, TellsOfShortCallsThatWaitBehindLongOnes) {
  Job job = job_of_long_calls();
  RankSnapshot& rank = job.communicators[0].snapshot.ranks[1];
  rank.jam_since = {.calls = 10, .ms = 400, .in_ms = 400, .last = rank.past.back().record};
  const Finding finding = first_of(job, {usage(1, 0), usage(1, 0)});
  EXPECT_EQ(finding.cause, Cause::kJam);
  EXPECT_TRUE(finding.ranks.empty());
  EXPECT_NE(finding.text.find("10 calls of \"c\" were started behind much longer ones, and waited "
                              "40 ms each for these; the last was allreduce #20 (8 float32, sum), "
                              "behind allreduce #19 (8 float32, sum)"),
            std::string::npos)
      << finding.text;
  rank.jam_since.in_ms = 40;  // all at once
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(1, 0)}).cause, Cause::kCalls);
}

TEST(Slow, BlamesTheLateRankForWhichCallsAreLongAndOthersWaitBehindThem) {
  Job job = job_of(2, 1, 5 * kMs);
  for (RankSnapshot& rank : job.communicators[0].snapshot.ranks) {
    for (PastCall& call : rank.past) call.ended = call.begun + static_cast<uint64_t>(8 * kMs);
  }
  RankSnapshot& rank = job.communicators[0].snapshot.ranks[0];
  rank.jam_since = {.calls = 10, .ms = 400, .in_ms = 400, .last = rank.past.back().record};
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(1, 0)}).ranks, std::vector<int>{1});
}

TEST(Lines, TellWhatAConnectionOfAProcessHasSent) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listener, any, sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, any, &length), 0);
  ASSERT_EQ(connect(client, any, sizeof address), 0);
  const std::vector<char> bytes(1000);
  EXPECT_EQ(send(client, bytes.data(), bytes.size(), 0), 1000);
  const Lines lines = lines_of_host();
  uint64_t most = 0;
  for (const uint64_t inode : sockets_of(getpid())) {
    const auto line = lines.find(inode);
    if (line == lines.end()) continue;
    EXPECT_EQ(line->second.peer, "127.0.0.1");
    most = std::max(most, line->second.bytes);
  }
  close(client);
  close(listener);
  if (lines.empty()) GTEST_SKIP() << "this system does not tell of connections";
  EXPECT_EQ(most, 1000u);
}

TEST(Slow, DoesNotBlameTheCoreWhereAllAreWithoutOneAsOften) {
  const Job job = job_of(2, 1, 5 * kMs);
  EXPECT_EQ(first_of(job, {usage(0.3, 0.6), usage(0.3, 0.6)}).cause, Cause::kComputes);
}

TEST(Slow, BlamesTheCoreOfARankThatMayUseFewerThanTheOthers) {
  std::vector<Usage> usages = {usage(0.3, 0.6), usage(0.3, 0.6)};
  usages[0].cores = 4;
  usages[1].cores = 1;
  EXPECT_EQ(first_of(job_of(2, 1, 5 * kMs), usages).cause, Cause::kShared);
}

TEST(Slow, JudgesARankOnAnotherHostByItsProcessorTime) {
  Job job = job_of(2, 1, 5 * kMs);
  job.processes[1].state.blocked = BlockedOn::kFile;
  EXPECT_EQ(first_of(job, {usage(1, 0), Usage()}).cause, Cause::kFile);
  // It was in no call for a moment when it was looked at again.
  job.processes[1].take({.letter = 'R'});
  EXPECT_EQ(first_of(job, {usage(1, 0), Usage()}).cause, Cause::kFile);
  // Its processor time has moved, though not for long: what it waited for once is not its cause.
  job.processes[1].take({.letter = 'R', .cpu_ticks = 1});
  EXPECT_EQ(first_of(job, {usage(1, 0), Usage()}).cause, Cause::kComputes);
  job.processes[1].spent = 1000;
  EXPECT_EQ(first_of(job, {usage(1, 0), Usage()}).cause, Cause::kComputes);
}

TEST(Slow, SaysThatCoresAreShortWhereEachRankIsLateInTurn) {
  Job job = job_of(2, 1, 5 * kMs);
  // Every second call the other comes late.
  for (size_t i = 0; i < job.communicators[0].snapshot.ranks[0].past.size(); i += 2) {
    job.communicators[0].snapshot.ranks[0].past[i].begun += static_cast<uint64_t>(9 * kMs);
  }
  const std::vector<Usage> short_of_cores = {usage(0.4, 0.5), usage(0.4, 0.5)};
  EXPECT_EQ(first_of(job, short_of_cores).cause, Cause::kCores);
  const Finding uneven = first_of(job, {usage(1, 0), usage(1, 0)});
  EXPECT_EQ(uneven.cause, Cause::kUneven) << uneven.text;
  EXPECT_TRUE(uneven.ranks.empty()) << "nobody is to blame";
}

TEST(Slow, BlamesTheRanksThatAreLateAlthoughOthersComeLastByLittle) {
  // Of 16 calls ranks 0 and 1 are late for 5 each, and 2, 3 come last in the others.
  Job job = job_of(4, 0, 0, 1, 17);
  for (RankSnapshot& rank : job.communicators[0].snapshot.ranks) {
    for (PastCall& call : rank.past) {
      const uint64_t kind = call.record.sequence % 16;
      const int last = kind < 5 ? 0 : kind < 10 ? 1 : kind < 13 ? 2 : 3;
      const int64_t late_ns = rank.rank != last ? 0 : last < 2 ? 5 * kMs : kMs / 10;
      call.begun = call.record.sequence * 10 * kMs + static_cast<uint64_t>(late_ns);
    }
  }
  const Verdict verdict = judge_slow(job, std::vector<Usage>(4, usage(1, 0)), 0.5);
  ASSERT_EQ(verdict.findings.size(), 2u) << verdict.text;
  for (const Finding& finding : verdict.findings) EXPECT_EQ(finding.cause, Cause::kComputes);
}

TEST(Slow, CountsNoReadsOfARankThatLacksMemoryOnAnotherHost) {
  Job job = job_of(2, 1, 5 * kMs);
  job.processes[1].state.blocked = BlockedOn::kMemory;
  const Finding finding = first_of(job, {usage(1, 0), Usage()});
  EXPECT_EQ(finding.cause, Cause::kMemory);
  EXPECT_NE(finding.because.find("its control group has none left"), std::string::npos)
      << finding.because;
}

// Ranks of two hosts that come late in turn, for what was lost comes late.
Job job_late_in_turn_over_hosts() {
  Job job = job_of(2, 1, 5 * kMs);
  for (size_t i = 0; i < job.communicators[0].snapshot.ranks[0].past.size(); i += 2) {
    job.communicators[0].snapshot.ranks[0].past[i].begun += static_cast<uint64_t>(9 * kMs);
  }
  job.communicators[0].snapshot.ranks[0].host = "other";
  return job;
}

Usage usage_with_line(uint64_t segments, uint64_t sent_again) {
  Usage sends = usage(1, 0);
  sends.line = {.peer = fmt::format("10.0.0.{}", segments),
                .bytes = 1 << 14,
                .segments = segments,
                .sent_again = sent_again};
  return sends;
}

TEST(Slow, BlamesTheLineThatLosesTheLargestShareAndNotTheOneThatCarriesMost) {
  const Job job = job_late_in_turn_over_hosts();
  const Finding finding = first_of(job, {usage_with_line(100'000, 30), usage_with_line(200, 6)});
  EXPECT_EQ(finding.cause, Cause::kLine) << "the one with the most resent segments loses few";
  EXPECT_NE(finding.text.find("to 10.0.0.200 "), std::string::npos) << finding.text;
}

TEST(Slow, TakesNoLineForALossyOneThatSendsAgainWhatHasArrived) {
  const Job job = job_late_in_turn_over_hosts();
  Usage sends = usage_with_line(100, 2);
  EXPECT_EQ(first_of(job, {usage(1, 0), sends}).cause, Cause::kLine);
  sends.line.needless = 2;
  EXPECT_EQ(first_of(job, {usage(1, 0), sends}).cause, Cause::kUneven);
}

TEST(Slow, BlamesALossyLineAlsoWhereCoresAreShort) {
  const Job job = job_late_in_turn_over_hosts();
  Usage sends = usage_with_line(100, 2);
  sends.runs = 0.4;
  sends.delayed = 0.5;
  EXPECT_EQ(first_of(job, {usage(0.4, 0.5), sends}).cause, Cause::kLine);
  sends.line = {};
  EXPECT_EQ(first_of(job, {usage(0.4, 0.5), sends}).cause, Cause::kCores);
}

TEST(Slow, BlamesALossyLineWhereNoRankIsLateInLongCalls) {
  Job job = job_of_long_calls();
  job.communicators[0].snapshot.ranks[0].host = "other";
  EXPECT_EQ(first_of(job, {usage(1, 0), usage_with_line(100, 2)}).cause, Cause::kLine);
  EXPECT_EQ(first_of(job, {usage(1, 0), usage_with_line(1000, 2)}).cause, Cause::kCalls);
}

TEST(Slow, BlamesALineThatLosesSegmentsWhereEachRankIsLateInTurn) {
  const Job job = job_late_in_turn_over_hosts();
  EXPECT_EQ(first_of(job, {usage(1, 0), usage_with_line(100, 2)}).cause, Cause::kLine);
  EXPECT_EQ(first_of(job, {usage(1, 0), usage_with_line(1000, 2)}).cause, Cause::kUneven);
}

TEST(Slow, TakesNoLineForALossyOneThatHasLostOneSegment) {
  const Job job = job_late_in_turn_over_hosts();
  EXPECT_EQ(first_of(job, {usage(1, 0), usage_with_line(10, 1)}).cause, Cause::kUneven);
  // A larger share of fewer hides no line that loses many.
  const Finding finding = first_of(job, {usage_with_line(10, 1), usage_with_line(200, 6)});
  EXPECT_EQ(finding.cause, Cause::kLine) << finding.text;
}

// Only one direction of the line loses, so that the same rank waits for what was lost each time.
TEST(Slow, BlamesALossyLineWhereOneRankIsLateForItWasKeptInTheCallBefore) {
  Job job = job_of(2, 1, 5 * kMs);
  job.communicators[0].snapshot.ranks[0].host = "other";
  const std::vector<Usage> usages = {usage(1, 0), usage_with_line(100, 2)};
  EXPECT_EQ(first_of(job, usages).cause, Cause::kComputes) << "late by itself";
  for (PastCall& call : job.communicators[0].snapshot.ranks[1].past) {
    call.ended = call.begun + static_cast<uint64_t>(9 * kMs);
  }
  EXPECT_EQ(first_of(job, usages).cause, Cause::kLine);
  EXPECT_EQ(first_of(job, {usage(1, 0), usage(1, 0)}).cause, Cause::kComputes);
}

TEST(Slow, TellsARankThatIsTracedFromOneThatGetsSignals) {
  Usage traced = usage(0.1, 0);
  traced.stopped = traced.traced = 0.5;
  EXPECT_EQ(first_of(job_of(2, 1, 5 * kMs), {usage(1, 0), traced}).cause, Cause::kDebugged);
}

TEST(Slow, CountsCallsOfEarlierLooksOnce) {
  const Job earlier = job_of(2, 1, 5 * kMs, 1, 20);
  Job job = job_of(2, 1, 5 * kMs, 11, 20);
  remember(earlier, job);
  const Costs costs = costs_of(job.communicators[0].snapshot, job);
  EXPECT_EQ(costs.calls, 29);  // of 30 the first is known to follow none
  EXPECT_EQ(costs.ranks[1].calls, 29);
}

}  // namespace
}  // namespace tutti::inspect
