// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Traces of several hosts and of other profilers in one file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command.hpp"

namespace {

using Json = nlohmann::json;
using tutti_test::CommandResult;
using tutti_test::run_tutti;

// Of a second in 2026, in us.
constexpr double kThen = 1'790'000'000'000'000;

// What a rank leaves behind that has made three allreduces, 100 us apart, each of 50 us.
Json trace_of_rank(int rank, const std::string& host, int pid, double clock_us) {
  Json events = Json::array();
  events.push_back(
      {{"name", "process_name"},
       {"ph", "M"},
       {"pid", pid},
       {"args",
        {{"name", "rank " + std::to_string(rank)}, {"rank", rank}, {"pid", pid}, {"host", host}}}});
  for (int sequence = 1; sequence <= 3; ++sequence) {
    events.push_back({{"name", "allreduce"},
                      {"ph", "X"},
                      {"ts", kThen + clock_us + 100.0 * sequence},
                      {"dur", 50},
                      {"pid", pid},
                      {"tid", 1},
                      {"args",
                       {{"key", "00000000000000ab"},
                        {"sequence", sequence},
                        {"rank", rank},
                        {"waits_for_all", true},
                        {"end", "measured"}}}});
  }
  return {{"traceEvents", events}};
}

// Where PyTorch's profiler says that its times begin.
constexpr int64_t kBaseNs = 1'789'000'000'000'000'000;

// Of one process, in the form of PyTorch's profiler.
Json trace_of_profiler(int pid, int rank) {
  const double ts = kThen + 110 - static_cast<double>(kBaseNs) / 1000;
  return {{"schemaVersion", 1},
          {"baseTimeNanoseconds", kBaseNs},
          {"distributedInfo", {{"backend", "ccl"}, {"rank", rank}, {"world_size", 2}}},
          {"traceEvents",
           {{{"ph", "M"},
             {"name", "process_name"},
             {"pid", pid},
             {"ts", 0},
             {"args", {{"name", "python"}}}},
            {{"ph", "X"},
             {"cat", "cpu_op"},
             {"name", "aten::add"},
             {"ts", ts},
             {"dur", 5},
             {"pid", pid},
             {"tid", pid}},
            {{"ph", "X"},
             {"cat", "Trace"},
             {"name", "PyTorch Profiler (0)"},
             {"ts", ts},
             {"dur", 9},
             {"pid", "Spans"},
             {"tid", "x"}}}}};
}

class Merge : public testing::Test {
 protected:
  ~Merge() override {
    for (const std::string& path : paths_) unlink(path.c_str());
  }
  void add(const std::string& content) {
    paths_.push_back("/tmp/tutti-merge-" + std::to_string(getpid()) + "-" +
                     std::to_string(paths_.size()));
    std::ofstream(paths_.back()) << content;
  }
  CommandResult merge() {
    std::string line = "trace merge";
    for (const std::string& path : paths_) line += " " + path;
    return run_tutti(line + " 2>" + paths_[0] + ".said");
  }
  Json merged() {
    const CommandResult result = merge();
    EXPECT_EQ(result.exit_status, 0);
    std::ifstream said(paths_[0] + ".said");
    said_.assign(std::istreambuf_iterator<char>(said), {});
    unlink((paths_[0] + ".said").c_str());
    return Json::parse(result.output, nullptr, false);
  }

  std::vector<std::string> paths_;
  std::string said_;
};

// Since 1970, in us, by name and pid, in order.
std::vector<double> times_of(const Json& trace, const std::string& name, const Json& pid) {
  std::vector<double> times;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["name"] != name || event["pid"] != pid) continue;
    times.push_back(event["ts"].get<double>() +
                    static_cast<double>(trace["baseTimeNanoseconds"].get<int64_t>()) / 1000);
  }
  return times;
}

TEST_F(Merge, LeavesClocksThatMayBeRightAsTheyAre) {
  add(trace_of_rank(0, "n1", 10, 0).dump());
  add(trace_of_rank(1, "n2", 11, 20).dump());
  const Json trace = merged();
  ASSERT_TRUE(trace.is_object());
  EXPECT_NE(said_.find("n2: its clock fits that of n1"), std::string::npos) << said_;
  ASSERT_EQ(times_of(trace, "allreduce", 11).size(), 3u) << trace;
  EXPECT_NEAR(times_of(trace, "allreduce", 11)[0], kThen + 120, 1);
}

TEST_F(Merge, SetsAClockRightByTheCalls) {
  add(trace_of_rank(0, "n1", 10, 0).dump());
  add(trace_of_rank(1, "n2", 11, 5000).dump());
  const Json trace = merged();
  ASSERT_TRUE(trace.is_object());
  EXPECT_NE(said_.find("n2: its clock is 5000 us ahead of that of n1"), std::string::npos) << said_;
  EXPECT_NEAR(times_of(trace, "allreduce", 11)[0], kThen + 100, 1);
}

TEST_F(Merge, KeepsProcessesOfOneNumberOnTwoHostsApart) {
  add(trace_of_rank(0, "n1", 10, 0).dump());
  add(trace_of_rank(1, "n2", 10, 0).dump());
  const Json trace = merged();
  std::map<Json, int> calls;
  for (const Json& event : trace["traceEvents"]) calls[event["pid"]] += event["ph"] == "X" ? 1 : 0;
  EXPECT_EQ(calls.size(), 2u) << trace;
  for (const auto& [pid, count] : calls) EXPECT_EQ(count, 3) << pid;
}

TEST_F(Merge, PutsEventsOfPyTorchBesideTheCallsOfTheirProcess) {
  add(trace_of_rank(0, "n1", 10, 0).dump());
  add(trace_of_rank(1, "n2", 10, 5000).dump());
  add(trace_of_profiler(10, 0).dump());
  Json without_rank = trace_of_profiler(10, 1);
  without_rank.erase("distributedInfo");
  without_rank["host_name"] = "n2";
  add(without_rank.dump());
  const Json trace = merged();
  ASSERT_TRUE(trace.is_object());
  std::map<Json, std::vector<std::string>> names;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") names[event["pid"]].push_back(event["name"]);
  }
  ASSERT_EQ(names.size(), 4u) << trace;  // two ranks, and the profilers' spans
  EXPECT_EQ(names[10].size(), 4u) << trace;
  EXPECT_NEAR(times_of(trace, "aten::add", 10)[0], kThen + 110, 1);
}

TEST_F(Merge, NamesAFileThatIsNoTrace) {
  add("{\"traceEvents\": 1}");
  EXPECT_EQ(merge().exit_status, 1);
  std::ifstream said(paths_[0] + ".said");
  const std::string text{std::istreambuf_iterator<char>(said), {}};
  unlink((paths_[0] + ".said").c_str());
  EXPECT_NE(text.find(paths_[0] + ": no traceEvents"), std::string::npos) << text;
  add("{");
  EXPECT_EQ(merge().exit_status, 1);
  unlink((paths_[0] + ".said").c_str());
}

TEST_F(Merge, RefusesAFileThatNestsDeeply) {
  add(std::string(200'000, '[') + std::string(200'000, ']'));
  EXPECT_EQ(merge().exit_status, 1);
  std::ifstream said(paths_[0] + ".said");
  const std::string text{std::istreambuf_iterator<char>(said), {}};
  unlink((paths_[0] + ".said").c_str());
  EXPECT_NE(text.find(paths_[0] + ": its arrays and objects nest deeper than 100"),
            std::string::npos)
      << text;
}

}  // namespace
