// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "select/tuning.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "env/fake_environment.hpp"
#include "select/selector.hpp"

namespace tutti {
namespace {

Tuning example() {
  Tuning tuning;
  tuning.key = {"a processor", 8, 1 << 20, 1, "1.2.3"};
  tuning.machine.line_s = 1.25e-7;
  tuning.machine.cache_bytes = 2 << 20;
  tuning.devices = {{"level-zero", "Example \"9\"", "1.3", true, {.launch_s = 7e-6}}};
  tuning.choices = {
      {Collective::kAllreduce, 2, 2, 1, 1023, find_algorithm(Collective::kAllreduce, "one_shot")},
      {Collective::kAllreduce, 2, 2, 1024, UINT64_MAX,
       find_algorithm(Collective::kAllreduce, "ring")},
      {Collective::kBarrier, 4, 2, 0, 0, find_algorithm(Collective::kBarrier, "dissemination")}};
  return tuning;
}

// The example's text with its first `part` replaced.
std::string example_with(const std::string& part, const std::string& replacement) {
  std::string text = print_tuning(example());
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

std::string error_of(const std::string& text) {
  return std::string(parse_tuning(text, "/x/y.json").status().message());
}

Problem allreduce_of(uint64_t bytes) {
  Problem problem;
  problem.collective = Collective::kAllreduce;
  problem.ranks = 2;
  problem.count = problem.stride = bytes / 4;
  problem.element_bytes = 4;
  problem.limits = {
      .slots = {.call_bytes = 32 << 10}, .window_bytes = 1 << 20, .chunk_bytes = 256 << 10};
  return problem;
}

TEST(Tuning, MayKnowTheNetwork) {
  EXPECT_FALSE(parse_tuning(print_tuning(example()), "x")->network.has_value());
  Tuning tuning = example();
  tuning.network = NetworkFigures{.message_s = 31e-6, .line_byte_s = 8.5e-9};
  const std::string text = print_tuning(tuning);
  const auto read = parse_tuning(text, "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_TRUE(read->network.has_value());
  EXPECT_EQ(read->network->message_s, 31e-6);
  EXPECT_EQ(read->network->line_byte_s, 8.5e-9);
  std::string wrong = text;
  wrong.replace(wrong.find("\"line_byte_s\": 8.5e-09"), 22, "\"line_byte_s\": 0");
  EXPECT_NE(error_of(wrong).find("network.line_byte_s is 0, expected seconds, more than 0"),
            std::string::npos)
      << error_of(wrong);
}

TEST(Tuning, HasADeviceOnce) {
  Tuning tuning = example();
  tuning.devices.push_back(tuning.devices[0]);
  tuning.devices[1].api = "opencl";
  EXPECT_TRUE(parse_tuning(print_tuning(tuning), "x").ok());
  tuning.devices[1].api = "level-zero";
  EXPECT_NE(error_of(print_tuning(tuning)).find("no second entry of this API and name"),
            std::string::npos)
      << error_of(print_tuning(tuning));
}

TEST(Tuning, IsReadAsItWasPrinted) {
  const Tuning written = example();
  const auto read = parse_tuning(print_tuning(written), "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->key, written.key);
  for (const MachineFigure& figure : machine_figures()) {
    EXPECT_EQ(read->machine.*figure.value, written.machine.*figure.value) << figure.name;
  }
  EXPECT_EQ(read->machine.cache_bytes, written.machine.cache_bytes);
  ASSERT_EQ(read->devices.size(), 1U);
  EXPECT_EQ(read->devices[0].driver, "1.3");
  EXPECT_EQ(read->device("level-zero", "Example \"9\"")->figures, written.devices[0].figures);
  EXPECT_EQ(read->device("opencl", "Example \"9\""), nullptr);
  EXPECT_EQ(print_tuning(*read), print_tuning(written));
}

TEST(Tuning, NeedsNoMoreThanFormatAndKey) {
  const auto read = parse_tuning(
      R"({"format": 1, "key": {"processor": "", "cores": 1, "l2_bytes": 0, "numa_nodes": 1,
          "version": "1"}})",
      "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->choices.empty());
  EXPECT_EQ(read->machine.line_s, Machine().line_s);
}

TEST(Tuning, EveryTruncationIsAnErrorThatNamesFileAndLine) {
  const std::string text = print_tuning(example());
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    const std::string error = error_of(text.substr(0, size));
    EXPECT_NE(error.find("tuning file /x/y.json: line "), std::string::npos) << size << error;
  }
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_NE(error_of(text.substr(0, text.size() - 2)).find(fmt::format("line {}", lines)),
            std::string::npos);
}

TEST(Tuning, AnyChangedByteIsReadOrRefused) {
  const std::string text = print_tuning(example());
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '"', '{', '9', '-', '\xff'}) {
      std::string changed = text;
      changed[at] = c;
      const auto read = parse_tuning(changed, "/x/y.json");
      if (read.ok()) {
        EXPECT_FALSE(print_tuning(*read).empty());
      } else {
        EXPECT_NE(read.status().message().find("/x/y.json"), std::string::npos);
      }
    }
  }
}

