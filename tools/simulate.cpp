// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti simulate: the schedules of a collective, run over a model of a network, for more ranks and
// hosts than there are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "select/tuning_file.hpp"
#include "tools/need.hpp"
#include "tools/simulate/pictures.hpp"
#include "tools/simulate/report.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace tutti::simulate;  // NOLINT(google-build-using-namespace)

constexpr tutti::Need need{"tutti simulate"};

struct Options {
  std::string collective;
  int ranks = 2;
  int hosts = 0;
  uint64_t bytes = 8;
  std::string type = "float32";
  int root = 0;
  int cores = 0;
  std::vector<std::string> algorithms;
  std::string topology = "single-switch";
  double latency_us = 0;
  double rate_gbit = 0;
  double hop_us = 0.3;
  double oversubscribed = 1;
  std::vector<std::string> stragglers;
  std::vector<std::string> failed;
  double skew_us = 0;
  uint64_t seed = 1;
  int calls = 1;
  double most_steps = 5e8;
  std::string sweep;
  std::string plot;
  std::string heat;
  bool json = false;
};

[[noreturn]] void fail(const std::string& text) { throw CLI::ValidationError("simulate", text); }

tutti::Collective collective_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (int i = 0; i < tutti::kCollectives; ++i) {
    names.push_back(collective_name(static_cast<tutti::Collective>(i)));
    if (names.back() == name) return static_cast<tutti::Collective>(i);
  }
  fail(
      fmt::format("there is no collective '{}'; expected one of {}", name, fmt::join(names, ", ")));
}

tutti::DataType type_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (int i = 0; i < tutti::kDataTypes; ++i) {
    names.push_back(type_name(static_cast<tutti::DataType>(i)));
    if (names.back() == name) return static_cast<tutti::DataType>(i);
  }
  fail(fmt::format("there is no type '{}'; expected one of {}", name, fmt::join(names, ", ")));
}

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

tutti::NetworkFigures figures_of(const Options& options, const tutti::Tuning& tuning) {
  tutti::NetworkFigures figures = tuning.network.value_or(tutti::NetworkFigures());
  if (options.latency_us > 0) figures.message_s = options.latency_us * 1e-6;
  if (options.rate_gbit > 0) figures.line_byte_s = 8e-9 / options.rate_gbit;
  return figures;
}

Question question_of(const Options& options) {
  const tutti::Environment environment =
      need(tutti::read_environment(tutti::process_environment()));
  const tutti::FoundTuning found =
      need(tutti::tuning_to_use(environment, tutti::process_environment()));
  Question question{.collective = collective_of(options.collective),
                    .type = type_of(options.type),
                    .root = options.root,
                    .ranks = options.ranks,
                    .hosts = options.hosts > 0 ? options.hosts : options.ranks,
                    .cores = options.cores,
                    .network = figures_of(options, found.tuning),
                    .machine = found.tuning.machine,
                    .environment = environment,
                    .most_steps = static_cast<uint64_t>(options.most_steps)};
  const uint64_t bytes = question.collective == tutti::Collective::kBarrier ? 0 : options.bytes;
  const size_t size = tutti::type_size(question.type);
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

Circumstances circumstances_of(const Options& options, int ranks) {
  Circumstances circumstances{
      .skew_s = options.skew_us * 1e-6, .seed = options.seed, .calls = options.calls};
  for (const std::string& text : options.stragglers) {
    circumstances.stragglers.insert(straggler_of(text, ranks));
  }
  return circumstances;
}

Network network_for(const Options& options, const Question& question) {
  const Lines lines = lines_of(question.network, options.hop_us * 1e-6, options.oversubscribed);
  Network network = need(make_network(options.topology, question.hosts, lines));
  for (const std::string& pair : options.failed) need(network.fail(pair));
  need(network.complete());
  return network;
}

std::string title_of(const Options& options, const Question& question) {
  return fmt::format("{} of {} bytes on {} ranks of {} host{}", options.collective,
                     question.count * tutti::type_size(question.type), question.ranks,
                     question.hosts, question.hosts == 1 ? "" : "s");
}

void write(const char* option, const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) need.fail(fmt::format("{}: cannot write {}", option, path));
}

