// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs that hang and go on again, as tutti watch tells of them.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "inspect/stuck_job.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using tutti_test::CommandResult;
using tutti_test::eventually;
using tutti_test::run_tutti;
using tutti_test::StuckJob;
using tutti_test::why;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tutti-watch-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::vector<fs::path> reports() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() == ".txt") found.push_back(entry.path());
    }
    return found;
  }

 private:
  fs::path path_;
};

// tutti watch --json, until the object is gone.
class Watch {
 public:
  Watch(const StuckJob& job, const Folder& folder, const std::string& more = "")
      : Watch("--job " + job.name() + " " + more, folder / "lines") {}
  Watch(const std::string& options, const fs::path& output) : output_(output) {
    const std::string line = "exec '" TUTTI_COMMAND_PATH "' watch --json --interval 0.1 " +
                             options + " > '" + output_.string() + "' 2>&1";
    pid_ = fork();
    if (pid_ == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Watch() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Watch(const Watch&) = delete;

  [[nodiscard]] std::vector<Json> lines() const {
    std::vector<Json> all;
    std::istringstream text(text_of(output_));
    for (std::string line; std::getline(text, line);) {
      all.push_back(Json::parse(line, nullptr, false));
      EXPECT_TRUE(all.back().is_object()) << line;
    }
    return all;
  }
  [[nodiscard]] std::vector<Json> at_least(size_t count) const {
    eventually([&] { return lines().size() >= count; });
    const std::vector<Json> all = lines();
    EXPECT_GE(all.size(), count);
    return all;
  }
  // Its exit status, once it ends by itself.
  int status() {
    int status = 0;
    eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  fs::path output_;
  pid_t pid_ = -1;
};

TEST(Watch, SaysOnceThatAJobHangsAndOnceThatItIsOver) {
  const Folder folder;
  const StuckJob job(3, "stops");
  const Watch watch(job, folder, "--reports '" + folder.path() + "'");
  const Json hung = watch.at_least(1).at(0);
  EXPECT_EQ(hung["job"], job.name());
  EXPECT_EQ(hung["state"], "hung");
  EXPECT_EQ(hung["cause"], "stopped");
  EXPECT_EQ(hung["ranks"], Json({2}));
  EXPECT_EQ(hung["call"], "allreduce #5 (2 float32, max)");
  EXPECT_NE(hung["host"], "");
  const std::string report = text_of(hung["report"].get<std::string>());
  for (const char* part : {"is stopped (state T)", "last calls of \"world\"",
                           "    broadcast #4 (4 float32, root 0), "}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << " in " << report;
  }
  const Json told = why(job, "hung");
  kill(told["communicators"][0]["ranks"][2]["pid"].get<int>(), SIGCONT);
  const std::vector<Json> lines = watch.at_least(2);
  EXPECT_EQ(lines[1]["state"], "over");
  EXPECT_EQ(lines[1]["was"], "hung");
  EXPECT_GT(lines[1]["seconds"].get<double>(), 0);
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_EQ(folder.reports().size(), 1u);
}

TEST(Watch, SaysWhichRankSlowsAJob) {
  const Folder folder;
  const StuckJob job(2, "late");
  const Watch watch(job, folder);
  // On a busy machine there may be other causes, too.
  const auto is_told = [&] {
    const std::vector<Json> lines = watch.lines();
    return std::ranges::any_of(lines, [](const Json& line) {
      return line["state"] == "slow" && line["cause"] == "sleeps" && line["ranks"] == Json({1}) &&
             line["report"].is_null();
    });
  };
  eventually(is_told);
  EXPECT_TRUE(is_told());
}

TEST(Watch, EndsWithTheJobThatItWasAskedFor) {
  const Folder folder;
  auto job = std::make_unique<StuckJob>(2, "stops");
  Watch watch(*job, folder);
  (void)watch.at_least(1);
  job.reset();
  EXPECT_EQ(watch.status(), 0);
  const std::vector<Json> lines = watch.lines();
  EXPECT_EQ(lines.back()["state"], "over");
  EXPECT_EQ(lines.back()["text"], "the job is gone");
}

// A job may destroy its communicator long before it makes the next.
TEST(Watch, StaysWithAJobThatHasNoCommunicatorForAWhile) {
  const Folder folder;
  auto job = std::make_unique<StuckJob>(2, "stops-and-ends");
  const Json told = why(*job, "hung");
  const int first = told["communicators"][0]["ranks"][0]["pid"];
  const std::string by_name = folder / "by-name";
  Watch watch(*job, folder, "--prometheus '" + by_name + "'");
  (void)watch.at_least(1);
  kill(told["communicators"][0]["ranks"][1]["pid"].get<int>(), SIGCONT);
  (void)job->output_until("ended\n");
  EXPECT_EQ(watch.at_least(2)[1]["state"], "over");
  const std::string by_pid = folder / "by-pid";
  const std::string late_lines = folder / "late-lines";
  Watch late("--prometheus '" + by_pid + "' " + std::to_string(first), late_lines);
  for (const std::string& file : {by_name, by_pid}) {
    eventually([&] { return text_of(file).find("tutti_calls_total{") == std::string::npos; });
    for (int look = 0; look < 2; ++look) {
      std::error_code none;
      const auto before = fs::last_write_time(file, none);
      eventually([&] { return fs::last_write_time(file, none) > before; });
      EXPECT_GT(fs::last_write_time(file, none), before) << file;
    }
  }
  EXPECT_NE(text_of(late_lines).find("has no communicator of Tutti now"), std::string::npos);
  job.reset();
  EXPECT_EQ(watch.status(), 0);
  EXPECT_EQ(late.status(), 0);
  EXPECT_FALSE(fs::exists(by_name));
  EXPECT_FALSE(fs::exists(by_pid));
}

TEST(Watch, TellsOnceByItsStatusHowAJobIs) {
  const auto once = [](const StuckJob& job) {
    return run_tutti("watch --once --job " + job.name());
  };
  const StuckJob idle(2, "idle");
  EXPECT_EQ(once(idle).exit_status, 0);
  const StuckJob late(2, "late");
  CommandResult told;
  eventually([&] { return (told = once(late)).exit_status == 1; });
  EXPECT_EQ(told.exit_status, 1);
  EXPECT_NE(told.output.find(late.name() + " slow (sleeps): rank 1 (pid "), std::string::npos)
      << told.output;
  const StuckJob stops(2, "stops");
  eventually([&] { return (told = once(stops)).exit_status == 2; });
  EXPECT_EQ(told.exit_status, 2);
  EXPECT_NE(told.output.find(stops.name() + " hung (stopped): rank 1 (pid "), std::string::npos)
      << told.output;
  EXPECT_EQ(run_tutti("watch --once --job no-such-job 2>&1").exit_status, 3);
}

TEST(Watch, WritesMetrics) {
  const Folder folder;
  const StuckJob job(2, "stops");
  (void)why(job, "hung");
  const std::string file = folder / "tutti.prom";
  const Watch watch(job, folder, "--prometheus '" + file + "'");
  const std::string hung = "tutti_hung{tutti_job=\"" + job.name() + "\"} 1\n";
  eventually([&] { return text_of(file).find(hung) != std::string::npos; });
  const std::string text = text_of(file);
  const std::string blamed =
      "tutti_blamed{tutti_job=\"" + job.name() + "\",cause=\"stopped\",rank=\"1\",host=\"";
  for (const std::string& part :
       {hung, blamed, "tutti_calls_total{tutti_job=\"" + job.name() + "\",communicator=\"world\"",
        std::string("\ntutti_watch_time_seconds ")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(Watch, WritesMetricsOfTheOnlyLook) {
  const Folder folder;
  const std::string file = folder / "tutti.prom";
  const auto state_of = [&](const StuckJob& job, int status) {
    eventually([&] {
      return run_tutti("watch --once --job " + job.name() + " --prometheus '" + file + "'")
                 .exit_status == status;
    });
    const std::string text = text_of(file);
    std::string state;
    for (const std::string name : {"hung", "slow"}) {
      const std::string begin = "\ntutti_" + name + "{tutti_job=\"" + job.name() + "\"} ";
      const size_t found = text.find(begin);
      state += found == std::string::npos ? '?' : text[found + begin.size()];
    }
    return state;
  };
  EXPECT_EQ(state_of(StuckJob(2, "idle"), 0), "00");
  EXPECT_EQ(state_of(StuckJob(2, "late"), 1), "01");
  EXPECT_EQ(state_of(StuckJob(2, "stops"), 2), "10");
}

TEST(Watch, WritesEachSeriesOnce) {
  const Folder folder;
  const StuckJob job(2, "two-of-one-name");
  const std::string file = folder / "tutti.prom";
  (void)run_tutti("watch --once --job " + job.name() + " --prometheus '" + file + "'");
  std::istringstream text(text_of(file));
  std::set<std::string> series;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_GT(series.size(), 10u);
}

// The name that torchrun gives all jobs for which it was told none.
TEST(Watch, TakesNoneForNoName) {
  const StuckJob job(2, "idle", "TORCHELASTIC_RUN_ID=none");
  EXPECT_EQ(run_tutti("watch --once --job none 2>&1").exit_status, 3);
}

TEST(Watch, SaysWhatItCannotWrite) {
  const StuckJob job(2, "stops");
  const CommandResult refused =
      run_tutti("watch --once --reports /proc/reports --job " + job.name() + " 2>&1");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.output.find("tutti watch: making /proc/reports: "), std::string::npos)
      << refused.output;
}

// ---- by itself ---------------------------------------------------------------------------------

std::vector<int> watchers_of(const Folder& folder) {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string words = text_of(entry.path() / "cmdline");
    std::ranges::replace(words, '\0', ' ');
    if (words.starts_with("tutti watch ") && words.find(folder.path()) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

TEST(WatchByItself, ReportsAHangAndEndsWithTheJob) {
  const Folder folder;
  {
    // Rank 0 sees that it has no child.
    const StuckJob job(3, "stops", "TUTTI_WATCH='" + folder.path() + "'");
    eventually([&] { return !folder.reports().empty(); });
    ASSERT_EQ(folder.reports().size(), 1u) << text_of(folder / "watch.log");
    EXPECT_NE(text_of(folder.reports()[0]).find("is stopped (state T)"), std::string::npos);
    EXPECT_NE(text_of(folder / "watch.log").find(job.name() + " hung (stopped): rank 2 (pid "),
              std::string::npos);
    const std::vector<int> watchers = watchers_of(folder);
    ASSERT_EQ(watchers.size(), 1u);
    EXPECT_EQ(sched_getscheduler(watchers[0]), SCHED_BATCH);
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(watchers[0])), 19);
    const std::string by_whom = "-" + std::to_string(watchers[0]) + "-1-hung-stopped.txt";
    EXPECT_TRUE(folder.reports()[0].string().ends_with(by_whom)) << folder.reports()[0];
  }
  eventually([&] { return watchers_of(folder).empty(); });
  EXPECT_TRUE(watchers_of(folder).empty());
}

TEST(WatchByItself, SaysThatItCannotBeStarted) {
  const StuckJob job(2, "idle", "TUTTI_WATCH=/proc/reports");
  EXPECT_NE(job.said().find("warn: TUTTI_WATCH: writing to /proc/reports: "), std::string::npos)
      << job.said();
}

}  // namespace
