// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs on several hosts, which are made of one, looked at from one of these: what is seen of the
// other comes over the control connections, for only the processes of one host share memory.
#include "inspect/far.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "inspect/stuck_job.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::CommandResult;
using tutti_test::run_tutti;
using tutti_test::StuckJob;
using tutti_test::verdict_of;
using tutti_test::why;

bool says(const Json& job, const std::string& text) {
  return verdict_of(job).find(text) != std::string::npos;
}

TEST(WhyOverHosts, NamesARankThatIsStoppedOnAnother) {
  const StuckJob job(4, "stops", "STUCK_HOSTS=aabb");
  const Json told = tutti_test::why_once(job, [](const Json& now) {
    return says(now, "is stopped (state T)") && tutti_test::waits(now, 2);
  });
  EXPECT_EQ(told["verdict"]["outcome"], "hung");
  ASSERT_EQ(told["communicators"].size(), 1u) << told;
  const Json& ranks = told["communicators"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 4u) << told;
  const std::string pid = std::to_string(ranks[3]["pid"].get<int>());
  EXPECT_TRUE(says(told, "rank 3 (pid " + pid)) << told;
  EXPECT_TRUE(says(told, "is stopped (state T)")) << told;
  EXPECT_TRUE(says(told, "its last call was broadcast #4")) << told;
  const auto advice = told["verdict"]["advice"].get<std::string>();
  EXPECT_NE(advice.find(": kill -CONT " + pid), std::string::npos) << advice;
  EXPECT_EQ(ranks[2]["waits"][0]["for_ranks"], Json({3})) << told;
}

TEST(WhyOverHosts, TellsWhatARankOnAnotherDoesInstead) {
  const StuckJob computes(4, "computes", "STUCK_HOSTS=aabb");
  const Json told = why(computes, "waits", "computes outside of Tutti");
  EXPECT_TRUE(says(told, "rank 3 (pid ")) << told;
  EXPECT_TRUE(says(told, "computes outside of Tutti")) << told;
  const StuckJob sleeps(3, "sleeps", "STUCK_HOSTS=aab");
  EXPECT_TRUE(says(why(sleeps, "waits", "it is sleeping"), "rank 2 (pid "));
}

// Nobody else is there to tell of it.
TEST(WhyOverHosts, NamesARankThatDoesNotAnswer) {
  const StuckJob job(3, "stops", "STUCK_HOSTS=aab");
  const Json told = why(job, "waits", "does not answer");
  EXPECT_TRUE(says(told, "rank 2 (pid ")) << told;
  EXPECT_TRUE(says(told, "does not answer, and has not been heard of for ")) << told;
  const Json& rank = told["communicators"][0]["ranks"][2];
  EXPECT_TRUE(rank.contains("silent_s")) << told;
  EXPECT_NE(told["verdict"]["advice"].get<std::string>().find(
                ": tutti why " + std::to_string(rank["pid"].get<int>())),
            std::string::npos)
      << told;
}

TEST(WhyOverHosts, FollowsWaitsThroughCommunicatorsOfAnother) {
  const StuckJob job(4, "in-group", "STUCK_HOSTS=abbb");
  const Json told = why(job, "waits", "of \"half\"");
  EXPECT_TRUE(says(told, "rank 1 (global rank 3")) << told;
  EXPECT_TRUE(says(told, "of \"half\"")) << told;
}

TEST(WhyOverHosts, FindsRanksOfTwoHostsThatWaitForOneAnother) {
  const StuckJob job(2, "crossed", "STUCK_HOSTS=ab");
  const std::string circle = "ranks wait for one another";
  EXPECT_TRUE(says(why(job, "hung", circle), circle));
}

TEST(WhyOverHosts, LooksAtThisOneAloneIfAskedTo) {
  const StuckJob job(4, "sleeps", "STUCK_HOSTS=aabb");
  (void)why(job, "waits", "has not entered");
  const CommandResult result = run_tutti("why --here --json --job " + job.name());
  const Json told = Json::parse(result.output, nullptr, false);
  ASSERT_EQ(told["jobs"].size(), 2u) << told;
  for (const Json& one : told["jobs"]) EXPECT_EQ(one["communicators"][0]["ranks"].size(), 2u);
}

// Ranks 0 and 1 know their neighbour only, which waits itself.
TEST(WarningOverHosts, NamesTheRankThatHasNotEntered) {
  const StuckJob job(4, "sleeps", "STUCK_HOSTS=aabb TUTTI_WARN_AFTER_MS=600");
  const std::string text = job.output_until("rank 0 has waited");
  EXPECT_NE(text.find("rank 3 (pid "), std::string::npos) << text;
  EXPECT_NE(text.find("has not entered the call; its last was broadcast #4"), std::string::npos)
      << text;
}

