// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: measures which algorithms are the fastest on this machine, and writes it where the
// library looks for it. It forks the ranks itself; they are in tune_rank.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/fd.hpp"
#include "core/topology.hpp"
#include "env/env.hpp"
#include "select/selector.hpp"
#include "select/tuning_file.hpp"
#include "tools/bench/collectives.hpp"
#include "tools/bench/contest.hpp"
#include "tools/tune_rank.hpp"

namespace {

using tutti::Tuning;

struct Options {
  std::vector<int> ranks;
  std::vector<std::string> collectives;
  std::vector<uint64_t> sizes = {4, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20};
  double seconds = 8;
  std::string output;
  bool dry_run = false;
};

[[noreturn]] void fail(const std::string& text) {
  fmt::print(stderr, "tutti tune: {}\n", text);
  throw CLI::RuntimeError(1);
}

// ---- what to measure ---------------------------------------------------------------------------

// Those that have algorithms and that this tool can call.
std::vector<std::string> known_collectives() {
  std::vector<std::string> names;
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    const std::string name(collective_name(algorithm->collective));
    if (std::ranges::find(names, name) != names.end()) continue;
    if (tutti::bench::find_collective(name) != nullptr) names.push_back(name);
  }
  return names;
}

void complete(Options& options, int cores) {
  const std::vector<std::string> known = known_collectives();
  for (const std::string& name : options.collectives) {
    if (std::ranges::find(known, name) != known.end()) continue;
    fail(fmt::format("--collectives has '{}', expected some of: {}", name, fmt::join(known, ", ")));
  }
  if (options.collectives.empty()) options.collectives = known;
  for (const uint64_t size : options.sizes) {
    if (size > 0 && size % sizeof(float) == 0) continue;
    fail(fmt::format("--sizes has {}, expected multiples of {} bytes", size, sizeof(float)));
  }
  std::ranges::sort(options.sizes);
  options.sizes.erase(std::unique(options.sizes.begin(), options.sizes.end()), options.sizes.end());
  if (!options.ranks.empty()) return;
  options.ranks = {2};
  if (cores > 2) options.ranks.push_back(cores);
}

// ---- the ranks ---------------------------------------------------------------------------------

struct Pipe {
  tutti::Fd read;
  tutti::Fd write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  return {tutti::Fd(ends[0]), tutti::Fd(ends[1])};
}

// The variables that would decide instead of what is measured.
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

// Rank 0 makes the id and hands it to the others.
bool exchange_id(tutti_tune::Job& job, Pipe& ids) {
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

// The body of a rank, to its exit status. What rank 0 has found out goes through the pipe as the
// text of a tuning file.
int run_rank(tutti_tune::Job job, Pipe& ids, Pipe& result) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  result.read.reset();
  clear_environment();
  if (!exchange_id(job, ids)) {
    if (job.rank == 0) fmt::print(stderr, "tutti tune: {}\n", tutti_last_error());
    return 1;
  }
  const auto choices = measure(job);
  if (!choices.ok()) {
    fmt::print(stderr, "tutti tune: rank {}: {}\n", job.rank, choices.status().message());
    return 1;
  }
  if (job.rank != 0) return 0;
  const std::string text =
      tutti::print_tuning({.key = tutti::this_machine(), .machine = {}, .choices = *choices});
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(result.write.get(), text.data() + at, text.size() - at);
    if (written < 0) return 1;
    at += static_cast<size_t>(written);
  }
  return 0;
}

