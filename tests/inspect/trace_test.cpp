// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Traces and rates of communicators that are made up: the stamp is the count of nanoseconds.
#include "inspect/trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/types.hpp"
#include "inspect/rates.hpp"

namespace tutti::inspect {
namespace {

using Json = nlohmann::json;

constexpr int64_t kS = 1'000'000'000;
constexpr Moment kMade{.stamp = 1, .monotonic_ns = 1, .real_ns = 1};
constexpr Moment kNow{.stamp = 100 * kS, .monotonic_ns = 100 * kS, .real_ns = 100 * kS};

PastCall call_at(uint64_t sequence, uint64_t begun, uint64_t ended = 0) {
  PastCall call;
  call.record.sequence = sequence;
  call.record.count = 1000;
  call.record.root = -1;
  call.record.collective = static_cast<uint8_t>(Collective::kAllreduce);
  call.record.type = static_cast<uint8_t>(DataType::kFloat32);
  call.begun = begun;
  call.ended = ended;
  return call;
}

// Of two ranks; rank 1 enters every call a quarter of a second after rank 0.
CommunicatorSnapshot two_ranks() {
  CommunicatorSnapshot snapshot;
  snapshot.name = "c";
  snapshot.host = "h";
  snapshot.all_ranks = 2;
  snapshot.made = kMade;
  for (int r = 0; r < 2; ++r) {
    RankSnapshot rank;
    rank.place = rank.rank = r;
    rank.pid = 100 + r;
    rank.present = true;
    for (uint64_t n = 0; n < 4; ++n) {
      const uint64_t begun = (96 + n) * kS + static_cast<uint64_t>(r) * kS / 4;
      rank.past.push_back(call_at(n + 1, begun, n == 2 ? begun + kS / 2 : 0));
    }
    snapshot.ranks.push_back(rank);
  }
  return snapshot;
}

double seconds_of(const CallSpan& span) {
  return static_cast<double>(span.end_ns - span.begin_ns) / kS;
}

TEST(Trace, ACallEndsWhenItsRankSaysSoOrElseWhenTheLastRankEnters) {
  const CommunicatorSnapshot snapshot = two_ranks();
  const StampClock clock(kMade, kNow);
  const auto span = [&](int rank, size_t index) {
    return span_of(snapshot, snapshot.ranks[static_cast<size_t>(rank)], index, clock, kNow.real_ns);
  };
  EXPECT_NEAR(seconds_of(span(0, 0)), 0.25, 1e-3);
  EXPECT_EQ(span(0, 0).end, CallSpan::End::kEstimated);
  EXPECT_NEAR(seconds_of(span(1, 0)), 0, 1e-3);
  EXPECT_NEAR(seconds_of(span(0, 2)), 0.5, 1e-3);
  EXPECT_EQ(span(0, 2).end, CallSpan::End::kMeasured);
}

TEST(Trace, ACallThatARankWaitsInHasNotEnded) {
  CommunicatorSnapshot snapshot = two_ranks();
  snapshot.ranks[1].past.pop_back();
  Wait wait;
  wait.kind = WaitKind::kCall;
  wait.record = snapshot.ranks[0].past[3].record;
  snapshot.ranks[0].waits.push_back(wait);
  const CallSpan span =
      span_of(snapshot, snapshot.ranks[0], 3, StampClock(kMade, kNow), kNow.real_ns);
  EXPECT_EQ(span.end, CallSpan::End::kOpen);
  EXPECT_NEAR(seconds_of(span), 1, 1e-3);
}

TEST(Trace, HasAProcessForEachRankAndATrackForEachCommunicator) {
  const CommunicatorSnapshot one = two_ranks();
  CommunicatorSnapshot two = one;
  two.name = "d";
  const Json trace = Json::parse(trace_of({{one}, {two}}, kNow));
  std::set<std::pair<int, int>> tracks;
  std::set<std::string> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      tracks.emplace(event["pid"], event["tid"]);
      EXPECT_GE(event["dur"].get<double>(), 0);
    } else {
      names.insert(event["args"]["name"].get<std::string>());
    }
  }
  // Behind all numbers of threads, which other profilers use.
  constexpr int kFirst = 1 << 22;
  EXPECT_EQ(tracks, (std::set<std::pair<int, int>>{
                        {100, kFirst}, {100, kFirst + 1}, {101, kFirst}, {101, kFirst + 1}}));
  EXPECT_TRUE(names.contains("rank 1 (pid 101 on h)") && names.contains("d"));
  const Json of_one = Json::parse(trace_of({{one}}, kNow, 101));
  for (const Json& event : of_one["traceEvents"]) {
    EXPECT_EQ(event["pid"], 101);
  }
}

