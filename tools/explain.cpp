// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti explain: which algorithm a call would use, why, why not the others, and what a rank then
// does, as text, JSON or a picture. It needs no other process: schedules are data.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/tuning_file.hpp"
#include "core/topology.hpp"
#include "exec/call.hpp"
#include "exec/plan.hpp"
#include "select/limits.hpp"
#include "select/machine.hpp"
#include "select/on_device.hpp"
#include "select/selector.hpp"
#include "tools/bench/usual_names.hpp"
#include "tools/checks.hpp"
#include "tools/explain_report.hpp"
#include "tools/help.hpp"
#include "tools/need.hpp"
#include "tools/pictures/schedules.hpp"
#include "views/pieces.hpp"
#include "views/shares.hpp"

namespace {

using tutti::Candidate;
using tutti::Problem;

constexpr tutti::Need need{"tutti explain"};

[[noreturn]] void fail(const std::string& text) { throw CLI::ValidationError("explain", text); }

Problem problem_of(const ExplainOptions& options, const tutti::Environment& environment) {
  Problem problem;
  problem.collective = need(tutti::bench::collective_named(options.collective));
  const tutti::DataType type = need(tutti::bench::type_named(options.type));
  problem.element_bytes = static_cast<uint32_t>(type_size(type));
  problem.type = type;
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
    const tutti::Limits limits = tutti::limits_of(environment, options.ranks, options.cores);
    problem.limits = limits.for_calls_of(problem.collective);
  }
  return problem;
}

// Hosts with as equal numbers of neighboring ranks on each of `parts` as can be.
tutti::Hosts divided(const ExplainOptions& options, const char* option, int parts) {
  if (parts > options.ranks) {
    fail(fmt::format("{} {}: there are {} ranks only", option, parts, options.ranks));
  }
  std::vector<int> host_ids;
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    host_ids.push_back(static_cast<int>(rank * parts / options.ranks));
  }
  return tutti::Hosts::of(host_ids);
}

