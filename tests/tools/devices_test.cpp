// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the commands say of devices, and do on them: those of the test driver for Level Zero, and
// of OpenCL where there are some.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "comm/tuning_file.hpp"
#include "devices/device.hpp"
#include "tools/command.hpp"

namespace tutti_test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json devices_of(const std::string& api, const std::string& variables) {
  const Json info = Json::parse(run_tutti("info --json", variables).output, nullptr, false);
  for (const Json& one : info.at("devices")) {
    if (one.at("api") == api) return one.at("devices");
  }
  return Json::array();
}

// A file that is gone at the end.
class TuningFile {
 public:
  ~TuningFile() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string variable() const { return " TUTTI_TUNING_FILE=" + path_; }

 private:
  std::string path_ = testing::TempDir() + "tutti_device_" + std::to_string(getpid()) + ".json";
};

class CommandsOn : public testing::TestWithParam<const tutti::devices::DeviceApi*> {
 protected:
  void SetUp() override {
#ifdef TUTTI_TEST_ZE_PATH
    driver_ = "ZE_TEST_DEVICES=2 ZE_ENABLE_ALT_DRIVERS=" TUTTI_TEST_ZE_PATH;
#endif
    if (devices_of(api(), driver_).empty()) GTEST_SKIP() << "there is no device of " << api();
  }
  [[nodiscard]] static std::string api() { return std::string(GetParam()->name); }
  std::string driver_;
};

TEST_P(CommandsOn, AreAssumedToTakeSomeTimeUntilThatIsMeasured) {
  const TuningFile file;
  const CommandResult tune =
      run_tutti("tune --device " + api() + " -o " + file.path() + " 2>&1", driver_);
  ASSERT_EQ(tune.exit_status, 0) << tune.output;
  EXPECT_TRUE(contains(tune.output, "Written: " + file.path())) << tune.output;
  const auto tuning = tutti::read_tuning_file(file.path());
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  ASSERT_EQ(tuning->devices.size(), 1U);
  EXPECT_EQ(tuning->devices[0].api, api());

  const Json assumed = devices_of(api(), driver_).at(0);
  const Json measured = devices_of(api(), driver_ + file.variable()).at(0);
  EXPECT_EQ(assumed["figures"]["origin"], "assumed");
  EXPECT_EQ(measured["figures"]["origin"], "measured");
  EXPECT_EQ(measured["figures"]["driver"], measured["driver"]);
  for (const tutti::DeviceFigure& figure : tutti::device_figures()) {
    const std::string name(figure.name);
    EXPECT_EQ(assumed["figures"][name], tutti::DeviceFigures().*figure.value) << name;
    EXPECT_EQ(measured["figures"][name], tuning->devices[0].figures.*figure.value) << name;
  }
  EXPECT_TRUE(contains(run_tutti("info", driver_ + file.variable()).output, "measured figures"));
}

TEST_P(CommandsOn, KeepWhatIsKnownOfOtherDevices) {
  const TuningFile file;
  tutti::Tuning before;
  before.key = tutti::this_machine();
  before.devices = {{api(), "another", "1", true, {}}};
  before.choices = {{tutti::Collective::kAllreduce, 2, 2, 1, 9,
                     tutti::find_algorithm(tutti::Collective::kAllreduce, "ring")}};
  ASSERT_TRUE(write_tuning_file(file.path(), before).ok());
  for (int i = 0; i < 2; ++i) {
    const CommandResult tune =
        run_tutti("tune --device " + api() + " --index 0 -o " + file.path() + " 2>&1", driver_);
    ASSERT_EQ(tune.exit_status, 0) << tune.output;
  }
  const auto after = tutti::read_tuning_file(file.path());
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ(after->devices.size(), 2U) << "the same one takes the place of the old";
  EXPECT_NE(after->device(api(), "another"), nullptr);
  EXPECT_EQ(after->choices.size(), 1U);
}

TEST_P(CommandsOn, TimeEveryCollectiveAndCheckItsResults) {
  const CommandResult bench =
      run_tutti("bench all -n 2 -y 4,4K -i 2 -w 1 --device " + api() + " 2>&1", driver_);
  EXPECT_EQ(bench.exit_status, 0) << bench.output;
  EXPECT_TRUE(contains(bench.output, "# buffers on " + api() + " device 0")) << bench.output;
}

TEST_P(CommandsOn, NameADeviceThatIsNotThere) {
  for (const char* command : {"tune", "bench allreduce -n 2 -y 4"}) {
    const CommandResult result =
        run_tutti(std::string(command) + " --device " + api() + " --index 99 2>&1", driver_);
    EXPECT_EQ(result.exit_status, 1) << result.output;
    EXPECT_TRUE(contains(result.output, "device 99: expected 0 to ")) << result.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Apis, CommandsOn,
                         testing::ValuesIn(tutti::devices::device_apis().begin(),
                                           tutti::devices::device_apis().end()),
                         [](const auto& info) {
                           std::string name(info.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(CommandsOnDevices, RefuseWhatMakesNoSense) {
  for (const char* command : {"tune", "bench allreduce -n 2 -y 4"}) {
    const std::string given(command);
    expect_refusal(given + " --device cuda", "--device is 'cuda', expected one of: ");
    expect_refusal(given + " --index 1", "--index requires --device");
    expect_refusal(given + " --device opencl --index -1", "--index: ");
  }
  expect_refusal("tune --device opencl -n 2", "--ranks excludes --device");
}

TEST(CommandsOnDevices, SayWhyThereAreNone) {
  for (const std::string command : {"tune", "bench"}) {
    const CommandResult result =
        run_tutti(command + (command == "bench" ? " allreduce -n 1 -y 4" : "") +
                      " --device level-zero 2>&1 >/dev/null",
                  "ZE_ENABLE_ALT_DRIVERS=/not/there.so");
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_NE(result.output.find("tutti " + command + ": Level Zero"), std::string::npos)
        << result.output;
  }
}

TEST(CommandsOnDevices, ExplainByWhichFiguresTheyChoose) {
  const auto origin = [](const std::string& variables) {
    return std::string(Json::parse(
        run_tutti("explain allreduce -n 2 -b 4kb --on-device --json", variables).output)["origin"]);
  };
  EXPECT_TRUE(contains(origin(""), "assumed figures of devices")) << origin("");
  const TuningFile file;
  tutti::Tuning tuning;
  tuning.key = tutti::this_machine();
  tuning.devices = {{"opencl", "a CPU", "1", false, {}}};
  ASSERT_TRUE(write_tuning_file(file.path(), tuning).ok());
  EXPECT_TRUE(contains(origin(file.variable()), "assumed")) << "OpenCL runs no call directly";
  tuning.devices.push_back({"level-zero", "Example", "1", true, {}});
  ASSERT_TRUE(write_tuning_file(file.path(), tuning).ok());
  EXPECT_EQ(origin(file.variable()),
            "measured figures of devices (level-zero Example; tuning file " + file.path() + ")");
  const std::string staged =
      run_tutti("explain allgatherv -n 2 --hosts 2 -b 4kb --on-device", file.variable()).output;
  EXPECT_TRUE(contains(staged, "us from the device or to it (measured)")) << staged;
  const std::string shared =
      run_tutti("explain allreduce -n 4 --hosts 2 -b 16mb --on-device").output;
  EXPECT_TRUE(contains(shared, "in 8 pieces: each device reduces 1/2 of one")) << shared;
}

}  // namespace
}  // namespace tutti_test
