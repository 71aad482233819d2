// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti explain: which algorithm a call would use, why, why not the others, and what a rank then
// does, as text, JSON or a picture. It needs no other process: schedules are data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/topology.hpp"
#include "exec/call.hpp"
#include "exec/plan.hpp"
#include "sched/traits.hpp"
#include "select/on_device.hpp"
#include "select/selector.hpp"
#include "select/tuning_file.hpp"
#include "tools/picture.hpp"
#include "views/pieces.hpp"

namespace {

using Json = nlohmann::ordered_json;
using tutti::Candidate;
using tutti::Problem;
using tutti::Schedule;

struct Options {
  std::string collective;
  int ranks = 2;
  uint64_t bytes = 0;
  std::string type = "float32";
  int rank = 0;
  int root = 0;
  int cores = 0;
  int hosts = 1;
  int domains = 1;
  double latency_us = 0;
  double rate_gbit = 0;
  std::string algorithm;
  bool no_shm = false;
  bool shared = false;
  bool device = false;
  std::string svg;
  bool json = false;
};

// More steps than these are abbreviated.
constexpr size_t kShownFirst = 30;
constexpr size_t kShownLast = 10;

[[noreturn]] void fail(const std::string& text) { throw CLI::ValidationError("explain", text); }

tutti::Collective collective_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    names.push_back(collective_name(algorithm->collective));
    if (names.back() == name) return algorithm->collective;
  }
  names.erase(std::unique(names.begin(), names.end()), names.end());
  fail(fmt::format("there is no collective '{}' with algorithms; expected one of {}", name,
                   fmt::join(names, ", ")));
}

tutti::DataType type_of(const std::string& name) {
  std::string names;
  for (int i = 0; i < tutti::kDataTypes; ++i) {
    const auto type = static_cast<tutti::DataType>(i);
    if (type_name(type) == name) return type;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", type_name(type));
  }
  fail(fmt::format("there is no type '{}'; expected one of {}", name, names));
}

// That the ranks share.
int cores_of(const Options& options) {
  if (options.cores > 0) return options.cores;
  return tutti::parallel_threads(tutti::usable_cores(), tutti::cpu_quota());
}

Problem problem_of(const Options& options, const tutti::Environment& environment) {
  Problem problem;
  problem.collective = collective_of(options.collective);
  const tutti::DataType type = type_of(options.type);
  problem.element_bytes = static_cast<uint32_t>(type_size(type));
  problem.rank_order =
      tutti::reduces(problem.collective) && needs_rank_order(tutti::ReduceOp::kSum, type);
  const bool barrier = problem.collective == tutti::Collective::kBarrier;
  if (options.bytes % problem.element_bytes != 0 || (barrier && options.bytes != 0)) {
    fail(fmt::format("{} bytes are no whole number of elements of {}", options.bytes,
                     barrier ? "a barrier" : options.type));
  }
  for (const auto& [option, rank] :
       {std::pair("--rank", options.rank), std::pair("--root", options.root)}) {
    if (rank >= options.ranks) {
      fail(fmt::format("{} {}: ranks go from 0 to {}", option, rank, options.ranks - 1));
    }
  }
  problem.rank = options.rank;
  problem.ranks = options.ranks;
  problem.root = options.root;
  problem.count = problem.stride = options.bytes / problem.element_bytes;
  if (!options.no_shm && options.hosts == 1) {
    const tutti::Limits limits = tutti::limits_of(environment, options.ranks, cores_of(options));
    problem.limits = limits.for_calls_of(problem.collective);
  }
  return problem;
}

// As many neighboring ranks on each of `parts` as can be.
tutti::Hosts divided(const Options& options, const char* option, int parts) {
  if (parts > options.ranks) {
    fail(fmt::format("{} {}: there are {} ranks only", option, parts, options.ranks));
  }
  std::vector<int> marks;
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    marks.push_back(static_cast<int>(rank * parts / options.ranks));
  }
  return tutti::Hosts::of(marks);
}