TEST(Trace, HasTheStepsOfACallWithinIt) {
  const CommunicatorSnapshot snapshot = two_ranks();
  // The first is made before the call is entered, as one that fills the rank's slot.
  const uint64_t begun = snapshot.ranks[0].past[1].begun - 100;
  StepsOf worker{.rank = 0};
  worker.steps.push_back({.sequence = 2, .begun = begun, .ended = begun + 300, .bytes = 8});
  worker.steps.push_back({.sequence = 2,
                          .begun = begun + 300,
                          .ended = begun + 2 * static_cast<uint64_t>(kS),
                          .peer = 1,
                          .kind = StepKind::kAwait});
  const Json trace = Json::parse(trace_of({{snapshot, {worker}}}, kNow));
  std::vector<Json> steps;
  Json call;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["cat"] == "tutti.step") steps.push_back(event);
    if (event["cat"] == "tutti" && event["pid"] == 100 && event["args"]["sequence"] == 2)
      call = event;
  }
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0]["name"], "copy 8 bytes");
  EXPECT_EQ(steps[1]["name"], "await rank 1");
  const auto ends = [](const Json& event) {
    return event["ts"].get<double>() + event["dur"].get<double>();
  };
  for (const Json& step : steps) {
    EXPECT_EQ(step["tid"], call["tid"]);
    EXPECT_GE(step["ts"].get<double>(), call["ts"].get<double>());
    EXPECT_LE(ends(step), ends(call) + 1e-3);
  }
}

TEST(Trace, HasTheNanosecondsOfOurTime) {
  const CommunicatorSnapshot snapshot = two_ranks();
  Moment now = kNow;
  now.real_ns = 1'795'865'592'581'803'521;
  StepsOf worker{.rank = 0};
  constexpr uint64_t kTicks = 7;
  for (uint64_t begun = snapshot.ranks[0].past[1].begun; worker.steps.size() < 100;
       begun += kTicks) {
    worker.steps.push_back({.sequence = 2, .begun = begun, .ended = begun + kTicks, .bytes = 8});
  }
  const Json trace = Json::parse(trace_of({{snapshot, {worker}}}, now));
  std::vector<Json> steps;
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "tutti.step") steps.push_back(event);
  }
  ASSERT_EQ(steps.size(), 100u);
  for (size_t i = 1; i < steps.size(); ++i) {
    const double end = steps[i - 1]["ts"].get<double>() + steps[i - 1]["dur"].get<double>();
    EXPECT_NEAR(end, steps[i]["ts"].get<double>(), 2e-3);
  }
  const double since_base =
      static_cast<double>(now.real_ns - trace["baseTimeNanoseconds"].get<int64_t>());
  EXPECT_LT(steps[0]["ts"].get<double>() * 1000, since_base);
  EXPECT_GT(steps[0]["ts"].get<double>(), 0);
}

TEST(Trace, KeepsProcessesOfSeveralHostsApart) {
  CommunicatorSnapshot snapshot = two_ranks();
  snapshot.ranks[1].pid = 100;
  snapshot.ranks[1].host = "n2";
  const Json trace = Json::parse(trace_of({{snapshot}}, kNow));
  std::map<std::string, std::set<int>> pids;  // by host
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name")
      pids[event["args"]["host"]].insert(event["pid"].get<int>());
  }
  EXPECT_EQ(pids["h"], std::set<int>{100});
  ASSERT_EQ(pids["n2"].size(), 1u);
  EXPECT_FALSE(pids["n2"].contains(100));
}

TEST(Rates, TellWhoKeepsWhomWaiting) {
  Job job;
  job.now = kNow;
  const CommunicatorSnapshot now = two_ranks();
  CommunicatorSnapshot before = now;
  for (RankSnapshot& rank : before.ranks) rank.past.resize(2);
  const std::vector<RankRates> rates = rates_of(before, now, 2, job);
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_DOUBLE_EQ(rates[0].calls_per_s, 1);
  EXPECT_DOUBLE_EQ(rates[0].bytes_per_s, 4000);
  EXPECT_NEAR(rates[0].waiting, 0.25, 0.01);
  EXPECT_NEAR(rates[0].in_calls, 0.375, 0.01);
  EXPECT_EQ(rates[0].awaits, 1);
  EXPECT_DOUBLE_EQ(rates[1].last_in, 1);
  EXPECT_EQ(rates[1].awaits, -1);
  ASSERT_NE(slowest_of(rates), nullptr);
  EXPECT_EQ(slowest_of(rates)->rank, 1);
}

}  // namespace
}  // namespace tutti::inspect
