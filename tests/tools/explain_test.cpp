// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/command.hpp"

namespace tutti_test {
namespace {

nlohmann::json explain_json(const std::string& arguments, const std::string& variables = "") {
  const CommandResult result = run_tutti("explain " + arguments + " --json", variables);
  EXPECT_EQ(result.exit_status, 0) << arguments;
  return nlohmann::json::parse(result.output);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Explain, SaysWhatIsChosenAndWhyTheOthersAreNot) {
  const CommandResult result = run_tutti("explain allreduce --ranks 4 --bytes 64 --cores 4");
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_TRUE(contains(result.output, "one_shot, by cost model")) << result.output;
  EXPECT_TRUE(contains(result.output, "over 56 bytes of payload")) << result.output;
  EXPECT_TRUE(contains(result.output, "times as long")) << result.output;
  EXPECT_TRUE(contains(result.output, "publish tick 1")) << result.output;
}

TEST(Explain, ShowsTheWayOfCallsOnDevices) {
  const auto direct = explain_json("allreduce -n 2 -b 4kb --on-device");
  EXPECT_EQ(direct["device"], true);
  EXPECT_EQ(direct["algorithm"], "pull_all");
  EXPECT_TRUE(contains(direct["note"], "read one another's buffers")) << direct;
  const auto staged = explain_json("allreduce -n 2 -b 64mb --no-shm --on-device");
  EXPECT_TRUE(contains(staged["note"], "in 16 pieces")) << staged;
  EXPECT_EQ(staged["bytes"], 4 << 20);
  for (const char* const uneven : {"allgatherv", "alltoallv", "gatherv", "scatterv"}) {
    const auto pulled = explain_json(std::string(uneven) + " -n 3 -b 8mb --on-device");
    EXPECT_EQ(pulled["algorithm"], "pull");
    EXPECT_TRUE(contains(pulled["note"], "read one another's buffers")) << pulled;
  }
}

TEST(Explain, SaysWhichAlgorithmsReadTheirPeers) {
  for (const auto& candidate : explain_json("allreduce -n 2 --cores 2 -b 256kb")["candidates"]) {
    const std::string name = candidate["algorithm"];
    if (!candidate["applies"]) continue;
    EXPECT_EQ(candidate["reads_peers"], name == "pull" || name == "pull_all") << name;
  }
  EXPECT_TRUE(contains(run_tutti("explain allreduce -n 2 --cores 2 -b 256kb").output,
                       "reads its peers' buffers"));
}

TEST(Explain, FollowsTheVariables) {
  const auto report = explain_json("allreduce -n 3 -b 4kb", "CCL_ALLREDUCE=ring");
  EXPECT_EQ(report["algorithm"], "ring");
  EXPECT_EQ(report["origin"], "CCL_ALLREDUCE");
  const auto passed_over = explain_json("allreduce -n 3 -b 4kb", "CCL_ALLREDUCE=inline");
  EXPECT_EQ(passed_over["origin"], "cost model");
  EXPECT_TRUE(contains(passed_over["note"], "CCL_ALLREDUCE demands inline"));
}

TEST(Explain, TellsThatRanksShareCores) {
  EXPECT_TRUE(contains(run_tutti("explain barrier -n 3 --cores 2").output,
                       "on 3 ranks that share 2 cores"));
  EXPECT_FALSE(contains(run_tutti("explain barrier -n 3 --cores 3").output, "share"));
}

TEST(Explain, SaysByWhichFiguresOfTheNetworkItChose) {
  const auto usual = explain_json("allreduce -n 4 --hosts 4 -b 64kb");
  EXPECT_EQ(usual["network"]["origin"], "defaults");
  EXPECT_EQ(usual["algorithm"], "recursive_doubling");
  const auto slow = explain_json("allreduce -n 4 --hosts 4 -b 64kb --latency 25 --rate 1");
  EXPECT_EQ(slow["network"]["origin"], "--latency and --rate");
  EXPECT_DOUBLE_EQ(slow["network"]["line_byte_s"], 8e-9);
  EXPECT_DOUBLE_EQ(slow["network"]["message_s"], 25e-6);
  EXPECT_EQ(slow["algorithm"], "rabenseifner");
  EXPECT_FALSE(explain_json("allreduce -n 4 -b 64kb").contains("network"));
  EXPECT_TRUE(contains(run_tutti("explain allreduce -n 4 --hosts 4 --rate 1").output,
                       "network: 20.0 us per message, 125 MB/s per host (--rate; the latency: "
                       "defaults)"));
}

TEST(Explain, TakesTheAlgorithmThatIsAskedFor) {
  const auto report = explain_json("reduce_scatter -n 5 -b 400 -a circulant -r 3");
  EXPECT_EQ(report["algorithm"], "circulant");
  EXPECT_EQ(report["rank"], 3);
  EXPECT_FALSE(report["steps"].empty());
}

TEST(Explain, UsesMessagesOnlyWithoutSharedMemory) {
  for (const std::string collective :
       {"allreduce", "reduce", "broadcast", "allgather", "reduce_scatter", "alltoall", "gather",
        "scatter", "alltoallv", "barrier"}) {
    const auto report = explain_json(collective + " -n 6 --no-shm");
    for (const auto& step : report["steps"]) {
      EXPECT_FALSE(contains(step, "publish")) << collective << ": " << step;
    }
  }
}

TEST(Explain, ShowsWhatBuffersThatAllRanksSeeAreFor) {
  const auto report = explain_json("allreduce -n 2 -b 4mb --shared");
  EXPECT_EQ(report["shared"], true);
  const auto reduces_peers_buffer = [](const std::string& step) {
    return step.starts_with("reduce ") && contains(step, "send[1]");
  };
  EXPECT_TRUE(std::ranges::any_of(report["steps"], reduces_peers_buffer)) << report["steps"];
}

TEST(Explain, TellsWhichCallIsTimedWithOtherStores) {
  EXPECT_FALSE(explain_json("allreduce -n 2 -b 64kb").contains("timed_as_well"));
  const auto some = explain_json("gather -n 2 -b 8mb");
  ASSERT_TRUE(some.contains("timed_as_well"));
  EXPECT_EQ(some["timed_as_well"]["algorithm"], some["algorithm"]);
  EXPECT_EQ(some["timed_as_well"]["stores"], "past the caches");
  const auto much = explain_json("gather -n 2 -b 64mb");
  ASSERT_TRUE(much.contains("timed_as_well"));
  EXPECT_NE(much["timed_as_well"]["stores"], some["timed_as_well"]["stores"]);
}

TEST(Explain, AbbreviatesLongSchedulesAsTextButNotAsJson) {
  const CommandResult text = run_tutti("explain allreduce -n 4 -b 64mb");
  EXPECT_TRUE(contains(text.output, " more ...")) << text.output;
  EXPECT_LT(count_of(text.output, "\n"), 70U);
  EXPECT_GT(explain_json("allreduce -n 4 -b 64mb")["steps"].size(), 1000U);
}

TEST(Explain, DrawsEveryStepOfEveryRank) {
  const Picture picture;
  const auto report =
      explain_json("allreduce -n 4 -b 16kb -a recursive_doubling --plot " + picture.path());
  const std::string svg = picture.text();
  EXPECT_TRUE(svg.starts_with("<svg")) << svg.substr(0, 100);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* lane : {">rank 0<", ">rank 3<"}) EXPECT_TRUE(contains(svg, lane)) << lane;
  EXPECT_FALSE(contains(svg, "more steps"));
  // Two rounds of one message each way.
  EXPECT_EQ(count_of(svg, ">send 16 KiB<"), 8U);
  EXPECT_EQ(count_of(svg, "marker-end"), 8U) << "an arrow for each message";
  EXPECT_EQ(count_of(svg, ">reduce 16 KiB<"), 8U);
}

TEST(Explain, APictureSaysWhatItLeavesOut) {
  const Picture picture;
  run_tutti("explain allreduce -n 2 -b 256mb --plot " + picture.path());
  EXPECT_TRUE(contains(picture.text(), "more steps"));
}

TEST(Explain, ShowsThePhasesOfACallOverSeveralHosts) {
  const auto report = explain_json("allreduce -n 4 --hosts 2 -b 16mb");
  EXPECT_EQ(report.at("algorithm"), "hierarchical");
  EXPECT_TRUE(report.at("steps").empty());
  const auto phases = report.at("phases").get<std::vector<std::string>>();
  ASSERT_GE(phases.size(), 3U);
  EXPECT_EQ(phases.front(), "host    reduce_scatterv of 524288 B: send+0 -> recv+0");
  EXPECT_TRUE(contains(phases[1], "column  allreduce")) << phases[1];
  EXPECT_TRUE(contains(phases[1], "after 1 phase of the host")) << phases[1];
}

TEST(Explain, RefusesWhatMakesNoSense) {
  for (const auto& [arguments, expected] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"alreduce", "there is no collective 'alreduce'"},
           {"allreduce -t float31", "there is no type 'float31'"},
           {"allreduce -b 6", "6 bytes are no whole number of elements of float32"},
           {"barrier -b 4", "4 bytes are no whole number of elements of a barrier"},
           {"allreduce -n 3 -r 3", "--rank 3: ranks go from 0 to 2"},
           {"broadcast -n 3 --root 5", "--root 5: ranks go from 0 to 2"},
           {"allreduce -n 3 --hosts 4", "--hosts 4: there are 3 ranks only"},
           {"allreduce -n 3 -a flap", "there is no allreduce algorithm 'flap'"},
           {"allreduce -n 3 -b 64 -a inline", "inline does not apply: over 56 bytes"},
           {"allreduce -b 64 --shared",
            "allreduce of 64 bytes does not look at the peers' buffers"},
           {"allreduce --shared --no-shm", "--shared: the ranks share no memory"},
           {"broadcast -b 4mb --shared", "broadcast of 4194304 bytes does not look"},
           {"allreduce -n 9 --plot /tmp/no.svg", "a picture of 9 ranks is not legible"},
           {"allreduce --plot /no/such/folder/x.svg", "cannot write /no/such/folder/x.svg"}}) {
    const CommandResult result = run_tutti(std::string("explain ") + arguments + " 2>&1");
    EXPECT_NE(result.exit_status, 0) << arguments;
    EXPECT_TRUE(contains(result.output, expected)) << result.output;
  }
}

TEST(Explain, RefusesABadVariable) {
  const CommandResult result = run_tutti("explain allreduce 2>&1", "CCL_ALLREDUCE=rong");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_TRUE(contains(result.output, "CCL_ALLREDUCE=rong")) << result.output;
}

}  // namespace
}  // namespace tutti_test
