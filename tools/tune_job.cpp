// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "core/fd.hpp"
#include "core/files.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "select/selector.hpp"

namespace tutti::tune {
namespace {

constexpr const char* kThisCommand = "/proc/self/exe";

// Two ranks that share a core by chance would measure just that.
std::vector<std::string> command_of(const Job& job, const std::string& result) {
  const std::string ranks = std::to_string(job.ranks);
  const bool enough = static_cast<int>(tutti::usable_cores().size()) >= job.ranks;
  return {kThisCommand,
          "run",
          "-n",
          ranks,
          "--bind-to",
          enough ? "core" : "none",
          kThisCommand,
          "tune",
          "--result",
          result,
          "--ranks",
          ranks,
          "--collectives",
          fmt::format("{}", fmt::join(job.collectives, ",")),
          "--sizes",
          fmt::format("{}", fmt::join(job.sizes, ",")),
          "--total-seconds",
          fmt::format("{}", job.seconds)};
}

bool run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

}  // namespace

void clear_environment() {
  setenv("TUTTI_TUNING_FILE", "none", 1);
  for (int i = 0; i < tutti::kCollectives; ++i) {
    const std::string name(tutti::rule_variable(static_cast<tutti::Collective>(i)));
    if (name.empty()) continue;
    unsetenv(name.c_str());
    for (const tutti::VariableAlias& alias : tutti::variable_aliases()) {
      if (alias.name == name) unsetenv(std::string(alias.alias).c_str());
    }
  }
}

Result<std::vector<Contest>> run_job(const Job& job) {
  const tutti::Fd result(memfd_create("tutti tune", 0));
  if (!result.open()) return Status::system(errno, "cannot make a file in memory");
  const std::string path = fmt::format("/proc/self/fd/{}", result.get());
  if (!run(command_of(job, path))) {
    return Status::format(Code::kSystem, "{} ranks could not be started or have failed", job.ranks);
  }
  return parse_contests(tutti::text_in_file(path));
}

}  // namespace tutti::tune