tutti::Choice choose(const Options& options, const tutti::Selector& selector,
                     const Problem& problem) {
  tutti::Choice choice = selector.explain(problem);
  if (options.algorithm.empty()) return choice;
  choice.algorithm = find_algorithm(problem.collective, options.algorithm);
  choice.other_route = choice.with_other_stores = nullptr;
  choice.origin = "--algorithm";
  choice.note.clear();
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.algorithm != choice.algorithm) continue;
    if (!candidate.applies) {
      fail(fmt::format("{} does not apply: {}", options.algorithm, candidate.why_not));
    }
    return choice;
  }
  fail(fmt::format("there is no {} algorithm '{}'; see tutti info", options.collective,
                   options.algorithm));
}

// The problem of what a call goes over to whose buffers are all of tutti_alloc.
Problem shared_problem(const Options& options, const tutti::Selector& selector,
                       const Problem& problem) {
  if (options.no_shm || options.hosts > 1) fail("--shared: the ranks share no memory");
  const auto schedule_of = [&](const Problem& q) {
    return build_schedule(*choose(options, selector, q).algorithm, q);
  };
  const Problem viewed = seen_by_all(problem);
  if (can_go_over(problem.collective, schedule_of(problem)) && schedule_of(viewed).shows_buffers) {
    return viewed;
  }
  fail(
      fmt::format("--shared: {} of {} bytes does not look at the peers' buffers, and does the same "
                  "without --shared",
                  options.collective, problem.bytes()));
}

// The applicable first, cheapest first.
std::vector<Candidate> ranking(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.applies != b.applies ? a.applies : a.seconds < b.seconds;
                   });
  return candidates;
}

std::string why(const Candidate& candidate, const tutti::Choice& choice) {
  if (candidate.algorithm == choice.algorithm) return "chosen";
  if (!candidate.applies) return std::string(candidate.why_not);
  for (const Candidate& other : choice.candidates) {
    if (other.algorithm != choice.algorithm || other.seconds <= 0) continue;
    const double ratio = candidate.seconds / other.seconds;
    if (candidate.algorithm == choice.other_route) {
      return fmt::format("other arm, predicted to take {:.2f} times as long: calls time both",
                         ratio);
    }
    if (ratio >= 1) return fmt::format("predicted to take {:.2f} times as long", ratio);
    return fmt::format("predicted to take {:.2f} of the time, but {} decides", ratio,
                       choice.origin);
  }
  return "";
}

// What devices run, if all ranks reach all buffers; else nothing, and `problem` is then the first
// of the pieces that pass through memory of the host.
std::optional<tutti::Choice> choose_for_device(const Options& options, Problem& problem,
                                               std::string& path) {
  tutti::Applies can = tutti::can_run_on_devices(problem.collective, problem.count, problem.ranks);
  if (options.hosts > 1 || options.no_shm) can = {false, "the ranks share no memory"};
  tutti::Choice choice;
  if (can.yes) choice.algorithm = choose_on_device(problem);
  if (choice.algorithm != nullptr) {
    for (const tutti::DeviceCandidate& one : device_candidates(problem)) {
      choice.candidates.push_back(
          {one.algorithm, one.applies.yes, one.applies.why_not, one.seconds});
    }
    choice.origin = "assumed figures of devices";
    path = "on the devices, which read one another's buffers (IPC); else as if staged";
    problem = on_device(problem);
    return choice;
  }
  tutti::Call call;
  call.collective = problem.collective;
  call.type = type_of(options.type);
  call.count = problem.count;
  const uint64_t pieces = number_of_pieces(call, problem.ranks);
  if (pieces > 1) problem.count = piece_of(call, 0, problem.ranks, 0).call.count;
  path = fmt::format("staged through memory of the host in {} piece{}, as {}; the first:", pieces,
                     pieces == 1 ? "" : "s", can.why_not);
  return std::nullopt;
}