// One algorithm, with all that there is to say.
void run_one(const Options& options, const Question& question) {
  const std::unique_ptr<Job> job = need(make_job(question));
  Network network = network_for(options, question);
  const double begun = tutti::now_s();
  const Outcome outcome =
      need(run(*job, network, question.network, circumstances_of(options, question.ranks)));
  const Found found{.title = title_of(options, question),
                    .job = job.get(),
                    .network = &network,
                    .outcome = &outcome,
                    .calls = options.calls,
                    .simulated_s = tutti::now_s() - begun};
  if (!options.heat.empty())
    write("--heat", options.heat, draw_heat(network, outcome, found.title));
  if (options.json) {
    fmt::print("{}\n", json_of(found).dump(2));
  } else {
    fmt::print("{}", text_of(found));
  }
}

std::vector<std::string> names_for(const Options& options, const Question& question) {
  if (options.algorithms != std::vector<std::string>{"all"}) return options.algorithms;
  std::vector<std::string> names;
  for (const tutti::Algorithm* algorithm : need(applicable(question))) {
    names.emplace_back(algorithm->name);
  }
  return names;
}

// A cell of a comparison.
Json cell_of(const Options& options, Question question, const std::string& algorithm) {
  question.algorithm = algorithm;
  Json cell = {{"ranks", question.ranks}, {"hosts", question.hosts}, {"algorithm", algorithm}};
  const auto job = make_job(question);
  if (!job.ok()) {
    cell["why_not"] = std::string(job.status().message());
    return cell;
  }
  Network network = network_for(options, question);
  const auto outcome =
      run(**job, network, question.network, circumstances_of(options, question.ranks));
  if (!outcome.ok()) {
    cell["why_not"] = std::string(outcome.status().message());
    return cell;
  }
  cell["algorithm"] = (*job)->algorithm->name;
  cell["seconds"] = outcome->seconds;
  cell["predicted_s"] = (*job)->predicted_s;
  cell["bytes_between_hosts"] = outcome->bytes_between_hosts;
  return cell;
}

void print_cell(const Json& cell) {
  fmt::print("{:>8} {:>8} {:<20} ", cell["ranks"].get<int>(), cell["hosts"].get<int>(),
             cell["algorithm"].get<std::string>());
  if (cell.contains("why_not")) {
    fmt::print("{:>14}  {}\n", "-", cell["why_not"].get<std::string>());
  } else {
    fmt::print("{:>14.2f} {:>14.2f} {:>16}\n", cell["seconds"].get<double>() * 1e6,
               cell["predicted_s"].get<double>() * 1e6,
               cell["bytes_between_hosts"].get<uint64_t>());
  }
  std::fflush(stdout);
}

std::vector<Curve> curves_of(const Json& cells, bool chosen) {
  std::vector<Curve> curves;
  for (const Json& cell : cells) {
    if (cell.contains("why_not")) continue;
    const std::string name = chosen ? "the choice" : cell["algorithm"].get<std::string>();
    auto curve = std::ranges::find(curves, name, &Curve::name);
    if (curve == curves.end()) curve = curves.insert(curve, {.name = name, .points = {}});
    curve->points.emplace_back(cell["ranks"].get<int>(), cell["seconds"].get<double>());
  }
  return curves;
}