TEST(Tuning, ErrorsNameTheFieldAndWhatWasExpected) {
  for (const auto& [part, replacement, field, expected] :
       std::initializer_list<std::array<std::string, 4>>{
           {"\"format\": 1", "\"format\": 2", "format is 2", "expected 1"},
           {"\"format\": 1", "\"format\": 1, \"x\": 1", "the document", "no fields but format"},
           {"\"format\": 1", "\"formal\": 1", "the document", "no fields but format"},
           {"\"key\": {", "\"key\": {\"a\": 1, ", "key is", "no fields but processor"},
           {"\"numa_nodes\": ", "\"numa_nodes\": -", "key.numa_nodes is -",
            "a whole number from 1"},
           {"1.25e-07", "0", "machine.line_s is 0", "more than 0"},
           {"1.25e-07", "\"fast\"", "machine.line_s is \"fast\"", "seconds"},
           {"\"line_s\"", "\"lime_s\"", "machine is", "docs/tuning-file.md"},
           {"\"cache_bytes\": ", "\"cache_bytes\": 0.", "machine.cache_bytes", "a whole number"},
           {"\"devices\": [", "\"devices\": 1, \"choices\": [", "devices is 1", "an array"},
           {"\"api\": \"level-zero\"", "\"a\": 1", "devices[0] is", "no fields but api, name"},
           {"\"api\": \"level-zero\"", "\"api\": 1", "devices[0].api is 1", "a string"},
           {"\"ipc\": true", "\"ipc\": 1", "devices[0].ipc is 1", "true or false"},
           {"\"ipc\": true,", "", "devices[0].ipc is nothing", "true or false"},
           {"\"launch_s\": 7e-06", "\"launch_s\": -1", "devices[0].launch_s is -1",
            "seconds, more than 0"},
           {"\"launch_s\": 7e-06,", "", "devices[0].launch_s is nothing", "seconds, more than 0"},
           {"\"allreduce\"", "\"alreduce\"", "choices is", "names of collectives"},
           {"\"allreduce\": [", "\"broadcast\": 3, \"allreduce\": [", "choices.broadcast is 3",
            "an array"},
           {"\"ranks\": 2", "\"ranks\": 0", "choices.allreduce[0].ranks is 0", "from 1 to"},
           {"\"cores\": 2,\n        \"lowest", "\"cores\": 3,\n        \"lowest",
            "choices.allreduce[0].cores is 3", "from 1 to 2"},
           {"\"highest\": 1023", "\"highest\": 0", "choices.allreduce[0].highest is 0",
            "from 1 to"},
           {"\"lowest\": 1,", "", "choices.allreduce[0].lowest is nothing", "a whole number"},
           {"\"one_shot\"", "\"two_shots\"", "choices.allreduce[0].algorithm is \"two_shots\"",
            "an algorithm of allreduce"},
           {"\"one_shot\"", "[[[{}]]]", "choices.allreduce[0].algorithm is [[[{}]]]", "a string"},
       }) {
    const std::string error = error_of(example_with(part, replacement));
    EXPECT_NE(error.find("tuning file /x/y.json: " + field), std::string::npos) << error;
    EXPECT_NE(error.find(expected), std::string::npos) << error;
    EXPECT_LT(error.size(), 400U) << error;
  }
}