void print_steps(const Schedule& schedule, int rank) {
  fmt::print("\nSteps of rank {}: {} of them, {} bytes of private memory\n", rank,
             schedule.steps.size(), schedule.scratch_bytes);
  const size_t steps = schedule.steps.size();
  const bool all = steps <= kShownFirst + kShownLast;
  for (size_t i = 0; i < steps; ++i) {
    if (!all && i == kShownFirst) {
      fmt::print("      ... {} more ...\n", steps - kShownFirst - kShownLast);
      i = steps - kShownLast;
    }
    fmt::print("{:>6}  {}\n", i, to_string(schedule.steps[i], schedule));
  }
  if (steps == 0) {
    fmt::print("        nothing to do\n");
  } else if (schedule.ticks > 0) {
    fmt::print("        {}\n", to_string(traits_of(schedule)));
  }
}

std::string text_of(const tutti::Phase& phase, uint32_t element_bytes) {
  const bool on_host = phase.scope == tutti::Scope::kHost;
  std::string text = fmt::format("{:<7} ", on_host ? "host" : "column");
  if (!phase.moves.empty()) {
    text += fmt::format("copies of its own, {}, the first {} -> {}", phase.moves.size(),
                        to_string(phase.moves[0].from), to_string(phase.moves[0].to));
  } else {
    text += collective_name(phase.collective);
    const tutti::BufferBlocks blocks = blocks_of(phase.collective, true);
    if (phase.count > 0) text += fmt::format(" of {} B:", phase.count * element_bytes);
    if (blocks.send != tutti::Blocks::kNone) text += fmt::format(" {} ->", to_string(phase.send));
    if (blocks.recv != tutti::Blocks::kNone) text += fmt::format(" {}", to_string(phase.recv));
    if (phase.root >= 0) text += fmt::format(", root {}", phase.root);
  }
  if (phase.after > 0) {
    text += fmt::format(", after {} {} of the {}", phase.after,
                        phase.after == 1 ? "phase" : "phases", on_host ? "column" : "host");
  }
  return text;
}

// Of a composition, instead of steps.
std::vector<std::string> phases_of(const tutti::Algorithm& algorithm, const Problem& problem) {
  std::vector<std::string> texts;
  for (const tutti::Phase& phase : algorithm.compose(problem).phases) {
    texts.push_back(text_of(phase, problem.element_bytes));
  }
  return texts;
}

// What the ranks of a communicator would measure is not known here.
tutti::NetworkFigures network_of(const Options& options, const tutti::FoundTuning& tuning) {
  tutti::NetworkFigures network;
  if (tuning.tuning.network) {
    network = *tuning.tuning.network;
    network.origin = "tuning file " + tuning.path;
  }
  const std::string others = network.origin;
  if (options.latency_us > 0) network.message_s = options.latency_us * 1e-6;
  if (options.rate_gbit > 0) network.line_byte_s = 8e-9 / options.rate_gbit;
  if (options.latency_us > 0 && options.rate_gbit > 0) {
    network.origin = "--latency and --rate";
  } else if (options.latency_us > 0) {
    network.origin = "--latency; the rate: " + others;
  } else if (options.rate_gbit > 0) {
    network.origin = "--rate; the latency: " + others;
  }
  return network;
}

std::string headline(const Options& options, const Problem& problem) {
  const tutti::BufferBlocks blocks = blocks_of(problem.collective, true);
  return fmt::format("{} of {} x {} ({} bytes{}) on {} rank{}", options.collective, problem.count,
                     options.type, problem.bytes(),
                     problem.ranks > 1 && (blocks.send == tutti::Blocks::kPerRank ||
                                           blocks.recv == tutti::Blocks::kPerRank)
                         ? " per block"
                         : "",
                     problem.ranks, problem.ranks == 1 ? "" : "s") +
         (options.hosts > 1 ? fmt::format(" of {} hosts", options.hosts) : "") +
         (options.shared ? " in memory of tutti_alloc" : "") +
         (options.device ? " in memory of a device" : "") +
         (problem.cache_domains != nullptr ? fmt::format(" of {} domains", options.domains) : "") +
         (problem.ranks <= cores_of(options) || options.hosts > 1
              ? ""
              : fmt::format(" that share {} core{}", cores_of(options),
                            cores_of(options) == 1 ? "" : "s"));
}