// Several algorithms, or several numbers of ranks, or both.
void run_many(const Options& options, const Question& question) {
  std::vector<int> numbers = {question.ranks};
  const int per_host = std::max(1, question.ranks / question.hosts);
  if (!options.sweep.empty()) {
    for (numbers.clear(); numbers.empty() || numbers.back() < question.ranks;) {
      numbers.push_back(numbers.empty() ? std::min(2 * per_host, question.ranks)
                                        : std::min(2 * numbers.back(), question.ranks));
    }
  }
  Json cells = Json::array();
  if (!options.json) {
    fmt::print("{:>8} {:>8} {:<20} {:>14} {:>14} {:>16}\n", "ranks", "hosts", "algorithm",
               "time us", "cost model us", "B between hosts");
  }
  for (const int ranks : numbers) {
    Question at = question;
    at.ranks = ranks;
    at.hosts = std::max(1, ranks / per_host);
    std::vector<std::string> names = names_for(options, at);
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names) {
      cells.push_back(cell_of(options, at, name));
      if (!options.json) print_cell(cells.back());
    }
  }
  if (!options.plot.empty()) {
    const auto curves = curves_of(cells, options.algorithms.empty());
    write("--plot", options.plot,
          draw_curves(curves, fmt::format("{} of {} bytes, {} rank{} per host, {}",
                                          options.collective, options.bytes, per_host,
                                          per_host == 1 ? "" : "s", options.topology)));
  }
  if (options.json) fmt::print("{}\n", Json{{"cells", std::move(cells)}}.dump(2));
}

void run_simulate(const Options& options) {
  const Question question = question_of(options);
  circumstances_of(options, question.ranks);
  const bool many = !options.sweep.empty() || options.algorithms.size() > 1 ||
                    options.algorithms == std::vector<std::string>{"all"};
  if (many && !options.heat.empty()) fail("--heat: expected one algorithm and no --sweep");
  if (!many && !options.plot.empty()) fail("--plot: expected --sweep ranks");
  if (many) return run_many(options, question);
  Question one = question;
  if (!options.algorithms.empty()) one.algorithm = options.algorithms.front();
  run_one(options, one);
}

void add_network_options(CLI::App& command, Options& o) {
  command.add_option("--topology", o.topology,
                     "single-switch, fat-tree[:RADIX], dragonfly[:HOSTS_PER_SWITCH] or a file");
  command
      .add_option("--latency", o.latency_us,
                  "Of a short message between hosts over one switch, in microseconds (default 20)")
      ->check(CLI::PositiveNumber);
  command.add_option("--rate", o.rate_gbit, "Of the line of each host, in Gbit/s (default 9.6)")
      ->check(CLI::PositiveNumber);
  command.add_option("--hop", o.hop_us, "Latency of each link between switches, in microseconds")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--oversubscribed", o.oversubscribed,
                  "How many times slower links between switches are than lines of hosts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--fail", o.failed, "Links that do not work, as in leaf0-spine1")
      ->delimiter(',');
}

void add_circumstances(CLI::App& command, Options& o) {
  command
      .add_option("--straggler", o.stragglers,
                  "RANK=xFACTOR: a rank that takes so many times as long for its own work")
      ->delimiter(',');
  command.add_option("--skew", o.skew_us, "Ranks begin at random within so many microseconds")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--seed", o.seed, "Of that chance")->capture_default_str();
  command.add_option("--calls", o.calls, "Calls one after the other; times are of one of them")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Run the schedules of a collective over a model of a network, to 100,000 ranks");
  command->add_option("collective", o->collective, "allreduce, broadcast, ...")->required();
  command->add_option("-n,--ranks", o->ranks, "How many ranks (default 2)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--hosts", o->hosts, "Among which they are divided (default: one each)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("-b,--bytes", o->bytes, "Size of a block: 4096, 64kb, 1mb (default 8)")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("-t,--type", o->type, "Of the elements (default float32)");
  command->add_option("--root", o->root, "Of a broadcast, reduce, gather or scatter (default 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--cores", o->cores, "Of each host (default: one for each of its ranks)")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("-a,--algorithm", o->algorithms,
                   "This one instead of the choice; several, or all, are compared")
      ->delimiter(',');
  add_network_options(*command, *o);
  add_circumstances(*command, *o);
  command->add_option("--most-steps", o->most_steps, "Of all ranks together; more are refused")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--sweep", o->sweep, "ranks: all powers of two up to --ranks")
      ->check(CLI::IsMember({"ranks"}));
  command->add_option("--plot", o->plot, "Draw time over ranks into this file, as SVG")
      ->type_name("FILE");
  command->add_option("--heat", o->heat, "Draw how busy each link was into this file, as SVG")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer("The model and how far it can be trusted: docs/scale.md.");
  command->callback([o] { run_simulate(*o); });
}
