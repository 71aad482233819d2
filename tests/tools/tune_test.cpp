// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "comm/tuning_file.hpp"
#include "tools/bench/contest.hpp"
#include "tools/command.hpp"

namespace tutti_test {
namespace {

using tutti::Algorithm;
using tutti::Collective;
using tutti::TunedChoice;
using tutti::tune::Winner;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Algorithm* named(const char* name) {
  return tutti::find_algorithm(Collective::kAllreduce, name);
}

// "1-40 inline, 41-max flat"
std::string print(const std::vector<TunedChoice>& choices) {
  std::string text;
  for (const TunedChoice& choice : choices) {
    text += fmt::format("{}{}-{} {}", text.empty() ? "" : ", ", choice.lowest,
                        choice.highest == UINT64_MAX ? "max" : std::to_string(choice.highest),
                        choice.algorithm->name);
  }
  return text;
}

// ---- what follows from measurements ------------------------------------------------------------

TEST(Contest, TheCostModelsChoiceStaysUnlessAnotherIsClearlyFaster) {
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}}), 0U);
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}, {0.97, 0.97, 0.97}}), 0U);
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}, {0.9, 0.9, 0.9}}), 1U);
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}, {0.9, 0.9, 9}}), 1U) << "one late round";
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}, {0.1, 1, 1}}), 0U) << "one lucky round";
  EXPECT_EQ(tutti::tune::winner_of({{1, 1, 1}, {0.9, 0.9, 0.9}, {0.8, 0.8, 0.8}}), 2U);
}

TEST(Contest, ABorderIsWhereTheCostModelHasItOrHalfway) {
  const tutti::tune::Field field{Collective::kAllreduce, 2, 2};
  const Algorithm* a = named("inline");
  const Algorithm* b = named("one_shot");
  const Algorithm* c = named("flat");
  const auto predict = [&](uint64_t bytes) { return bytes <= 56 ? a : b; };
  EXPECT_EQ(print(ranges_of(field, {{4, a}, {32, a}, {256, b}}, predict)),
            "1-56 inline, 57-256 one_shot");
  EXPECT_EQ(print(ranges_of(field, {{4, a}, {64, c}, {1024, b}}, predict)),
            "1-16 inline, 17-256 flat, 257-1024 one_shot");
  EXPECT_EQ(print(ranges_of(field, {{4096, b}, {64 << 20, b}}, predict)), "4096-max one_shot");
  EXPECT_EQ(print(ranges_of(field, {{0, a}}, predict)), "0-0 inline");
  EXPECT_EQ(print(ranges_of(field, {}, predict)), "");
}

TEST(Contest, ABlockIsAsLongAsAllOfItsCall) {
  const tutti::tune::Field field{Collective::kAllreduce, 4, 4, 4};
  const Algorithm* b = named("one_shot");
  const auto predict = [&](uint64_t) { return b; };
  EXPECT_EQ(print(ranges_of(field, {{16 << 20, b}}, predict)), "16777216-max one_shot");
  EXPECT_EQ(print(ranges_of(field, {{8 << 20, b}}, predict)), "8388608-8388608 one_shot");
}

TEST(Contest, SurvivesBeingText) {
  const std::vector<tutti::tune::Contest> contests = {
      {Collective::kAllreduce, 4, {named("inline"), named("ring")}, {{1e-7, 2e-7}, {3e-6}}},
      {Collective::kAllreduce, 64, {named("ring")}, {{0.5, 1.5, 2.5}}}};
  const auto read = tutti::tune::parse_contests(print_contests(contests));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].algorithms, contests[0].algorithms);
  EXPECT_EQ(read[0].seconds, contests[0].seconds);
  EXPECT_EQ(read[1].bytes, 64U);
  EXPECT_EQ(read[1].seconds, contests[1].seconds);
  EXPECT_TRUE(tutti::tune::parse_contests("allreduce 4 nonsense 1\n\n7").empty());
}

TEST(Contest, FreshChoicesReplaceTheirLikes) {
  const TunedChoice two{Collective::kAllreduce, 2, 2, 1, 9, named("inline")};
  const TunedChoice four{Collective::kAllreduce, 4, 2, 1, 9, named("flat")};
  const TunedChoice fresh{Collective::kAllreduce, 2, 2, 1, 5, named("ring")};
  EXPECT_EQ(print(tutti::tune::merge_choices({two, four}, {fresh})), "1-9 flat, 1-5 ring");
}