tutti::Choice choose(const ExplainOptions& options, const tutti::Selector& selector,
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
Problem shared_problem(const ExplainOptions& options, const tutti::Selector& selector,
                       const Problem& problem) {
  if (options.no_shm || options.hosts > 1) fail("--shared: the ranks share no memory");
  const auto schedule_of = [&](const Problem& q) {
    return build_schedule(*choose(options, selector, q).algorithm, q);
  };
  const Problem mapped = seen_by_all(problem);
  if (can_go_over(problem.collective, schedule_of(problem)) &&
      schedule_of(mapped).exports_buffers) {
    return mapped;
  }
  fail(
      fmt::format("--shared: {} of {} bytes does not look at the peers' buffers, and does the same "
                  "without --shared",
                  options.collective, problem.bytes()));
}

// The origin of the figures of devices that run calls directly.
std::string origin_of_figures(const tutti::FoundTuning& tuning) {
  std::string names;
  for (const tutti::TunedDevice& device : tuning.tuning.devices) {
    if (!device.ipc) continue;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", device.api, device.name);
  }
  if (names.empty()) return "assumed figures of devices (tutti tune --device measures them)";
  return fmt::format("measured figures of devices ({}; tuning file {})", names, tuning.path);
}

// The path of a call that is divided among the ranks of each host; else empty.
std::string path_in_shares(tutti::Call call, const tutti::Hosts& hosts) {
  call.root = has_root(call.collective) ? 0 : -1;
  if (!has_shares(call, hosts, false)) return "";
  return fmt::format(
      "in {} pieces: each device reduces 1/{} of one, which it reads from the ranks of its host "
      "(IPC), and that passes between hosts through memory of the host; else ",
      tutti::Shares(call, hosts, 0).pieces(), hosts.columns());
}

// The choice for devices, if all ranks reach all buffers. Else nothing, and `problem` is then the
// first of the pieces that pass through memory of the host.
std::optional<tutti::Choice> choose_for_device(const ExplainOptions& options,
                                               const tutti::FoundTuning& tuning, Problem& problem,
                                               std::string& path) {
  const std::vector<tutti::TunedDevice>& devices = tuning.tuning.devices;
  const tutti::DeviceFigures figures = slowest_figures(devices, tutti::Of::kWithIpc);
  tutti::Applies can = tutti::can_run_on_devices(problem.collective, problem.count, problem.ranks);
  if (options.hosts > 1 || options.no_shm) can = {false, "the ranks share no memory"};
  tutti::Choice choice;
  if (can.yes) choice.algorithm = choose_on_device(problem, figures);
  if (choice.algorithm != nullptr) {
    for (const tutti::DeviceCandidate& one : device_candidates(problem, figures)) {
      choice.candidates.push_back(
          {one.algorithm, one.applies.yes, one.applies.why_not, one.seconds});
    }
    choice.origin = origin_of_figures(tuning);
    path = "on the devices, which read one another's buffers (IPC); else as if staged";
    problem = on_device(problem);
    return choice;
  }
  tutti::Call call;
  call.collective = problem.collective;
  call.type = need(tutti::bench::type_named(options.type));
  call.count = problem.count;
  if (problem.hosts != nullptr) path = path_in_shares(call, *problem.hosts);
  const uint64_t pieces = number_of_pieces(call, problem.ranks);
  if (pieces > 1) problem.count = piece_of(call, 0, problem.ranks, 0).call.count;
  const double copy_s =
      slowest_figures(devices, tutti::Of::kAll).host_copy_s * static_cast<double>(problem.bytes());
  path += fmt::format(
      "staged through memory of the host in {} piece{}, as {}; a block of one takes {:.2f} us from "
      "the device or to it ({}); the first:",
      pieces, pieces == 1 ? "" : "s", can.why_not, copy_s * 1e6,
      devices.empty() ? "assumed" : "measured");
  return std::nullopt;
}

// Figures that the ranks of a communicator would measure are not known here.
tutti::NetworkFigures network_of(const ExplainOptions& options, const tutti::FoundTuning& tuning) {
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

void draw(const ExplainOptions& options, const Problem& problem,
          const tutti::Algorithm& algorithm) {
  if (problem.ranks > kMostPicturedRanks) {
    fail(fmt::format("--plot: a picture of {} ranks is not legible; at most {}", problem.ranks,
                     kMostPicturedRanks));
  }
  if (algorithm.compose != nullptr) fail("--plot: a composition has no steps of its own to draw");
  need.write(options.plot, picture(options, problem, algorithm));
}

void run_explain(ExplainOptions options) {
  options.collective = tutti::bench::usual_collective(options.collective);
  options.type = tutti::bench::usual_type(options.type);
  if (options.cores == 0) {
    options.cores = tutti::parallel_threads(tutti::usable_cores(), tutti::cpu_quota());
  }
  const auto environment = need(tutti::read_environment(tutti::process_environment()));
  const auto tuning = need(tutti::tuning_to_use(environment, tutti::process_environment()));
  tutti::Advice advice;
  advice.rules = tuning.tuning.rules_for(options.ranks, options.cores);
  advice.rules_path = tuning.path;
  const tutti::Machine& alone = tuning.tuning.machine;
  const tutti::Hosts hosts = divided(options, "--hosts", options.hosts);
  const tutti::Hosts domains = divided(options, "--domains", options.domains);
  const bool spans = hosts.count() > 1;
  const tutti::NetworkFigures network = network_of(options, tuning);
  const tutti::Machine machine = spans ? tutti::machine_across(hosts, alone, network)
                                       : tutti::machine_for(options.ranks, options.cores, alone);
  const auto selector = need(
      tutti::Selector::create(environment, machine, spans ? tutti::Advice() : std::move(advice)));
  Problem problem = problem_of(options, environment);
  if (spans) problem.hosts = &hosts;
  if (!spans && domains.count() > 1) problem.cache_domains = &domains;
  if (options.shared) problem = shared_problem(options, selector, problem);
  std::optional<tutti::Choice> on_device;
  std::string path;
  if (options.device) on_device = choose_for_device(options, tuning, problem, path);
  tutti::Choice choice = on_device ? *on_device : choose(options, selector, problem);
  if (!path.empty()) choice.note = "path: " + path;
  if (!options.plot.empty()) draw(options, problem, *choice.algorithm);
  if (options.json) {
    print_json(options, problem, choice, spans ? &network : nullptr);
  } else {
    print_text(options, problem, choice, spans ? &network : nullptr);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand(
      "explain", "Which algorithm a call uses, why, and what each rank does then");
  command->add_option(tutti::kCollectiveNames, options->collective, "allreduce, broadcast, ...")
      ->required();
  command->add_option("-n,--ranks", options->ranks, "How many ranks (default 2)")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("-b,-y,--bytes,--sizes", options->bytes,
                   "Size of a block: 4096, 64kb, 1mb (default 0)")
      ->transform(tutti::size_in_bytes());
  command->add_option("-d,--type,--types", options->type, "Of the elements (default float32)");
  command->add_option("--rank", options->rank, "Whose steps are printed (default 0)")
      ->check(tutti::zero_or_more());
  // The options' first names; in tutti bench these letters mean other things.
  command->add_option("-t", options->type, "")->group("");
  command->add_option("-r", options->rank, "")->check(tutti::zero_or_more())->group("");
  command
      ->add_option("--root", options->root, "Of a broadcast, reduce, gather or scatter (default 0)")
      ->check(tutti::zero_or_more());
  command
      ->add_option("--cores", options->cores,
                   "Of each host, which its ranks share (default: this machine's)")
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
      ->check(tutti::above_zero());
  command
      ->add_option("--rate", options->rate_gbit,
                   "Of the line of each host, in Gbit/s (default 9.6)")
      ->check(tutti::above_zero());
  command->add_option("-a,--algorithm", options->algorithm, "This one instead of the choice");
  command->add_flag("--no-shm", options->no_shm, "As if the ranks shared no memory");
  command->add_flag("--shared", options->shared,
                    "What large calls go over to if all buffers are of tutti_alloc");
  command->add_flag("--on-device", options->device,
                    "What calls on buffers in the memory of a device do (docs/devices.md)");
  command->add_flag("--device", options->device, "")->group("");
  command->add_option("--plot", options->plot, "Draw all ranks (at most 8) into this file, as SVG")
      ->check(tutti::writable_file());
  command->add_option("--svg", options->plot, "")->check(tutti::writable_file())->group("");
  command->add_flag("--json", options->json, "Print JSON, with all steps");
  command->callback([options] { run_explain(*options); });
}
