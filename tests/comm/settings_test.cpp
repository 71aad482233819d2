// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What ranks agree on that see, know and want different things.
#include "comm/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/fields.hpp"
#include "core/handshake.hpp"
#include "env/values.hpp"
#include "support/threads_as_ranks.hpp"

namespace tutti {
namespace {

using Agreements = std::vector<Result<Agreement>>;

// What each rank comes to if this is what they say.
Agreements agree_all(std::vector<OwnSettings> views) {
  for (OwnSettings& view : views) {
    if (view.tuning.ok()) view.tuning->tuning.key = {"a processor", 8, 1 << 20, 1, "1.2.3"};
  }
  ThreadMeeting meeting(static_cast<int>(views.size()));
  Agreements agreements(views.size(), Agreement());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < views.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ThreadExchange exchange(meeting, static_cast<int>(rank));
      agreements[rank] = agree(exchange, views[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return agreements;
}

std::vector<std::string> errors_of(const std::vector<OwnSettings>& views) {
  std::vector<std::string> errors;
  for (const auto& agreement : agree_all(views)) {
    errors.emplace_back(agreement.status().message());
  }
  return errors;
}

// What each of two ranks is told when rank 1 has other variables.
std::vector<std::string> told(const JobVariables& of_rank_1) {
  std::vector<OwnSettings> views(2);
  views[1].variables = of_rank_1;
  return errors_of(views);
}

// Says of itself another version.
class OtherVersion : public ThreadExchange {
 public:
  using ThreadExchange::ThreadExchange;
  Result<std::vector<std::vector<std::byte>>> allgather(std::span<const std::byte> mine) override {
    std::string said(reinterpret_cast<const char*>(mine.data()), mine.size());
    const std::string own = version_text(TUTTI_VERSION);
    if (const size_t at = said.find(own); at != std::string::npos) {
      said.replace(at, own.size(), std::string(own.size() - 1, '.') + "X");
    }
    return ThreadExchange::allgather(bytes_of(std::string_view(said)));
  }
};

TEST(Settings, RanksOfDifferentVersionsAreToldBoth) {
  const OwnSettings view;
  ThreadMeeting meeting(2);
  std::string told;
  std::thread other([&] {
    OtherVersion exchange(meeting, 1);
    EXPECT_FALSE(agree(exchange, view).ok());
  });
  ThreadExchange exchange(meeting, 0);
  told = agree(exchange, view).status().message();
  other.join();
  const std::string own = version_text(TUTTI_VERSION);
  EXPECT_EQ(told, "the version of Tutti differs between ranks: " + own + " on rank 0, " +
                      std::string(own.size() - 1, '.') + "X on rank 1");
}

TEST(Settings, ThatDifferAreNamedWithBothValuesOnAllRanks) {
  JobVariables other;
  other.alltoallv = "flat";
  EXPECT_EQ(told(other),
            (std::vector<std::string>{
                "CCL_ALLTOALLV differs between ranks: not set on rank 0, flat on rank 1",
                "CCL_ALLTOALLV differs between ranks: flat on rank 1, not set on rank 0"}));
  other = {};
  other.pull = false;
  EXPECT_EQ(told(other)[0], "TUTTI_SHM_PULL differs between ranks: auto on rank 0, 0 on rank 1");
  other = {};
  other.strict = true;
  EXPECT_EQ(told(other)[0], "TUTTI_STRICT differs between ranks: 0 on rank 0, 1 on rank 1");
}

void change(Text& value) { value += "x"; }
void change(Integer& value) { value += 1; }
void change(Boolean& value) { value = !value; }
void change(AutoBoolean& value) { value = !value.value_or(true); }
void change(Bytes& value) { value += 1; }
void change(AutoBytes& value) { value = value.value_or(0) + 1; }

// Plans see all of these, and no other variable: the struct has no other fields.
TEST(Settings, OfTheJobAreAllCompared) {
  int variables = 0;
#define TUTTI_IF_kProcess(field, name)
#define TUTTI_IF_kJob(field, name)                                    \
  {                                                                   \
    JobVariables other;                                               \
    change(other.field);                                              \
    for (const std::string& error : told(other)) {                    \
      EXPECT_TRUE(error.starts_with(name " differs between ranks: ")) \
          << name << " gives \"" << error << '"';                     \
    }                                                                 \
    ++variables;                                                      \
  }
#define TUTTI_VARIABLE(field, name, type, default_value, lowest, highest, scope, help) \
  TUTTI_IF_##scope(field, name)
#include "env/variables.inc"
#undef TUTTI_VARIABLE
#undef TUTTI_IF_kProcess
#undef TUTTI_IF_kJob
  EXPECT_EQ(static_cast<size_t>(variables), job_settings(JobVariables()).size());
}

const char* no_answer(void*, const tutti_tuner_query*) { return nullptr; }

TEST(Settings, ATunerOfOneRankIsRefusedOnAll) {
  std::vector<OwnSettings> views(2);
  views[1].tuner = {sizeof(tutti_tuner), no_answer, nullptr};
  EXPECT_EQ(errors_of(views)[0],
            "tutti_comm_config.tuner differs between ranks: not set on rank 0, given on rank 1");
  views[0].tuner = {sizeof(tutti_tuner), no_answer, &views};
  EXPECT_EQ(errors_of(views), std::vector<std::string>(2));
}

TEST(Settings, OfOneProcessMayDiffer) {
  Environment other;
  other.log_level = LogLevel::kError;
  other.timeout_ms = TimeLimit{1};
  EXPECT_EQ(errors_of({*own_settings(Environment(), 0, 2), *own_settings(other, 1, 2)}),
            std::vector<std::string>(2));
}

TEST(Settings, LongerThanARoundArriveWhole) {
  OwnSettings view;
  for (int i = 0; i < 1000; ++i) view.variables.allreduce += "one_shot:0-8191;";
  for (const auto& agreement : agree_all({view, view})) {
    ASSERT_TRUE(agreement.ok()) << agreement.status().message();
    EXPECT_EQ(agreement->inputs.variables.allreduce, view.variables.allreduce);
  }
  OwnSettings other = view;
  other.variables.allreduce.back() = ':';
  EXPECT_TRUE(errors_of({view, other})[0].starts_with("CCL_ALLREDUCE differs between ranks"));
}

// What rank 1 says in the place of what agree() says.
void expect_refused(const std::vector<std::byte>& said) {
  ThreadMeeting meeting(2);
  std::thread other([&] { meeting.allgather(1, said); });
  ThreadExchange exchange(meeting, 0);
  const auto agreement = agree(exchange, OwnSettings());
  other.join();
  EXPECT_FALSE(agreement.ok());
  EXPECT_NE(agreement.status().message().find("rank 1"), std::string::npos)
      << agreement.status().message();
}

TEST(Settings, ThatAreNoneAreAnErrorThatNamesTheRank) {
  expect_refused({});
  std::vector<std::byte> said(3 * sizeof(uint64_t));
  const auto say = [&said](size_t at, uint64_t number) {
    std::memcpy(said.data() + at * sizeof number, &number, sizeof number);
  };
  say(0, UINT64_MAX);
  expect_refused(said);  // more bytes than anybody says
  say(0, 2 * sizeof(uint64_t));
  say(1, UINT64_MAX);
  expect_refused(said);  // a row longer than the rest
  say(1, 0);
  expect_refused(said);  // a row, and nothing of the next
}

// ---- what plans are made of --------------------------------------------------------------------

OwnSettings view_with(std::vector<int> cores) {
  OwnSettings view;
  view.cores = std::move(cores);
  return view;
}

// All of it, in words.
std::string words_of(const PlanInputs& inputs) {
  std::string text;
  for (const JobSetting& setting : job_settings(inputs.variables)) {
    text += fmt::format("{}={}\n", setting.name, setting.value);
  }
  const auto hosts = [](const Hosts& of) {
    return fmt::format("{} groups {}", fmt::join(of.host_of, ","),
                       of.groups == nullptr ? "none" : fmt::format("{}", of.groups->count()));
  };
  return text + fmt::format(
                    "tuner {}\n{}\n{}\n{}\nhosts {}\nslots {} {} {}\ndomains {}\n"
                    "here {} ranks {} cores, pulls {} views {}",
                    inputs.tuner.choose != nullptr, inputs.tuning.path,
                    print_tuning(inputs.tuning.tuning),
                    inputs.network ? to_string(*inputs.network) : "not known", hosts(inputs.hosts),
                    inputs.slots.call_bytes, inputs.slots.slot_bytes, inputs.slots.ping_pong_bytes,
                    fmt::join(inputs.cache_domains, ","), inputs.local_ranks, inputs.cores,
                    inputs.pulls, inputs.maps_peers);
}

struct Difference {
  std::string name;
  std::function<void(OwnSettings&)> makes;
};
const Difference kDifferences[] = {
    {"fewer cores", [](OwnSettings& view) { view.cores = {1}; }},
    {"other cores",
     [](OwnSettings& view) {
       view.cores = {1000, 5000};
     }},
    {"no core", [](OwnSettings& view) { view.cores = {}; }},
    {"a quota",
     [](OwnSettings& view) {
       view.cpu_limits = {{1, 2, 0.05}};
     }},
    {"quotas",
     [](OwnSettings& view) {
       view.cpu_limits = {{1, 2, 1.5}, {1, 1, 64}};
     }},
    {"a cache", [](OwnSettings& view) { view.cache_domain = 3; }},
    {"a group of hosts", [](OwnSettings& view) { view.host_group = 9; }},
    {"a network",
     [](OwnSettings& view) {
       view.network = NetworkFigures{1e-6, 1e-10, 0, "known"};
     }},
    {"a device",
     [](OwnSettings& view) {
       view.tuning->tuning.devices = {{"level-zero", "a", "1", true, {.launch_s = 3e-6}}};
     }},
    {"other figures",
     [](OwnSettings& view) {
       view.tuning->tuning.machine.pull_s *= 3;
       view.tuning->tuning.machine.cache_bytes = 1 << 16;
     }},
    {"a tuning file",
     [](OwnSettings& view) {
       view.tuning->path = "/a/file";
       view.tuning->tuning.choices = {{Collective::kBarrier, 3, 2, 0, UINT64_MAX,
                                       find_algorithm(Collective::kBarrier, "dissemination")}};
     }},
};

TEST(Agreement, IsTheSameOnAllRanksWhateverOneOfThemSees) {
  for (const Difference& difference : kDifferences) {
    for (const size_t different : {0u, 1u, 3u}) {
      std::vector<OwnSettings> views(4, view_with({0, 1, 2, 3}));
      difference.makes(views[different]);
      const Agreements agreements = agree_all(views);
      for (const auto& agreement : agreements) {
        ASSERT_TRUE(agreement.ok()) << difference.name << ": " << agreement.status().message();
        EXPECT_EQ(words_of(agreement->inputs), words_of(agreements[0]->inputs))
            << difference.name << " on rank " << different;
        EXPECT_EQ(agreement->key, agreements[0]->key);
      }
    }
  }
}

TEST(Agreement, DiffersBetweenHostsInNothingButTheirCores) {
  for (const Difference& difference : kDifferences) {
    std::vector<OwnSettings> views(4, view_with({0, 1}));
    views[1].host = views[3].host = 1;
    difference.makes(views[3]);
    Agreements agreements = agree_all(views);
    for (auto& agreement : agreements) ASSERT_TRUE(agreement.ok()) << difference.name;
    EXPECT_EQ(words_of(agreements[0]->inputs), words_of(agreements[2]->inputs));
    EXPECT_EQ(words_of(agreements[1]->inputs), words_of(agreements[3]->inputs));
    agreements[3]->inputs.cores = agreements[0]->inputs.cores;
    EXPECT_EQ(words_of(agreements[0]->inputs), words_of(agreements[3]->inputs)) << difference.name;
  }
}

TEST(Agreement, AQuotaOfAnyRankBoundsTheCoresOfAllOnItsHost) {
  for (const size_t limited : {0u, 1u}) {
    std::vector<OwnSettings> views(3, view_with({0, 1, 2, 3}));
    views[2].host = 1;
    views[limited].cpu_limits = {{1, 2, 0.05}};
    const Agreements agreements = agree_all(views);
    EXPECT_EQ(agreements[0]->inputs.cores, 1);
    EXPECT_EQ(agreements[1]->inputs.cores, 1);
    EXPECT_TRUE(agreements[1]->inputs.oversubscribed());
    EXPECT_EQ(agreements[2]->inputs.cores, 4);
    EXPECT_FALSE(agreements[2]->inputs.oversubscribed());
  }
}

TEST(Agreement, QuotasOfTheControlGroupsOfEachRankAreSeen) {
  const std::filesystem::path root =
      testing::TempDir() + "tutti_agreed_" + std::to_string(getpid());
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "sys/fs/cgroup/a");
  std::ofstream(root / "proc/self/cgroup") << "0::/a\n";
  std::ofstream(root / "sys/fs/cgroup/a/cpu.max") << "3000 100000\n";
  const Agreements agreements = agree_all(
      {*own_settings(Environment(), 0, 2), *own_settings(Environment(), 1, 2, root.string())});
  EXPECT_EQ(agreements[0]->inputs.cores, 1);
  EXPECT_EQ(agreements[1]->inputs.cores, 1);
  std::filesystem::remove_all(root);
}

// ---- cores -------------------------------------------------------------------------------------

int cores_of(const std::vector<OwnSettings>& views) {
  std::vector<const RankPlace*> ranks;
  for (const OwnSettings& view : views) ranks.push_back(&view);
  return cores_together(ranks);
}

OwnSettings limited_to(std::vector<CpuLimit> limits) {
  OwnSettings view = view_with({0, 1, 2, 3, 4, 5, 6, 7});
  view.cpu_limits = std::move(limits);
  return view;
}

TEST(CoresTogether, AreAllThatSomeRankMayUse) {
  EXPECT_EQ(cores_of({view_with({0, 1}), view_with({1, 2}), view_with({7})}), 4);
  EXPECT_EQ(cores_of({view_with({3}), view_with({3})}), 1);
  EXPECT_EQ(cores_of({view_with({})}), 1);
}

TEST(CoresTogether, AreNoMoreThanAControlGroupGivesItsRanks) {
  EXPECT_EQ(cores_of({limited_to({{1, 1, 2.9}})}), 2);
  EXPECT_EQ(cores_of({limited_to({{1, 1, 3}}), limited_to({{1, 1, 3}}), limited_to({{1, 1, 3}})}),
            3)
      << "they share one";
  EXPECT_EQ(cores_of({limited_to({{1, 1, 1}}), limited_to({{1, 2, 1}}), limited_to({{2, 1, 1}})}),
            3)
      << "each has its own";
  EXPECT_EQ(cores_of({limited_to({{1, 1, 1}, {1, 9, 1}}), limited_to({{1, 2, 1}, {1, 9, 1}})}), 1)
      << "what is around both gives one together";
  EXPECT_EQ(cores_of({limited_to({}), limited_to({}), limited_to({}), limited_to({{1, 1, 0.5}})}),
            2)
      << "ranks go at the pace of the slowest";
  EXPECT_EQ(cores_of({limited_to({{1, 1, 0.01}}), limited_to({})}), 1);
  EXPECT_EQ(cores_of({limited_to({{1, 1, 100}})}), 8);
}

// ---- figures of rank 0 -------------------------------------------------------------------------

// Three ranks that have these tuning files.
Agreements share(const std::vector<std::string>& files) {
  std::vector<OwnSettings> views;
  for (const std::string& file : files) {
    Environment environment;
    environment.tuning_file = file;
    views.push_back(*own_settings(environment, static_cast<int>(views.size()), 3));
    views.back().tuning = Runtime(environment).tuning();
  }
  return agree_all(views);
}

TEST(SharedFigures, TheTuningOfRankZeroCounts) {
  const std::string path =
      testing::TempDir() + "tutti_shared_" + std::to_string(getpid()) + ".json";
  Tuning tuning;
  tuning.key = {"a processor", 8, 1 << 20, 1, "1.2.3"};
  tuning.devices = {{"level-zero", "a", "1", true, {.launch_s = 3e-6}}};
  for (int i = 0; i < 200; ++i) {  // several rounds
    tuning.choices.push_back({Collective::kBarrier, 3, 2, 0, static_cast<uint64_t>(i),
                              find_algorithm(Collective::kBarrier, "dissemination")});
  }
  ASSERT_TRUE(write_tuning_file(path, tuning).ok());
  for (const auto& result : share({path, "none", "/not/there"})) {
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_EQ(result->inputs.tuning.path, path);
    EXPECT_EQ(print_tuning(result->inputs.tuning.tuning), print_tuning(tuning));
  }
  const Agreements measured = share({"none", path, path});
  for (const auto& result : measured) {
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->inputs.tuning.path, "");
    EXPECT_EQ(print_tuning(result->inputs.tuning.tuning),
              print_tuning(measured[0]->inputs.tuning.tuning));
  }
  std::filesystem::remove(path);
}

TEST(SharedFigures, AnErrorOfRankZeroIsEverybodys) {
  for (const auto& result : share({"/not/there", "none", "none"})) {
    EXPECT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find("/not/there"), std::string::npos);
  }
}

TEST(SharedFigures, TheNetworkThatRankZeroKnowsCounts) {
  std::vector<OwnSettings> views(3);
  views[1].network = NetworkFigures{1, 2, 3, "another"};
  for (const auto& agreement : agree_all(views)) EXPECT_FALSE(agreement->inputs.network);
  views[0].network = NetworkFigures{1e-6, 1 / 3.0, 0, "known"};
  for (const auto& agreement : agree_all(views)) {
    ASSERT_TRUE(agreement->inputs.network);
    EXPECT_EQ(agreement->inputs.network->line_byte_s, 1 / 3.0);
    EXPECT_EQ(agreement->inputs.network->origin, "known");
  }
}

}  // namespace
}  // namespace tutti