TEST(TopOverHosts, CountsTheCallsOfAllRanks) {
  const StuckJob job(4, "goes-on", "STUCK_HOSTS=aabb");
  const CommandResult result = run_tutti("top --once --json --interval 0.5 --job " + job.name());
  const Json told = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(told.is_object()) << result.output;
  ASSERT_EQ(told["communicators"].size(), 1u) << told;
  const Json& ranks = told["communicators"][0]["ranks"];
  ASSERT_EQ(ranks.size(), 4u) << told;
  for (const Json& rank : ranks) EXPECT_GT(rank["calls"].get<int>(), 4) << told;
}

TEST(TraceOverHosts, HasTheCallsOfAllRanksOnOneClock) {
  const StuckJob job(4, "sleeps", "STUCK_HOSTS=aabb");
  (void)why(job, "waits", "has not entered");
  const Json trace = Json::parse(run_tutti("trace --job " + job.name()).output, nullptr, false);
  ASSERT_TRUE(trace.is_object());
  std::map<int, double> begun;  // of broadcast #4, which none enters before all have made #3
  std::map<int, double> before;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const int sequence = event["args"]["sequence"];
    if (sequence == 4) begun[event["args"]["rank"]] = event["ts"];
    if (sequence == 3) before[event["args"]["rank"]] = event["ts"];
  }
  ASSERT_EQ(begun.size(), 4u) << trace;
  // One machine has one clock: an answer that takes a second would be off by half of one.
  for (const auto& [rank, ts] : begun) {
    for (const auto& [other, earlier] : before) EXPECT_GT(ts, earlier - 1000) << rank << other;
  }
}

}  // namespace

namespace tutti::inspect {
namespace {

constexpr int64_t kMs = 1'000'000;

Page a_page() {
  Page page;
  page.about.name = "c";
  page.about.host = "n2";
  page.about.key = 7;
  page.about.all_ranks = 4;
  page.about.made = {.stamp = 1, .monotonic_ns = 1, .real_ns = 1};
  page.now = {.stamp = 5'000'000, .monotonic_ns = 5 * kMs, .real_ns = 900 * kMs};
  page.rank.rank = 3;
  page.rank.pid = 77;
  page.rank.present = true;
  for (uint64_t sequence = 1; sequence <= 70; ++sequence) {
    PastCall call;
    call.record.sequence = sequence;
    call.begun = sequence;
    page.rank.past.push_back(call);
  }
  Wait wait;
  wait.kind = WaitKind::kCall;
  wait.since_ms = 4;
  page.rank.waits.push_back(wait);
  page.state = {.letter = 'S', .frozen = true, .cpu_ticks = 12, .started = 34};
  page.program = "python3";
  return page;
}

TEST(Page, TellsOnAnotherHostWhatItWasMadeOf) {
  const auto page = page_in(to_bytes(a_page(), 16));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->about.name, "c");
  EXPECT_EQ(page->about.host, "n2");
  EXPECT_EQ(page->rank.host, "n2");
  EXPECT_EQ(page->rank.rank, 3);
  EXPECT_EQ(page->rank.past.size(), 16u);
  EXPECT_EQ(page->rank.last_sequence(), 70u);
  ASSERT_EQ(page->rank.waits.size(), 1u);
  EXPECT_EQ(page->rank.waits[0].since_ms, 4);
  EXPECT_TRUE(page->state.stopped());
  EXPECT_EQ(page->program, "python3");
}

TEST(Page, TakesNonsenseForNonsense) {
  const std::vector<std::byte> sound = to_bytes(a_page(), 64);
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes = sound;
    const size_t reach = round % 2 == 0 ? 256 : bytes.size();
    for (size_t hits = 1 + random() % 16; hits > 0; --hits) {
      bytes[random() % reach] = static_cast<std::byte>(random());
    }
    if (round % 5 == 0) bytes.resize(random() % bytes.size());
    const auto page = page_in(bytes);
    if (!page) {
      ++refused;
      continue;
    }
    EXPECT_LE(page->rank.past.size(), 64u);
    const FarClock clock({.page = *page, .asked_ns = 100, .came_ns = 200}, moment_now());
    for (const Wait& wait : page->rank.waits) (void)clock.monotonic_ns(wait.since_ms * kMs);
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 3000);
}

TEST(FarClock, BelievesTheTimeOfDayWhereItFitsBetweenQuestionAndAnswer) {
  // Here it is 1000 ms after midnight when the monotonic clock shows 200 ms.
  const Moment now{.stamp = 0, .monotonic_ns = 200 * kMs, .real_ns = 1000 * kMs};
  const Page page = a_page();  // written at 900 ms, which is 100 ms here
  const FarClock fits({.page = page, .asked_ns = 90 * kMs, .came_ns = 120 * kMs}, now);
  EXPECT_EQ(fits.monotonic_ns(page.now.monotonic_ns), 100 * kMs);
  const FarClock wrong({.page = page, .asked_ns = 150 * kMs, .came_ns = 160 * kMs}, now);
  EXPECT_EQ(wrong.monotonic_ns(page.now.monotonic_ns), 155 * kMs);
}

}  // namespace
}  // namespace tutti::inspect
