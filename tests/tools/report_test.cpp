// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Pages of measurements: what is on them, what can be read back, and what a machine is measured by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/files.hpp"
#include "tools/command.hpp"
#include "tools/measure_plan.hpp"
#include "tools/report_page.hpp"

namespace {

using tutti::tools::BenchRun;
using tutti::tools::MeasuredMachine;
using tutti::tools::MeasureOptions;
using tutti::tools::Report;
using tutti_test::expect_refusal;
using tutti_test::run_tutti;

class ReportPage : public testing::Test {
 protected:
  ReportPage() {
    std::string name = testing::TempDir() + "reportXXXXXX";
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    folder_ = name;
  }
  ~ReportPage() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string bench(const std::string& name, const std::string& arguments) const {
    const auto result = run_tutti("bench " + arguments + " -i 3 -w 1 -o " + path(name) + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return path(name);
  }
  [[nodiscard]] std::string report(const std::string& name, const std::string& files) const {
    const auto result = run_tutti("report " + files + " -o " + path(name) + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return tutti::text_in_file(path(name));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] Report read(const std::string& name) const {
    auto read = tutti::tools::read_report(path(name));
    EXPECT_TRUE(read.ok()) << read.status().message();
    return read.ok() ? *std::move(read) : Report();
  }
  std::string folder_;
};

TEST_F(ReportPage, HasCurvesTablesMachineAndCommand) {
  const std::string page = report("a.html", bench("a.json", "allreduce,barrier -n 2 -y 4,1K"));
  for (const char* part :
       {"<polyline", "<h2>allreduce float32 sum</h2>", "<td>1024</td>", "<h2>barrier</h2>",
        "<h2>Machine</h2>", "<th>kernel</th>", "tutti bench allreduce,barrier -n 2 -y 4,1K -i 3"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST_F(ReportPage, BeginsWithTheMachineAndSaysIfItWasBusy) {
  Report json = Report::parse(tutti::text_in_file(bench("a.json", "allreduce -n 2 -y 4")));
  json["machine"]["topology"]["processor"] = "A Processor <R>";
  const auto page_with_load = [&](double load) {
    json["machine"]["load"] = load;
    write("b.json", json.dump());
    const std::string page = report("b.html", path("b.json"));
    return page.substr(0, page.find("<h2>"));
  };
  const std::string idle = page_with_load(0.2);
  EXPECT_NE(idle.find("<p>A Processor &lt;R>, "), std::string::npos) << idle;
  EXPECT_EQ(idle.find("The load was"), std::string::npos) << idle;
  const std::string busy = page_with_load(7.3);
  EXPECT_NE(busy.find("The load was 7.3 "), std::string::npos) << busy;
}

TEST_F(ReportPage, NeedsNothingFromElsewhere) {
  std::string page = report("a.html", bench("a.json", "allreduce -n 2 -y 4,1K"));
  for (const char* part : {"src=", "href=", "url(", "@import", "<link", "<iframe"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  // The only address is the name of a language.
  const std::string name = "http://www.w3.org/2000/svg";
  for (size_t at = 0; (at = page.find(name)) != std::string::npos;) page.erase(at, name.size());
  EXPECT_EQ(page.find("://"), std::string::npos);
}

TEST_F(ReportPage, IsReadBackWithTheSameFigures) {
  const std::string file = bench("a.json", "allreduce -n 2 -y 4,1K");
  const std::string page = report("a.html", file);
  EXPECT_EQ(read("a.html")["runs"][0]["bench"], Report::parse(tutti::text_in_file(file)));
  EXPECT_EQ(report("b.html", path("a.html")), page);
}

TEST_F(ReportPage, TellsRunsOfOneSeriesApart) {
  const std::string two = bench("two.json", "allreduce -n 2 -y 4");
  const std::string three = bench("three.json", "allreduce -n 3 -y 4");
  const std::string again = bench("again.json", "allreduce -n 2 -y 4");
  const std::string page = report("a.html", two + " " + three + " " + again);
  for (const char* label : {"<th>2 ranks</th>", "<th>3 ranks</th>", "<th>2 ranks, again</th>"}) {
    EXPECT_NE(page.find(label), std::string::npos) << label;
  }
}

TEST_F(ReportPage, TextsOfAFileAreTextsOnThePage) {
  Report bench_json = Report::parse(tutti::text_in_file(bench("a.json", "allreduce -n 2 -y 4")));
  bench_json["command"] = "</script><script>alert(1)</script>";
  bench_json["results"][0]["type"] = "<b>float</b>";
  bench_json["machine"] = {{"<i>name</i>", "<u>value</u>"}};
  write("b.json", bench_json.dump());
  const std::string page = report("b.html", path("b.json"));
  for (const char* part : {"<script>alert", "<b>float", "<i>name", "<u>value"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(read("b.html")["runs"][0]["bench"], bench_json);
}

TEST_F(ReportPage, NamesAFileThatIsNoMeasurement) {
  write("a", "no JSON");
  write("b", R"({"results": 7})");
  write("c", R"({"runs": [{"label": 7}]})");
  for (const char* name : {"a", "b", "c", "missing"}) {
    expect_refusal("report " + path(name), path(name) + ": ");
  }
}

// ---- tutti measure -----------------------------------------------------------------------------

MeasuredMachine large() {
  MeasuredMachine machine{.parallel = 192, .physical = 96, .memory_bytes = uint64_t{768} << 30};
  for (int core = 0; core < 192; ++core) machine.cores.push_back(core);
  for (int node = 0; node < 8; ++node) {
    auto& cores = machine.nodes.emplace_back();
    for (int core = 0; core < 24; ++core) cores.push_back(24 * node + core);
  }
  return machine;
}

bool has_label(const std::vector<BenchRun>& plan, const std::string& label) {
  return std::ranges::find(plan, label, &BenchRun::label) != plan.end();
}

TEST(MeasurePlan, GoesFromTwoRanksToAllCoresOverNodesAndWorkers) {
  const auto plan = measure_plan(large(), {});
  EXPECT_EQ(plan.front().label, "192 ranks");
  for (const char* label :
       {"2 ranks", "64 ranks", "96 ranks", "128 ranks", "384 ranks", "24 ranks, on one NUMA node",
        "24 ranks, spread over 8 NUMA nodes", "96 ranks, 2 workers", "32 ranks, 4 workers"}) {
    EXPECT_TRUE(has_label(plan, label)) << label;
  }
  EXPECT_FALSE(has_label(plan, "192 ranks, 2 workers"));
  std::set<std::pair<std::string, std::string>> seen;
  for (const BenchRun& run : plan) EXPECT_TRUE(seen.insert({run.label, run.command()}).second);
}

TEST(MeasurePlan, RanksThatAreSpreadHaveAsManyCoresOfEachNode) {
  for (const BenchRun& run : measure_plan(large(), {})) {
    if (run.label != "24 ranks, spread over 8 NUMA nodes") continue;
    ASSERT_EQ(run.cores.size(), 24u);
    for (int node = 0; node < 8; ++node) {
      EXPECT_EQ(std::ranges::count_if(run.cores, [&](int core) { return core / 24 == node; }), 3);
    }
  }
}

TEST(MeasurePlan, BuffersFitTheMemory) {
  MeasuredMachine small = large();
  small.memory_bytes = uint64_t{1} << 30;
  for (const BenchRun& run : measure_plan(small, {})) {
    const auto option = [&](const char* name) { return *(std::ranges::find(run.words, name) + 1); };
    const uint64_t ranks = std::stoull(option("-n"));
    const std::string sizes = option("-y");
    const uint64_t largest = std::stoull(sizes.substr(sizes.rfind(',') + 1));
    const bool blocks = run.words[1].find("all") == 0 && run.words[1].find("allreduce") != 0;
    EXPECT_LE(2 * ranks * (blocks ? ranks : 1) * largest, small.memory_bytes / 4) << run.command();
  }
}

TEST(MeasurePlan, OneCoreHasSomethingToMeasure) {
  const MeasuredMachine one{.cores = {0}, .nodes = {{0}}, .memory_bytes = uint64_t{8} << 30};
  EXPECT_TRUE(has_label(measure_plan(one, {}), "2 ranks"));
}

TEST_F(ReportPage, OfAMachineIsGoneOnWithWhereItWasLeft) {
  const std::string measure =
      "measure -n 2 --max 64 --seconds 0.0001 -o " + path("m.html") + " --minutes ";
  const auto first = run_tutti(measure + "0 2>&1");
  EXPECT_EQ(first.exit_status, 0) << first.output;
  EXPECT_NE(first.output.find(": 1 runs, "), std::string::npos) << first.output;
  const Report begun = read("m.html");
  ASSERT_EQ(begun["runs"].size(), 1u);
  EXPECT_GT(begun["missing"], 0);
  const auto rest = run_tutti(measure + "60 2>&1");
  EXPECT_EQ(rest.exit_status, 0) << rest.output;
  const Report whole = read("m.html");
  EXPECT_EQ(whole["missing"], 0);
  EXPECT_EQ(whole["runs"][0], begun["runs"][0]);
  EXPECT_GT(whole["runs"].size(), 2u);
  for (const Report& run : whole["runs"]) EXPECT_FALSE(run.contains("error")) << run;
  const std::string before = tutti::text_in_file(path("m.html"));
  EXPECT_EQ(run_tutti(measure + "60 2>&1").exit_status, 0);
  EXPECT_EQ(tutti::text_in_file(path("m.html")), before);
}

TEST_F(ReportPage, OfAnotherMachineIsNotGoneOnWith) {
  const std::string measure =
      "measure -n 2 --max 64 --seconds 0.0001 --minutes 0 -o " + path("m.html");
  EXPECT_EQ(run_tutti(measure + " 2>&1").exit_status, 0);
  Report other = read("m.html");
  other["runs"][0]["bench"]["machine"]["topology"]["processor"] = "another";
  write("m.html", tutti::tools::page_of(other));
  expect_refusal(measure, "is of another machine");
}

TEST_F(ReportPage, SaysWhatARunEndedWithUntilItSucceeds) {
  const std::string measure =
      "measure -n 2 --max 64 --seconds 0.0001 --minutes 0 -o " + path("m.html");
  const auto result = run_tutti(measure + " 2>&1", "CCL_ALLREDUCE=nonsense");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  const std::string error = read("m.html")["runs"][0]["error"];
  EXPECT_EQ(error.find("status 1: "), 0u) << error;
  EXPECT_NE(error.find("nonsense"), std::string::npos) << error;
  EXPECT_EQ(run_tutti(measure + " 2>&1").exit_status, 0);
  const Report again = read("m.html");
  EXPECT_EQ(again["runs"].size(), 1u);
  EXPECT_FALSE(again["runs"][0].contains("error")) << again;
}

}  // namespace