int run_rank_guarded(const tutti_tune::Job& job, Pipe& ids, Pipe& result) {
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

std::vector<tutti::TunedChoice> measure_with(int ranks, int cores, const Options& options) {
  Pipe ids = make_pipe();
  Pipe result = make_pipe();
  tutti_tune::Job job{.rank = 0,
                      .ranks = ranks,
                      .cores = cores,
                      .id = {},
                      .collectives = options.collectives,
                      .sizes = options.sizes,
                      .seconds = options.seconds / static_cast<double>(options.ranks.size())};
  std::fflush(nullptr);  // or every rank would print it again
  std::vector<pid_t> started;
  bool good = true;
  for (job.rank = 0; good && job.rank < ranks; ++job.rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      const int status = run_rank_guarded(job, ids, result);
      std::fflush(nullptr);
      _exit(status);
    }
    good = pid > 0;
    if (good) started.push_back(pid);
  }
  if (!good) {
    for (const pid_t pid : started) kill(pid, SIGKILL);
  }
  ids.write.reset();
  result.write.reset();
  const std::string text = read_all(result.read.get());
  for (const pid_t pid : started) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    good = good && status == 0;
  }
  if (!good) fail(fmt::format("{} ranks could not be started or have failed", ranks));
  auto tuning = tutti::parse_tuning(text, "from rank 0");
  if (!tuning.ok()) fail(std::string(tuning.status().message()));
  return std::move(tuning->choices);
}

// ---- the command -------------------------------------------------------------------------------

std::string output_path(const Options& options, const tutti::MachineKey& key) {
  if (!options.output.empty()) return options.output;
  const auto path = tutti::default_tuning_path(key, tutti::process_environment());
  if (!path) fail("neither XDG_CACHE_HOME nor HOME is set: say where with --output FILE");
  return *path;
}

// What the file has already, if it is of this machine; else a new one.
Tuning existing(const std::string& path, const tutti::MachineKey& key) {
  Tuning fresh;
  fresh.key = key;
  if (access(path.c_str(), F_OK) != 0) return fresh;
  auto old = tutti::read_tuning_file(path);
  if (old.ok() && old->key == key) return *std::move(old);
  fmt::print("\n{} cannot be added to, it will be replaced: {}\n", path,
             old.ok() ? "it is of " + to_string(old->key) : std::string(old.status().message()));
  return fresh;
}

void run_tune(Options& options) {
  const auto environment = tutti::read_environment(tutti::process_environment());
  if (!environment.ok()) fail(std::string(environment.status().message()));
  const int cores = tutti::parallel_threads(tutti::usable_cores(), tutti::cpu_quota());
  complete(options, cores);
  const tutti::MachineKey key = tutti::this_machine();
  const std::string path = output_path(options, key);
  fmt::print("{}\n\n", to_string(key));
  std::vector<tutti::TunedChoice> choices;
  for (const int ranks : options.ranks) {
    choices = tutti_tune::merge_choices(std::move(choices), measure_with(ranks, cores, options));
    fmt::print("\n");
  }
  if (options.dry_run) {
    fmt::print("Not written (--dry-run): {}\n", path);
    return;
  }
  Tuning tuning = existing(path, key);
  tuning.choices = tutti_tune::merge_choices(std::move(tuning.choices), choices);
  if (const tutti::Status status = write_tuning_file(path, tuning); !status.ok()) {
    fail(std::string(status.message()));
  }
  fmt::print("Written: {}\n", path);
}

}  // namespace

void add_tune(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* tune = app.add_subcommand(
      "tune", "Measure which algorithms are the fastest here, and use them from now on");
  tune->add_option("-n,--ranks", o->ranks,
                   "Numbers of ranks (default: 2, and as many as there are cores)")
      ->check(CLI::Range(2, 256))
      ->delimiter(',');
  tune->add_option("-c,--collectives", o->collectives, "Only these, e.g. allreduce,broadcast")
      ->delimiter(',');
  tune->add_option("-y,--sizes", o->sizes,
                   "Sizes of a block in bytes (default: 4 to 64M by factors of 8)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->delimiter(',');
  tune->add_option("--seconds", o->seconds, "Time for everything, about")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  tune->add_option("-o,--output", o->output,
                   "Write this file instead of the one in the user's cache folder")
      ->type_name("FILE");
  tune->add_flag("--dry-run", o->dry_run, "Measure and print, but write nothing");
  tune->footer(
      "Prints for each collective and size the fastest algorithm, the cost model's choice, and "
      "the\n"
      "gain. The cost model's choice stays unless another is at least 5 % faster in most rounds.\n"
      "What the file says about other collectives and numbers of ranks stays. The library uses "
      "the\n"
      "file from the next start on; TUTTI_TUNING_FILE=none switches it off (docs/tuning.md).");
  tune->callback([o] { run_tune(*o); });
}