// ---- the command -------------------------------------------------------------------------------

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tutti_tune_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(Tune, WritesAFileThatIsFoundAndUsed) {
  const std::string place = "TUTTI_TUNING_FILE= XDG_CACHE_HOME=" + folder_;
  const CommandResult tune = run_tutti("tune -n 2 -y 8,64,256,2kb --total-seconds 0.5 2>&1", place);
  ASSERT_EQ(tune.exit_status, 0) << tune.output;
  EXPECT_TRUE(contains(tune.output, "allreduce")) << tune.output;
  const std::string path = *tutti::default_tuning_path(
      tutti::this_machine(), [&](const std::string& variable) -> std::optional<std::string> {
        if (variable == "XDG_CACHE_HOME") return folder_;
        return std::nullopt;
      });
  EXPECT_TRUE(contains(tune.output, "Written: " + path)) << tune.output;

  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  ASSERT_EQ(stat((folder_ + "/tutti").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0700U);
  const auto tuning = tutti::read_tuning_file(path);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_EQ(tuning->key, tutti::this_machine());
  ASSERT_FALSE(tuning->choices.empty());
  // Whether fitted figures choose better depends on the machine.
  EXPECT_EQ(tuning->machine.line_s == tutti::Machine().line_s, contains(tune.output, " stay"))
      << tune.output;

  const TunedChoice& first = tuning->choices.front();
  EXPECT_EQ(first.collective, Collective::kAllreduce);
  EXPECT_EQ(first.lowest, 8U);
  const auto explained = nlohmann::json::parse(
      run_tutti("explain allreduce -n 2 -b 8 --json", place).output, nullptr, false);
  ASSERT_TRUE(explained.is_object());
  EXPECT_EQ(explained["origin"], "tuning file " + path);
  EXPECT_EQ(explained["algorithm"], std::string(first.algorithm->name));
  EXPECT_TRUE(contains(run_tutti("info", place).output, "tuning file " + path));
  // A communicator takes it too.
  EXPECT_EQ(run_tutti("bench allreduce -n 2 -y 8 -i 10", place).exit_status, 0);
}

TEST_F(Tune, AddsToWhatIsThere) {
  const std::string path = folder_ + "/t.json";
  tutti::Tuning before;
  before.key = tutti::this_machine();
  before.machine.line_s = 1.5e-7;
  before.choices = {{Collective::kAllreduce, 16, 2, 1, 9, named("ring")}};
  ASSERT_TRUE(write_tuning_file(path, before).ok());
  const CommandResult tune = run_tutti("tune -n 2 barrier --total-seconds 0.01 2>&1 -o " + path);
  ASSERT_EQ(tune.exit_status, 0) << tune.output;
  const auto after = tutti::read_tuning_file(path);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_TRUE(contains(tune.output, "too few")) << tune.output;
  EXPECT_EQ(after->machine.line_s, 1.5e-7);
  ASSERT_EQ(after->choices.size(), 2U);
  EXPECT_EQ(after->choices[0].algorithm, named("ring"));
  EXPECT_EQ(after->choices[1].collective, Collective::kBarrier);
}

TEST_F(Tune, IsNotMisledByVariables) {
  const CommandResult tune = run_tutti(
      "tune -n 2 broadcast -y 64 --total-seconds 0.01 --dry-run -o " + folder_ + "/t.json 2>&1",
      "CCL_BCAST=tree CCL_ALLREDUCE=ring TUTTI_TUNING_FILE=/not/there");
  EXPECT_EQ(tune.exit_status, 0) << tune.output;
  EXPECT_TRUE(contains(tune.output, "Not written")) << tune.output;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Tune, RefusesWhatMakesNoSense) {
  for (const auto& [arguments, expected] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"alreduce", "COLLECTIVE has 'alreduce', expected some of: allreduce"},
           {"-y 6", "--sizes has 6, expected multiples of 4 bytes"},
           {"-n 1", "--ranks"},
           {"-n 2 -c barrier --seconds 0.01 -o /proc/none/x.json", "/proc/none"}}) {
    const CommandResult result = run_tutti(std::string("tune ") + arguments + " 2>&1");
    EXPECT_NE(result.exit_status, 0) << arguments;
    EXPECT_TRUE(contains(result.output, expected)) << result.output;
  }
}

// ---- a file that is named ----------------------------------------------------------------------

TEST_F(Tune, ABadFileThatIsNamedIsAnErrorEverywhere) {
  const std::string path = folder_ + "/bad.json";
  std::ofstream(path) << "{\"format\": 7}";
  for (const char* command : {"explain allreduce", "info", "bench allreduce -n 2 -y 8 -i 1"}) {
    const CommandResult result =
        run_tutti(std::string(command) + " 2>&1", "TUTTI_TUNING_FILE=" + path);
    EXPECT_NE(result.exit_status, 0) << command;
    EXPECT_TRUE(contains(result.output, path + ": format is 7, expected 1")) << result.output;
  }
}

}  // namespace
}  // namespace tutti_test
