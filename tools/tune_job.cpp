// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/tune_job.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "core/fd.hpp"
#include "core/log.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "select/selector.hpp"

namespace tutti_tune {
namespace {

using tutti::Code;
using tutti::Result;
using tutti::Status;

struct Pipe {
  tutti::Fd read;
  tutti::Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return Status::system(errno, "cannot make a pipe");
  return Pipe{tutti::Fd(ends[0]), tutti::Fd(ends[1])};
}

// As tutti run does; two ranks that share a core by chance would measure just that.
void bind_rank(const Job& job) {
  const std::vector<int> usable = tutti::usable_cores();
  if (static_cast<int>(usable.size()) < job.ranks) return;
  const Status bound = tutti::bind_this_thread(usable[static_cast<size_t>(job.rank)]);
  if (!bound.ok()) tutti::log::warn("tutti tune: rank {}: {}", job.rank, bound.message());
}

// Rank 0 makes the id and hands it to the others.
bool exchange_id(Job& job, Pipe& ids) {
  if (job.rank != 0) {
    ids.write.reset();
    return read(ids.read.get(), &job.id, sizeof job.id) == sizeof job.id;
  }
  if (tutti_get_unique_id(&job.id) != TUTTI_OK) return false;
  for (int other = 1; other < job.ranks; ++other) {
    if (write(ids.write.get(), &job.id, sizeof job.id) != sizeof job.id) return false;
  }
  return true;
}

// The body of a rank, to its exit status. What rank 0 has found out goes through the pipe as
// text.
int run_rank(Job job, Pipe& ids, Pipe& result) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  result.read.reset();
  bind_rank(job);
  if (!exchange_id(job, ids)) {
    if (job.rank == 0) fmt::print(stderr, "tutti tune: {}\n", tutti_last_error());
    return 1;
  }
  const auto contests = measure(job);
  if (!contests.ok()) {
    fmt::print(stderr, "tutti tune: rank {}: {}\n", job.rank, contests.status().message());
    return 1;
  }
  if (job.rank != 0) return 0;
  const std::string text = print_contests(*contests);
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(result.write.get(), text.data() + at, text.size() - at);
    if (written < 0) return 1;
    at += static_cast<size_t>(written);
  }
  return 0;
}

int run_rank_guarded(const Job& job, Pipe& ids, Pipe& result) {
  try {
    return run_rank(job, ids, result);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti tune: rank {}: {}\n", job.rank, error.what());
    return 1;
  }
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
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

Result<std::vector<Contest>> run_job(Job job) {
  auto ids = make_pipe();
  if (!ids.ok()) return ids.status();
  auto result = make_pipe();
  if (!result.ok()) return result.status();
  std::fflush(nullptr);  // or every rank would print it again
  std::vector<pid_t> started;
  bool good = true;
  for (job.rank = 0; good && job.rank < job.ranks; ++job.rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int status = run_rank_guarded(job, *ids, *result);
      std::fflush(nullptr);
      _exit(status);
    }
    good = pid > 0;
    if (good) started.push_back(pid);
  }
  if (!good) {
    for (const pid_t pid : started) kill(pid, SIGKILL);
  }
  ids->write.reset();
  result->write.reset();
  const std::string text = read_all(result->read.get());
  for (const pid_t pid : started) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    good = good && status == 0;
  }
  if (!good) {
    return Status::format(Code::kSystem, "{} ranks could not be started or have failed", job.ranks);
  }
  return parse_contests(text);
}

}  // namespace tutti_tune