void print_text(const Options& options, const Problem& problem, const tutti::Choice& choice,
                const tutti::NetworkFigures* network) {
  fmt::print("{}\n\n{}, by {}: {}\n", headline(options, problem), choice.algorithm->name,
             choice.origin, choice.algorithm->summary);
  if (!choice.note.empty()) fmt::print("{}\n", choice.note);
  if (network != nullptr) {
    fmt::print("network: {}; communicators measure theirs: see CCL_LOG_LEVEL=info\n",
               to_string(*network));
  }
  fmt::print("\n{:<20} {:>13}\n", "algorithm", "predicted");
  for (const Candidate& candidate : ranking(choice.candidates)) {
    const std::string time =
        candidate.applies ? fmt::format("{:.2f} us", candidate.seconds * 1e6) : "-";
    fmt::print("{:<20} {:>13}  {}\n", candidate.algorithm->name, time, why(candidate, choice));
  }
  if (choice.with_other_stores != nullptr) {
    fmt::print("{:<20} {:>13}  timed by calls as well: {} writes the receive buffer {}\n", "", "",
               choice.with_other_stores->name, kind_of_stores(with_other_stores(problem)));
  }
  if (choice.algorithm->compose == nullptr) {
    return print_steps(build_schedule(*choice.algorithm, problem), problem.rank);
  }
  fmt::print("\nPhases of rank {}, those within the host and those along its column side by side\n",
             problem.rank);
  for (const std::string& phase : phases_of(*choice.algorithm, problem)) {
    fmt::print("        {}\n", phase);
  }
}

void print_json(const Options& options, const Problem& problem, const tutti::Choice& choice,
                const tutti::NetworkFigures* network) {
  Json candidates = Json::array();
  for (const Candidate& candidate : ranking(choice.candidates)) {
    Json entry = {{"algorithm", candidate.algorithm->name},
                  {"applies", candidate.applies},
                  {"why", why(candidate, choice)}};
    if (candidate.applies) entry["seconds"] = candidate.seconds;
    candidates.push_back(std::move(entry));
  }
  const bool composed = choice.algorithm->compose != nullptr;
  const Schedule schedule = composed ? Schedule() : build_schedule(*choice.algorithm, problem);
  Json steps = Json::array();
  for (const tutti::Step& step : schedule.steps) steps.push_back(to_string(step, schedule));
  Json report = {
      {"collective", options.collective},
      {"ranks", problem.ranks},
      {"hosts", options.hosts},
      {"rank", problem.rank},
      {"root", problem.root},
      {"type", options.type},
      {"bytes", problem.bytes()},
      {"shared", options.shared},
      {"device", options.device},
      {"algorithm", choice.algorithm->name},
      {"origin", choice.origin},
      {"note", choice.note},
      {"candidates", std::move(candidates)},
      {"scratch_bytes", schedule.scratch_bytes},
      {"ticks", schedule.ticks},
      {"traits", composed ? "" : to_string(traits_of(schedule))},
      {"steps", std::move(steps)},
      {"phases", composed ? phases_of(*choice.algorithm, problem) : std::vector<std::string>()}};
  if (choice.with_other_stores != nullptr) {
    report["timed_as_well"] = {{"algorithm", choice.with_other_stores->name},
                               {"stores", kind_of_stores(with_other_stores(problem))}};
  }
  if (network != nullptr) {
    report["network"] = {{"message_s", network->message_s},
                         {"line_byte_s", network->line_byte_s},
                         {"origin", network->origin}};
  }
  fmt::print("{}\n", report.dump(2));
}

