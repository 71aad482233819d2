// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A job of the program `stuck`, started by tutti run, that ends with the object.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tools/command.hpp"

namespace tutti_test {

// Ends a hang and nothing else.
inline constexpr std::chrono::seconds kPatience{60};

template <typename Ready>
void eventually(const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

class StuckJob {
 public:
  // `variables` as of env(1).
  StuckJob(int ranks, const std::string& scenario, const std::string& variables = "") {
    static int jobs = 0;
    name_ = "stuck-" + std::to_string(getpid()) + "-" + std::to_string(jobs++);
    const std::string line = "exec env TUTTI_TUNING_FILE=none SLURM_JOB_ID=" + name_ + " " +
                             variables + " '" TUTTI_COMMAND_PATH "' run -n " +
                             std::to_string(ranks) + " '" TUTTI_STUCK_PATH "' " + scenario +
                             " 2>&1";
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    output_ = ends[0];
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    for (int rank = 0; rank < ranks; ++rank) said_ += output_until("ready\n");
  }
  ~StuckJob() {
    // Its ranks die with it, stopped ones too.
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(output_);
  }
  StuckJob(const StuckJob&) = delete;

  // By which tutti why finds it.
  [[nodiscard]] const std::string& name() const { return name_; }

  // What it has said up to when the last rank got stuck.
  [[nodiscard]] const std::string& said() const { return said_; }
  // What it has said since the last time, up to the end of the line that has `text`.
  std::string output_until(const std::string& text) const {
    std::string said;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (said.find(text) == std::string::npos || !said.ends_with('\n')) {
      pollfd ready{output_, POLLIN, 0};
      char next = 0;
      const bool more = poll(&ready, 1, 100) <= 0 || read(output_, &next, 1) == 1;
      if (next != 0) said.push_back(next);
      if (!more || std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "no \"" << text << "\" in: " << said;
        break;
      }
    }
    return said;
  }

 private:
  std::string name_;
  std::string said_;
  pid_t pid_ = -1;
  int output_ = -1;
};

inline std::string verdict_of(const nlohmann::json& job) {
  return job.is_object() ? job["verdict"]["text"].get<std::string>() : "";
}

// What `tutti why` tells of the job as soon as it is `right`, or else the last that it told: of its
// first host, where a rank that does not answer keeps it from knowing that another belongs to it.
template <typename Right>
nlohmann::json why_once(const StuckJob& job, const Right& right) {
  nlohmann::json told;
  eventually([&] {
    const CommandResult result = run_tutti("why --json --job " + job.name());
    const auto all = nlohmann::json::parse(result.output, nullptr, false);
    if (!all.is_object() || all["jobs"].empty()) return false;
    EXPECT_EQ(all["status"], result.exit_status);
    told = all["jobs"][0];
    return right(told);
  });
  EXPECT_TRUE(told.is_object()) << "nothing was told that can be read";
  return told;
}

// As soon as its verdict has that outcome and text.
inline nlohmann::json why(const StuckJob& job, const std::string& outcome,
                          const std::string& text = "") {
  return why_once(job, [&](const nlohmann::json& told) {
    return told["verdict"]["outcome"] == outcome &&
           verdict_of(told).find(text) != std::string::npos;
  });
}

// Whether the rank waits in a call, as is seen a moment after it has begun to.
inline bool waits(const nlohmann::json& told, size_t rank) {
  const nlohmann::json& ranks = told["communicators"][0]["ranks"];
  return ranks.size() > rank && !ranks[rank]["waits"].empty();
}

}  // namespace tutti_test