// To print such a value for an error took more stack than there is.
TEST(Tuning, RefusesADocumentThatNestsDeeply) {
  const std::string deep(1 << 19, '[');
  const auto read = parse_tuning(R"({"format": )" + deep + std::string(1 << 19, ']') + "}", "x");
  EXPECT_EQ(read.status().message(), "tuning file x: its arrays and objects nest deeper than 100");
  EXPECT_NE(parse_tuning(R"({"format": ")" + deep + "\"}", "x").status().message().find("expected"),
            std::string::npos);
}

TEST(Tuning, RefusesOtherDocuments) {
  for (const char* text : {"", "[]", "1", "null", "{}", "\"x\"", "{\"format\": 1}",
                           "{\"format\": 1, \"key\": 1}", "\xff\xfe", "{\"format\": 1e999}"}) {
    EXPECT_NE(error_of(text).find("/x/y.json"), std::string::npos) << text;
  }
  EXPECT_NE(error_of(example_with("1.25e-07", "1e400")).find("/x/y.json"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '[')), "");
  EXPECT_NE(error_of("{\"format\": \"" + std::string(100'000, 'x') + "\"}").find("..."),
            std::string::npos);
}

TEST(Tuning, ChoicesAreOfOneNumberOfRanksAndOfTheCoresTheyShare) {
  const Tuning tuning = example();
  constexpr auto kAllreduce = static_cast<size_t>(Collective::kAllreduce);
  constexpr auto kBarrier = static_cast<size_t>(Collective::kBarrier);
  EXPECT_EQ(tuning.rules_for(2, 2)[kAllreduce].size(), 2U);
  EXPECT_EQ(tuning.rules_for(2, 64)[kAllreduce].size(), 2U) << "more cores than ranks: the same";
  EXPECT_EQ(tuning.rules_for(2, 1)[kAllreduce].size(), 0U);
  EXPECT_EQ(tuning.rules_for(3, 3)[kAllreduce].size(), 0U);
  EXPECT_EQ(tuning.rules_for(4, 2)[kBarrier].size(), 1U);
  EXPECT_EQ(tuning.rules_for(4, 4)[kBarrier].size(), 0U);
}

// ---- what a selector makes of it ---------------------------------------------------------------

Result<Selector> selector_with(std::map<std::string, std::string> variables,
                               tutti_tuner tuner = {}) {
  Advice advice{.rules = example().rules_for(2, 2), .rules_path = "/x/y.json", .tuner = tuner};
  return Selector::create(*read_environment(fake_environment(std::move(variables))), Machine(),
                          std::move(advice));
}

TEST(TunedSelector, PutsTheFileBeforeTheCostModel) {
  const Selector selector = *selector_with({});
  const Choice choice = selector.explain(allreduce_of(8));
  EXPECT_EQ(choice.algorithm->name, "one_shot");
  EXPECT_EQ(choice.origin, "tuning file /x/y.json");
  EXPECT_EQ(selector.choose(allreduce_of(8)).algorithm, choice.algorithm);
  EXPECT_EQ(selector.explain(allreduce_of(1 << 20)).algorithm->name, "ring");
  EXPECT_EQ(selector.explain(allreduce_of(0)).origin, "cost model") << "0 bytes were not measured";
}

TEST(TunedSelector, PutsAVariableBeforeTheFile) {
  const Selector selector = *selector_with({{"CCL_ALLREDUCE", "flat:0-100"}});
  EXPECT_EQ(selector.explain(allreduce_of(8)).algorithm->name, "flat");
  EXPECT_EQ(selector.explain(allreduce_of(8)).origin, "CCL_ALLREDUCE");
  EXPECT_EQ(selector.explain(allreduce_of(800)).origin, "tuning file /x/y.json");
}

TEST(TunedSelector, PassesOverWhatDoesNotApply) {
  const Selector selector = *selector_with({{"TUTTI_STRICT", "1"}});
  const Choice choice = selector.explain(allreduce_of(1 << 20));
  EXPECT_EQ(choice.origin, "cost model");
  EXPECT_NE(choice.note.find("tuning file /x/y.json demands ring, which does not apply"),
            std::string::npos)
      << choice.note;
}

struct Asked {
  const char* answer = nullptr;
  int times = 0;
  std::string collective = {};
  std::vector<std::string> algorithms = {};
  std::vector<double> seconds = {};
  tutti_type type{};
  size_t bytes = 0;
};
const char* answer(void* context, const tutti_tuner_query* query) {
  auto* asked = static_cast<Asked*>(context);
  ++asked->times;
  asked->collective = query->collective;
  asked->algorithms.assign(query->algorithms, query->algorithms + query->candidates);
  asked->seconds.assign(query->seconds, query->seconds + query->candidates);
  asked->type = query->type;
  asked->bytes = query->bytes;
  return query->size == sizeof *query && query->ranks == 2 ? asked->answer : "bad query";
}

TEST(TunedSelector, AsksTheTunerBetweenVariableAndFile) {
  Asked asked{.answer = "flat"};
  const tutti_tuner tuner{sizeof(tutti_tuner), answer, &asked};
  const Selector selector = *selector_with({{"CCL_ALLREDUCE", "two_shot:100-200"}}, tuner);
  EXPECT_EQ(selector.choose(allreduce_of(100)).algorithm->name, "two_shot");
  EXPECT_EQ(asked.times, 0);
  EXPECT_EQ(selector.choose(allreduce_of(8)).algorithm->name, "flat");
  EXPECT_EQ(asked.times, 1);
  EXPECT_EQ(selector.explain(allreduce_of(8)).origin, "the tuner");
  asked.answer = nullptr;
  EXPECT_EQ(selector.explain(allreduce_of(8)).origin, "tuning file /x/y.json");
}

TEST(TunedSelector, AsksNobodyAboutBuffersThatAllRanksSee) {
  Asked asked{.answer = "flat"};
  const tutti_tuner tuner{sizeof(tutti_tuner), answer, &asked};
  const Selector selector = *selector_with({}, tuner);
  Problem problem = allreduce_of(8);
  problem.limits.maps_peers = true;
  EXPECT_EQ(selector.explain(problem).origin, "cost model");
  EXPECT_EQ(asked.times, 0);
}

TEST(TunedSelector, TellsTheTunerWhatApplies) {
  Asked asked;
  const Selector selector = *selector_with({}, {sizeof(tutti_tuner), answer, &asked});
  Problem problem = allreduce_of(64);
  problem.type = DataType::kInt32;
  static_cast<void>(selector.choose(problem));
  EXPECT_EQ(asked.collective, "allreduce");
  EXPECT_EQ(asked.type, TUTTI_INT32);
  EXPECT_EQ(asked.bytes, 64U);
  EXPECT_TRUE(std::ranges::is_sorted(asked.seconds));
  EXPECT_GT(asked.algorithms.size(), 3U);
  for (const std::string& name : asked.algorithms) {
    EXPECT_NE(name, "inline") << "takes 56 bytes at most";
    EXPECT_NE(find_algorithm(Collective::kAllreduce, name), nullptr) << name;
  }
}

TEST(TunedSelector, PassesOverATunersUnknownOrUnfitName) {
  Asked asked{.answer = "fastest"};
  const Selector selector = *selector_with({}, {sizeof(tutti_tuner), answer, &asked});
  const Choice unknown = selector.explain(allreduce_of(64));
  EXPECT_EQ(unknown.origin, "tuning file /x/y.json");
  EXPECT_NE(unknown.note.find("the tuner demands \"fastest\""), std::string::npos) << unknown.note;
  asked.answer = "inline";
  const Choice unfit = selector.explain(allreduce_of(64));
  EXPECT_EQ(unfit.origin, "tuning file /x/y.json");
  EXPECT_NE(unfit.note.find("inline, which does not apply"), std::string::npos) << unfit.note;
}

}  // namespace
}  // namespace tutti
