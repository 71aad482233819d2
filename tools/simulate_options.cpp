// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "comm/tuning_file.hpp"
#include "tools/bench/usual_names.hpp"
#include "tools/checks.hpp"
#include "tools/help.hpp"
#include "tools/need.hpp"

namespace tutti::simulate {
namespace {

constexpr Need need{"tutti simulate"};

[[noreturn]] void fail(const std::string& text) { throw CLI::ValidationError("simulate", text); }

// "7=x10": the rank, and how many times as long it takes.
std::pair<int, double> straggler_of(const std::string& text, int ranks) {
  int rank = -1;
  double factor = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, rank);
  const bool named =
      error == std::errc() && end - behind > 2 && behind[0] == '=' && behind[1] == 'x';
  if (!named || std::from_chars(behind + 2, end, factor).ptr != end || rank < 0 || rank >= ranks ||
      !(factor > 0 && factor < 1e9)) {
    fail(
        fmt::format("--straggler {}: expected RANK=xFACTOR with a rank from 0 to {}, such as 1=x10",
                    text, ranks - 1));
  }
  return {rank, factor};
}

MessageTimes times_of(const Options& options) {
  if (options.network.times.empty()) return {};
  auto times = parse_message_times(options.network.times);
  if (!times.ok()) fail(fmt::format("--times: {}", times.status().message()));
  if (options.network.latency_us > 0) {
    fail(
        fmt::format("--latency {}: expected no --times, which say it", options.network.latency_us));
  }
  if (options.machine.shared_cores > 0) {
    fail(fmt::format("--shared-cores {}: expected no --times, which are of two machines",
                     options.machine.shared_cores));
  }
  return *std::move(times);
}

// "line_s=7e-8": a figure of the cost model.
void set_figure(const std::string& text, Machine& machine) {
  std::vector<std::string_view> names;
  const size_t equals = std::min(text.find('='), text.size());
  const char* const end = text.data() + text.size();
  double value = 0;
  for (const MachineFigure& figure : machine_figures()) {
    names.push_back(figure.name);
    if (figure.name != std::string_view(text).substr(0, equals)) continue;
    const bool fits = equals < text.size() &&
                      std::from_chars(text.data() + equals + 1, end, value).ptr == end &&
                      std::isfinite(value) && value >= 0;
    if (!fits) fail(fmt::format("--figure {}: expected {}=SECONDS, 0 or more", text, figure.name));
    machine.*figure.value = value;
    return;
  }
  fail(fmt::format("--figure {}: expected NAME=SECONDS with one of {}", text,
                   fmt::join(names, ", ")));
}

NetworkFigures figures_of(const Options& options, const Tuning& tuning) {
  NetworkFigures figures = tuning.network.value_or(NetworkFigures());
  if (const MessageTimes times = times_of(options); !times.empty()) {
    figures.message_s = times.alpha_s();
    figures.line_byte_s = times.byte_s();
  }
  if (options.network.latency_us > 0) figures.message_s = options.network.latency_us * 1e-6;
  if (options.network.rate_gbit > 0) figures.line_byte_s = 8e-9 / options.network.rate_gbit;
  return figures;
}

void add_network_options(CLI::App& command, Options& o) {
  command.add_option(
      "--topology", o.network.topology,
      "single-switch, fat-tree[:RADIX], dragonfly[:HOSTS_PER_SWITCH], torus[:SIZES] or a file");
  command
      .add_option("--latency", o.network.latency_us,
                  "Of a short message between hosts over one switch, in microseconds (default 20)")
      ->check(tutti::above_zero());
  command
      .add_option("--rate", o.network.rate_gbit,
                  "Of the line of each host, in Gbit/s (default 9.6)")
      ->check(tutti::above_zero());
  command
      .add_option("--times", o.network.times,
                  "Of messages between two hosts, instead of --latency, as measured: sizes and "
                  "microseconds, as in 8=1.2,1kb=2,1mb=82,2mb=157; --rate if not given is that "
                  "between the last two")
      ->delimiter(',');
  command
      .add_option("--hop", o.network.hop_us,
                  "Latency of each link between switches, in microseconds")
      ->check(tutti::zero_or_more())
      ->capture_default_str();
  command
      .add_option("--oversubscribed", o.network.oversubscribed,
                  "How many times slower links between switches are than lines of hosts")
      ->check(tutti::above_zero())
      ->capture_default_str();
  command
      .add_option("--burst", o.network.burst,
                  "Bytes that the line of each host lets pass at once, as shaped lines do")
      ->transform(tutti::size_in_bytes());
  command.add_option(
      "--groups", o.network.groups,
      "As with TUTTI_HOST_GROUP: topology (the hosts of a leaf switch, or of a group "
      "of a dragonfly), so many hosts each, or none (default)");
  command.add_option("--fail", o.network.failed, "Links that do not work, as in leaf0-spine1")
      ->delimiter(',');
}

void add_machine_options(CLI::App& command, Options& o) {
  command
      .add_option("--shared-cores", o.machine.shared_cores,
                  "The hosts are one machine, as namespaces are: all ranks share so many cores")
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option("--message-cpu", o.machine.message_cpu_us,
                  "Microseconds of a core for a message between hosts, at both ends together, with "
                  "--shared-cores: at most --latency (default: half of it)")
      ->check(tutti::above_zero());
  command
      .add_option("--turn", o.machine.turn_us,
                  "Microseconds of a core for a rank to go on after a wait, if ranks outnumber "
                  "--shared-cores")
      ->check(tutti::zero_or_more());
  command
      .add_option("--byte-cpu", o.machine.byte_cpu_ns,
                  "Nanoseconds of a core for each byte between hosts, at each end, with "
                  "--shared-cores")
      ->check(tutti::zero_or_more());
}

void add_circumstances(CLI::App& command, Options& o) {
  command
      .add_option("--straggler", o.stragglers,
                  "RANK=xFACTOR: a rank that takes so many times as long for its own work")
      ->delimiter(',');
  command.add_option("--skew", o.skew_us, "Ranks begin at random within so many microseconds")
      ->check(tutti::zero_or_more());
  command.add_option("--seed", o.seed, "Of that chance")
      ->check(tutti::zero_or_more())
      ->capture_default_str();
  command.add_option("--calls", o.calls, "Calls one after the other; times are of one of them")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

}  // namespace

Question question_of(const Options& options) {
  const Environment environment = need(read_environment(process_environment()));
  const FoundTuning found = need(tuning_to_use(environment, process_environment()));
  Question question{
      .collective = need(bench::collective_named(options.collective)),
      .type = need(bench::type_named(options.type)),
      .root = options.root,
      .ranks = options.ranks,
      .hosts = options.hosts > 0 ? options.hosts : options.ranks,
      .cores = options.machine.shared_cores > 0 ? options.machine.shared_cores : options.cores,
      .network = figures_of(options, found.tuning),
      .machine = found.tuning.machine,
      .environment = environment,
      .most_steps = static_cast<uint64_t>(std::min(options.most_steps, 1e18)),
      .calls = options.calls};
  for (const std::string& text : options.figures) set_figure(text, question.machine);
  const uint64_t bytes = question.collective == Collective::kBarrier ? 0 : options.bytes;
  constexpr uint64_t kMostBytes = uint64_t{1} << 40;
  if (bytes > kMostBytes) fail(fmt::format("--bytes {}: expected at most 1tb", bytes));
  const size_t size = type_size(question.type);
  if (bytes % size != 0) {
    fail(fmt::format("--bytes {}: expected a whole number of elements of {}", bytes, options.type));
  }
  question.count = bytes / size;
  if (question.hosts > question.ranks) {
    fail(fmt::format("--hosts {}: expected at most as many as ranks, {}", question.hosts,
                     question.ranks));
  }
  if (options.root >= options.ranks) {
    fail(fmt::format("--root {}: ranks go from 0 to {}", options.root, options.ranks - 1));
  }
  return question;
}

OneMachine machine_of(const Options& options, double alpha_s) {
  if (options.machine.shared_cores == 0) {
    for (const auto& [name, value] : {std::pair("--message-cpu", options.machine.message_cpu_us),
                                      {"--turn", options.machine.turn_us},
                                      {"--byte-cpu", options.machine.byte_cpu_ns}}) {
      if (value > 0) fail(fmt::format("{} {}: expected --shared-cores with it", name, value));
    }
    return {};
  }
  const double message_s =
      options.machine.message_cpu_us > 0 ? options.machine.message_cpu_us * 1e-6 : alpha_s / 2;
  if (message_s > alpha_s) {
    fail(fmt::format("--message-cpu {}: expected at most --latency, {}",
                     options.machine.message_cpu_us, alpha_s * 1e6));
  }
  return {.cores = options.machine.shared_cores,
          .message_s = message_s,
          .byte_s = options.machine.byte_cpu_ns * 1e-9,
          .turn_s = options.machine.turn_us * 1e-6};
}

Circumstances circumstances_of(const Options& options, const Question& question) {
  Circumstances circumstances{.skew_s = options.skew_us * 1e-6,
                              .seed = options.seed,
                              .calls = options.calls,
                              .machine = machine_of(options, question.network.message_s),
                              .times = times_of(options)};
  for (const std::string& text : options.stragglers) {
    const auto [rank, factor] = straggler_of(text, question.ranks);
    if (!circumstances.stragglers.emplace(rank, factor).second) {
      fail(fmt::format("--straggler {}: rank {} is one already; expected it once", text, rank));
    }
  }
  return circumstances;
}

std::vector<int> groups_of(const Options& options, const Network& network) {
  const std::string& text = options.network.groups;
  if (text == "none") return {};
  int each = network.hosts_near;
  if (text != "topology") {
    const char* const end = text.data() + text.size();
    const auto [behind, error] = std::from_chars(text.data(), end, each);
    if (error != std::errc() || behind != end || each < 1) {
      fail(fmt::format("--groups {}: expected topology, none or a number of hosts", text));
    }
  }
  if (each == 0) {
    fail(fmt::format("--groups topology: no hosts of '{}' are nearer to one another than others",
                     options.network.topology));
  }
  std::vector<int> groups;
  for (int host = 0; host < network.hosts(); ++host) groups.push_back(host / each);
  return groups;
}

void add_options(CLI::App& command, Options& o) {
  command.add_option(kCollectiveNames, o.collective, "allreduce, broadcast, ...")->required();
  command.add_option("-n,--ranks", o.ranks, "How many ranks (default 2)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--hosts", o.hosts, "Among which they are divided (default: one each)")
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option("-b,-y,--bytes,--sizes", o.bytes, "Size of a block: 4096, 64kb, 1mb (default 8)")
      ->transform(tutti::size_in_bytes());
  command.add_option("-d,--type,--types", o.type, "Of the elements (default float32)");
  command.add_option("-t", o.type, "")->group("");  // the option's first name
  command.add_option("--root", o.root, "Of a broadcast, reduce, gather or scatter (default 0)")
      ->check(tutti::zero_or_more());
  command
      .add_option("--cores", o.cores,
                  "Of each host, which its ranks share (default: one for each of them)")
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option("--figure", o.figures,
                  "NAME=SECONDS: what the cost model takes within a host (names: tutti info)")
      ->delimiter(',');
  command
      .add_option("-a,--algorithm", o.algorithms,
                  "This one instead of the choice; several, or all, are compared")
      ->delimiter(',');
  add_network_options(command, o);
  add_machine_options(command, o);
  add_circumstances(command, o);
  command.add_option("--most-steps", o.most_steps, "Of all ranks together; more are refused")
      ->check(tutti::above_zero())
      ->capture_default_str();
  command.add_option("--sweep", o.sweep, "ranks: all powers of two up to --ranks")
      ->check(CLI::IsMember({"ranks"}));
  command.add_option("--plot", o.plot, "Draw time over ranks into this file, as SVG")
      ->check(tutti::writable_file());
  command.add_option("--heat", o.heat, "")->check(tutti::writable_file())->group("");
  command.add_option("--plot-links", o.heat, "Draw how busy each link was into this file, as SVG")
      ->check(tutti::writable_file());
  command
      .add_option("--export", o.goal,
                  "Write the schedule into this file in GOAL, for LogGOPSim and other simulators")
      ->check(tutti::writable_file());
  command
      .add_option("--export-chakra", o.chakra,
                  "Write the schedule as Chakra traces, PREFIX.RANK.et, for ASTRA-sim")
      ->type_name("PREFIX");
  command.add_flag("--json", o.json, "Print JSON");
}

}  // namespace tutti::simulate