void write_picture(const Options& options, Problem problem, const tutti::Algorithm& algorithm) {
  if (problem.ranks > kMaxPicturedRanks) {
    fail(fmt::format("--svg: a picture of {} ranks is not legible; at most {}", problem.ranks,
                     kMaxPicturedRanks));
  }
  if (algorithm.compose != nullptr) fail("--svg: a composition has no steps of its own to draw");
  std::vector<Schedule> schedules;
  for (problem.rank = 0; problem.rank < problem.ranks; ++problem.rank) {
    schedules.push_back(build_schedule(algorithm, problem));
  }
  std::ofstream file(options.svg);
  file << draw_schedules(schedules,
                         fmt::format("{}: {}", algorithm.name, headline(options, problem)));
  if (!file.flush()) fail(fmt::format("--svg: cannot write {}", options.svg));
}

void run_explain(const Options& options) {
  const auto environment = tutti::read_environment(tutti::process_environment());
  if (!environment.ok()) fail(std::string(environment.status().message()));
  const auto tuning = tutti::tuning_to_use(*environment, tutti::process_environment());
  if (!tuning.ok()) fail(std::string(tuning.status().message()));
  tutti::Advice advice;
  advice.rules = tuning->tuning.rules_for(options.ranks, cores_of(options));
  advice.rules_path = tuning->path;
  const tutti::Machine& alone = tuning->tuning.machine;
  const tutti::Hosts hosts = divided(options, "--hosts", options.hosts);
  const tutti::Hosts domains = divided(options, "--domains", options.domains);
  const bool spans = hosts.count() > 1;
  const tutti::NetworkFigures network = network_of(options, *tuning);
  const tutti::Machine machine = spans
                                     ? tutti::machine_across(hosts, alone, network)
                                     : tutti::machine_for(options.ranks, cores_of(options), alone);
  const auto selector =
      tutti::Selector::create(*environment, machine, spans ? tutti::Advice() : std::move(advice));
  if (!selector.ok()) fail(std::string(selector.status().message()));
  Problem problem = problem_of(options, *environment);
  if (spans) problem.hosts = &hosts;
  if (!spans && domains.count() > 1) problem.cache_domains = &domains;
  if (options.shared) problem = shared_problem(options, *selector, problem);
  std::optional<tutti::Choice> on_device;
  std::string path;
  if (options.device) on_device = choose_for_device(options, problem, path);
  tutti::Choice choice = on_device ? *on_device : choose(options, *selector, problem);
  if (!path.empty()) choice.note = "path: " + path;
  if (!options.svg.empty()) write_picture(options, problem, *choice.algorithm);
  if (options.json) {
    print_json(options, problem, choice, spans ? &network : nullptr);
  } else {
    print_text(options, problem, choice, spans ? &network : nullptr);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain", "Which algorithm a call uses, why, and what each rank does then");
  command->add_option("collective", options->collective, "allreduce, broadcast, ...")->required();
  command->add_option("-n,--ranks", options->ranks, "How many ranks (default 2)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("-b,--bytes", options->bytes, "Size of a block: 4096, 64kb, 1mb (default 0)")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("-t,--type", options->type, "Of the elements (default float32)");
  command->add_option("-r,--rank", options->rank, "Whose steps are printed (default 0)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--root", options->root, "Of a broadcast, reduce, gather or scatter (default 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--cores", options->cores, "That the ranks share (default: this machine's)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--hosts", options->hosts, "Among which the ranks are divided (default 1)")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--domains", options->domains,
                   "Last-level caches among which the ranks of a host are divided (default 1)")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--latency", options->latency_us,
                   "Between hosts, of a short message, in microseconds (default 20)")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--rate", options->rate_gbit,
                   "Of the line of each host, in Gbit/s (default 9.6)")
      ->check(CLI::PositiveNumber);
  command->add_option("-a,--algorithm", options->algorithm, "This one instead of the choice");
  command->add_flag("--no-shm", options->no_shm, "As if the ranks shared no memory");
  command->add_flag("--shared", options->shared,
                    "What large calls go over to if all buffers are of tutti_alloc");
  command->add_flag("--device", options->device,
                    "What calls on buffers in the memory of a device do (docs/devices.md)");
  command->add_option("--svg", options->svg, "Draw all ranks (at most 8) into this file");
  command->add_flag("--json", options->json, "Print JSON, with all steps");
  command->callback([options] { run_explain(*options); });
}
