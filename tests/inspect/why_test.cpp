// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs that are stuck, looked at from outside, as a user would.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "inspect/stuck_job.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::CommandResult;
using tutti_test::run_tutti;
using tutti_test::StuckJob;

// What is told of a job, once it is what it is to be.
Json why(const StuckJob& job, const std::string& outcome) {
  Json told;
  tutti_test::eventually([&] {
    const CommandResult result = run_tutti("why --json --job " + job.name());
    told = Json::parse(result.output, nullptr, false);
    if (!told.is_object() || told["jobs"].size() != 1) return false;
    EXPECT_EQ(told["status"], result.exit_status);
    return told["jobs"][0]["verdict"]["outcome"] == outcome;
  });
  EXPECT_TRUE(told.is_object()) << "nothing was told that can be read";
  return told.is_object() ? told["jobs"][0] : Json();
}

std::string verdict_of(const Json& job) { return job["verdict"]["text"].get<std::string>(); }

TEST(Why, NamesARankThatIsStoppedAndHowToLetItGoOn) {
  const StuckJob job(3, "stops");
  const Json told = why(job, "hung");
  EXPECT_NE(verdict_of(told).find("rank 2 (pid "), std::string::npos) << told;
  EXPECT_NE(verdict_of(told).find("has not entered allreduce #5 (2 float32, max) of \"world\""),
            std::string::npos)
      << told;
  EXPECT_NE(verdict_of(told).find("is stopped (state T)"), std::string::npos) << told;
  const auto pid = told["communicators"][0]["ranks"][2]["pid"].get<int>();
  EXPECT_EQ(told["verdict"]["advice"], "kill -CONT " + std::to_string(pid));
  EXPECT_EQ(told["communicators"][0]["ranks"][0]["waits"][0]["for_ranks"], Json({2}));
}

TEST(Why, TellsASleepingRankFromOneThatComputes) {
  const StuckJob sleeps(2, "sleeps");
  EXPECT_NE(verdict_of(why(sleeps, "waits")).find("is sleeping"), std::string::npos);
  const StuckJob computes(2, "computes");
  Json told;
  tutti_test::eventually([&] {
    told = why(computes, "waits");
    return verdict_of(told).find("computes") != std::string::npos;
  });
  EXPECT_NE(verdict_of(told).find("computes"), std::string::npos) << told;
}

TEST(Why, SeesStartedCallsThatAreWaitedFor) {
  const StuckJob job(2, "started");
  EXPECT_NE(verdict_of(why(job, "waits")).find("has not entered allreduce #5 (1 float32, sum)"),
            std::string::npos);
}

TEST(Why, FindsRanksThatWaitForOneAnother) {
  for (const char* scenario : {"crossed", "both-receive", "other-tag"}) {
    const StuckJob job(2, scenario);
    EXPECT_NE(verdict_of(why(job, "hung")).find("ranks wait for one another"), std::string::npos)
        << scenario;
  }
}

TEST(Why, SeesThatAGroupIsStuckBesideAnIdleOne) {
  const StuckJob job(4, "in-group");
  const Json told = why(job, "waits");
  EXPECT_NE(verdict_of(told).find("rank 1 (global rank 3"), std::string::npos) << told;
  EXPECT_NE(verdict_of(told).find("of \"half\""), std::string::npos) << told;
}

TEST(Why, TellsAJobThatGoesOnFromAnIdleOne) {
  const StuckJob on(2, "goes-on");
  EXPECT_EQ(why(on, "goes on")["verdict"]["status"], 0);
  const StuckJob idle(2, "idle");
  EXPECT_EQ(why(idle, "idle")["verdict"]["status"], 0);
}

TEST(Why, FindsAJobByAnyOfItsProcesses) {
  const StuckJob job(2, "stops");
  const Json told = why(job, "hung");
  for (const Json& rank : told["communicators"][0]["ranks"]) {
    const CommandResult result = run_tutti("why " + std::to_string(rank["pid"].get<int>()));
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_TRUE(result.output.starts_with("hung: rank 1 (pid ")) << result.output;
  }
}

TEST(Why, SaysThatThereIsNothingToSee) {
  const CommandResult none = run_tutti("why --job no-such-job 2>&1");
  EXPECT_EQ(none.exit_status, 3);
  EXPECT_NE(none.output.find("no-such-job"), std::string::npos) << none.output;
  EXPECT_EQ(run_tutti("why " + std::to_string(getpid()) + " 2>&1").exit_status, 3);
}

TEST(Warning, NamesWhoIsLateOnceForTheHost) {
  const StuckJob job(4, "stops", "TUTTI_WARN_AFTER_MS=300");
  const std::string text = job.output_until("has waited");
  EXPECT_NE(text.find("\"world\": rank 0 has waited"), std::string::npos) << text;
  EXPECT_NE(text.find("in allreduce #5 (2 float32, max): rank 3 (pid "), std::string::npos) << text;
  EXPECT_NE(text.find("its last was broadcast #4 (4 float32, root 0)"), std::string::npos) << text;
  EXPECT_NE(text.find("it is stopped (state T)"), std::string::npos) << text;
  const std::string more = text + job.output_until("has waited");
  EXPECT_EQ(more.find("rank 1 has waited"), std::string::npos) << more;
  EXPECT_EQ(more.find("rank 2 has waited"), std::string::npos) << more;
}

TEST(Warning, NamesTheMessageThatDoesNotCome) {
  const StuckJob job(2, "both-receive", "TUTTI_WARN_AFTER_MS=300");
  const std::string text = job.output_until("has waited");
  EXPECT_NE(text.find("in recv (1 float32 from rank 1, tag 7)"), std::string::npos) << text;
}

}  // namespace
