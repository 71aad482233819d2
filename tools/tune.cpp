// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti tune: measures which algorithms are the fastest on this machine, and the figures of the
// cost model. It writes them where the library looks for them. The ranks are in tune_job.cpp and
// tune_rank.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/topology.hpp"
#include "env/env.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"
#include "select/selector.hpp"
#include "tools/bench/collectives.hpp"
#include "tools/bench/contest.hpp"
#include "tools/bench/device.hpp"
#include "tools/bench/fit.hpp"
#include "tools/bench/usual_names.hpp"
#include "tools/checks.hpp"
#include "tools/help.hpp"
#include "tools/need.hpp"
#include "tools/tune_device.hpp"
#include "tools/tune_file.hpp"
#include "tools/tune_job.hpp"

namespace {

using tutti::Tuning;

// Fewer say too little about 16 figures.
constexpr size_t kLeastCells = 40;
// A smaller gain of fitted figures may be noise.
constexpr double kClearlyBetter = 0.98;

struct Options {
  std::vector<int> ranks;
  std::vector<std::string> collectives;
  std::vector<uint64_t> sizes = {4, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20};
  double seconds = 8;
  std::string device;  // an API: the device is measured instead
  int device_index = 0;
  std::string output;
  bool dry_run = false;
  std::string result;  // file in which a rank says what it has found out
};

constexpr tutti::Need need{"tutti tune"};

[[noreturn]] void fail(const std::string& text) { need.fail(text); }

// ---- what to measure ---------------------------------------------------------------------------

// The collectives that have algorithms and that this tool can call.
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
  for (std::string& name : options.collectives) {
    name = tutti::bench::usual_collective(name);
    if (std::ranges::find(known, name) != known.end()) continue;
    fail(fmt::format("COLLECTIVE has '{}', expected some of: {}", name, fmt::join(known, ", ")));
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

// ---- what follows from it -----------------------------------------------------------------------

tutti::Problem problem_of(tutti::Collective collective, int ranks, int cores, uint64_t bytes,
                          const tutti::Environment& environment) {
  tutti::Problem problem;
  problem.collective = collective;
  problem.ranks = ranks;
  problem.element_bytes = sizeof(float);
  problem.count = problem.stride = bytes / sizeof(float);
  problem.limits = tutti::limits_of(environment, ranks, cores).for_calls_of(collective);
  return problem;
}

std::vector<tutti::tune::Cell> cells_of(const std::vector<tutti::tune::Contest>& contests,
                                        int ranks, int cores,
                                        const tutti::Environment& environment) {
  std::vector<tutti::tune::Cell> cells;
  for (const tutti::tune::Contest& contest : contests) {
    tutti::tune::Cell& cell = cells.emplace_back();
    cell.problem = problem_of(contest.collective, ranks, cores, contest.bytes, environment);
    cell.cores = cores;
    for (size_t i = 0; i < contest.algorithms.size(); ++i) {
      // The least is what other work on the machine has disturbed least.
      cell.entries.push_back(
          {contest.algorithms[i], *std::ranges::min_element(contest.seconds[i])});
    }
  }
  return cells;
}

// How many blocks the longer buffer of a call has.
int blocks_of(tutti::Collective collective, int ranks) {
  const auto* found = tutti::bench::find_collective(collective_name(collective));
  using tutti::bench::Blocks;
  return found->send == Blocks::kAll || found->recv == Blocks::kAll ? ranks : 1;
}

// The contests of a collective follow one another.
std::vector<tutti::TunedChoice> choices_of(const std::vector<tutti::tune::Contest>& contests,
                                           int ranks, int cores, const tutti::Machine& usual,
                                           const tutti::Environment& environment) {
  const auto selector =
      need(tutti::Selector::create(environment, tutti::machine_for(ranks, cores, usual)));
  std::vector<tutti::TunedChoice> choices;
  std::vector<tutti::tune::Winner> winners;
  for (size_t i = 0; i < contests.size(); ++i) {
    const tutti::tune::Contest& contest = contests[i];
    winners.push_back({contest.bytes, contest.algorithms[tutti::tune::winner_of(contest.seconds)]});
    if (i + 1 < contests.size() && contests[i + 1].collective == contest.collective) continue;
    const tutti::tune::Field field{contest.collective, ranks, std::min(ranks, cores),
                                   blocks_of(contest.collective, ranks)};
    const auto ranges = ranges_of(field, winners, [&](uint64_t bytes) {
      return selector.choose(problem_of(contest.collective, ranks, cores, bytes, environment))
          .algorithm;
    });
    choices.insert(choices.end(), ranges.begin(), ranges.end());
    winners.clear();
  }
  return choices;
}

// The figures that fit, if choosing by them is clearly better for calls that they were not fitted
// to.
std::optional<tutti::Machine> fitted_machine(const std::vector<tutti::tune::Cell>& cells,
                                             const tutti::Machine& usual,
                                             uint64_t second_level_bytes) {
  if (cells.size() < kLeastCells) {
    fmt::print("The figures of the cost model stay: {} kinds of call are too few for others.\n",
               cells.size());
    return std::nullopt;
  }
  const auto before = tutti::tune::regret_of(cells, usual);
  const auto fits = tutti::tune::regret_of_fits(cells, usual, second_level_bytes);
  fmt::print(
      "Choices of the cost model against the fastest that was measured:\n"
      "  the figures so far    {:.3f} x the time on average, {:.2f} x at worst\n"
      "  figures fitted here   {:.3f} x the time on average, {:.2f} x at worst, where not fitted\n",
      before.mean, before.worst, fits.mean, fits.worst);
  if (fits.mean > kClearlyBetter * before.mean) {
    fmt::print("The figures stay.\n");
    return std::nullopt;
  }
  tutti::Machine machine = fit_machine(cells, usual, second_level_bytes);
  fmt::print("\n{:<16} {:>10} {:>10}\n", "figure", "so far", "fitted");
  for (const tutti::MachineFigure& figure : tutti::machine_figures()) {
    fmt::print("{:<16} {:>10.3g} {:>10.3g}\n", figure.name, usual.*figure.value,
               machine.*figure.value);
  }
  fmt::print("{:<16} {:>10} {:>10}\n", "cache_bytes", usual.cache_bytes, machine.cache_bytes);
  return machine;
}

// ---- the command -------------------------------------------------------------------------------

void run_tune(Options& options) {
  tutti::tune::clear_environment();
  auto environment = need(tutti::read_environment(tutti::process_environment()));
  environment.strict = false;
  const int cores = tutti::parallel_threads(tutti::usable_cores(), tutti::cpu_quota());
  complete(options, cores);
  const tutti::MachineKey key = tutti::this_machine();
  const tutti::Machine usual = tutti::usual_machine();
  const std::string path = need(tutti::tune::output_path(options.output, key));
  fmt::print("{}\n\n", to_string(key));
  tutti::tune::Job job{.collectives = options.collectives, .sizes = options.sizes};
  job.seconds = options.seconds / static_cast<double>(options.ranks.size());
  std::vector<tutti::TunedChoice> choices;
  std::vector<tutti::tune::Cell> cells;
  for (const int ranks : options.ranks) {
    job.ranks = ranks;
    fmt::print("{} ranks on {} core{}\n", ranks, cores, cores == 1 ? "" : "s");
    const auto contests = need(tutti::tune::run_job(job));
    choices = tutti::tune::merge_choices(std::move(choices),
                                         choices_of(contests, ranks, cores, usual, environment));
    const auto more = cells_of(contests, ranks, cores, environment);
    cells.insert(cells.end(), more.begin(), more.end());
    fmt::print("\n");
  }
  const auto machine = fitted_machine(cells, usual, key.l2_bytes);
  fmt::print("\n");
  need(tutti::tune::change_file({path, options.dry_run}, usual, [&](Tuning& tuning) {
    tuning.choices = tutti::tune::merge_choices(std::move(tuning.choices), choices);
    if (machine) tuning.machine = *machine;
  }));
}

// Runs as one of the ranks of a job.
void run_tune_rank(const Options& options) {
  const std::string found = need(tutti::tune::measure({.ranks = options.ranks.front(),
                                                       .collectives = options.collectives,
                                                       .sizes = options.sizes,
                                                       .seconds = options.seconds}));
  if (!found.empty()) need.write(options.result, found);
}

// The figures of a device, instead.
void run_tune_device(const Options& options) {
  const auto environment = need(tutti::read_environment(tutti::process_environment()));
  const std::string path = need(tutti::tune::output_path(options.output, tutti::this_machine()));
  need(tutti::tune::tune_device(options.device, options.device_index, {path, options.dry_run},
                                tutti::usual_machine()));
}

}  // namespace

void add_tune(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* tune = app.add_subcommand(
      "tune", "Measure which algorithms are the fastest here, and use them from now on");
  tune->add_option("-n,--ranks", o->ranks,
                   "Numbers of ranks (default: 2, and as many as there are cores)")
      ->check(CLI::Range(2, 256))
      ->allow_extra_args(false)
      ->delimiter(',');
  tune->add_option(tutti::kCollectiveNames, o->collectives, "Only these, e.g. allreduce,broadcast")
      ->delimiter(',');
  tune->add_option("-y,-b,--sizes,--bytes", o->sizes,
                   "Sizes of a block in bytes (default: 4 to 64M by factors of 8); all blocks of a "
                   "call together get no longer than the longest")
      ->transform(tutti::size_in_bytes())
      ->allow_extra_args(false)
      ->delimiter(',');
  tune->add_option("--total-seconds", o->seconds,
                   "Time for measuring, about; what does not fit in is left out")
      ->check(tutti::above_zero())
      ->capture_default_str();
  tune->add_option("--seconds", o->seconds, "")->check(tutti::above_zero())->group("");
  CLI::Option* device =
      tune->add_option("--device", o->device,
                       "Measure a device instead, what copies and kernels of it take; of one of: " +
                           tutti::bench::known_apis());
  device->type_name("API");
  for (const char* name : {"--ranks", "--collectives", "--sizes", "--total-seconds", "--seconds"}) {
    device->excludes(tune->get_option(name));
  }
  tune->add_option("--index", o->device_index, "Which device, as tutti info numbers them")
      ->check(tutti::zero_or_more())
      ->needs(device)
      ->capture_default_str();
  tune->add_option("-o,--output", o->output,
                   "Write this file instead of the one in the user's cache folder")
      ->type_name("FILE");
  tune->add_flag("--dry-run", o->dry_run, "Measure and print, but write nothing");
  tune->footer(
      "Prints for each collective and size the fastest algorithm, the cost model's choice, and "
      "the\n"
      "gain. The cost model's choice stays unless another is at least 5 % faster in most rounds.\n"
      "What the file says about other collectives, numbers of ranks and devices stays. The library "
      "uses the\n"
      "file from the next start on; TUTTI_TUNING_FILE=none switches it off (docs/tuning.md).");
  tune->add_option("--result", o->result, "")->group("");
  tune->callback([o] {
    if (!o->result.empty()) return run_tune_rank(*o);
    o->device.empty() ? run_tune(*o) : run_tune_device(*o);
  });
}
