// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti simulate: the schedules of a collective, run over a model of a network, for more ranks and
// hosts than there are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/json_text.hpp"
#include "tools/need.hpp"
#include "tools/pictures/curves.hpp"
#include "tools/progress.hpp"
#include "tools/simulate/chakra.hpp"
#include "tools/simulate/goal.hpp"
#include "tools/simulate/heat.hpp"
#include "tools/simulate/report.hpp"
#include "tools/simulate_options.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace tutti::simulate;  // NOLINT(google-build-using-namespace)

constexpr tutti::Need need{"tutti simulate"};

[[noreturn]] void fail(const std::string& text) { throw CLI::ValidationError("simulate", text); }

Network network_for(const Options& options, const Question& question) {
  LinkFigures links =
      links_of(question.network, options.network.hop_us * 1e-6, options.network.oversubscribed);
  const OneMachine machine = circumstances_of(options, question).machine;
  if (machine.cores > 0) {
    links.host_latency_s = (question.network.message_s - machine.message_s) / 2;
  }
  Network network = need(make_network(options.network.topology, question.hosts, links));
  network.let_pass(options.network.burst);
  for (const std::string& pair : options.network.failed) need(network.fail(pair));
  need(network.complete());
  return network;
}

// The seconds per byte to another group, as ranks measure it when they meet: all hosts send to
// those in their place of the next group.
double between_groups(Network& network, const tutti::Hosts& groups) {
  std::vector<std::pair<int, int>> messages;
  for (int place = 0; place < groups.columns(); ++place) {
    const std::vector<int> hosts = groups.column(place);
    for (size_t i = 0; i < hosts.size(); ++i) {
      messages.emplace_back(hosts[i], hosts[(i + 1) % hosts.size()]);
    }
  }
  return network.usual_byte_s(messages);
}

void group(const Options& options, Network& network, Question& question) {
  question.groups = groups_of(options, network);
  if (question.groups.empty() || !question.environment.measure_network) return;
  question.network.group_byte_s = between_groups(network, tutti::Hosts::of(question.groups));
}

std::string title_of(const Options& options, const Question& question) {
  return fmt::format("{} of {} bytes on {} rank{} of {} host{}", options.collective,
                     question.count * tutti::type_size(question.type), question.ranks,
                     question.ranks == 1 ? "" : "s", question.hosts,
                     question.hosts == 1 ? "" : "s");
}

// Tells people who wait for long how far it is.
class Progress {
 public:
  ~Progress() {
    if (told_) tutti::show_progress("");
  }
  void tell(double part) {
    const double now = tutti::now_s();
    if (now < next_) return;
    tutti::show_progress(fmt::format("{:.0f} % of all steps", part * 100));
    next_ = now + 1;
    told_ = true;
  }

 private:
  double next_ = tutti::now_s() + 2;
  bool told_ = false;
};

tutti::Result<Outcome> run_watched(const Options& options, const Question& question, const Job& job,
                                   Network& network) {
  Progress progress;
  Circumstances circumstances = circumstances_of(options, question);
  circumstances.watch = [&progress](double part) { progress.tell(part); };
  return run(job, network, question.network, circumstances);
}

void export_call(const Options& options, const Job& job) {
  if (options.goal.empty() && options.chakra.empty()) return;
  const std::vector<std::vector<Operation>> ranks = operations_of(job);
  need.write(options.goal, goal_of(ranks));
  for (size_t rank = 0; rank < ranks.size() && !options.chakra.empty(); ++rank) {
    need.write(fmt::format("{}.{}.et", options.chakra, rank),
               chakra_of(ranks[rank], static_cast<int>(rank)));
  }
}

// One algorithm, with all that there is to say.
void run_one(const Options& options, Question question) {
  Network network = network_for(options, question);
  group(options, network, question);
  const std::unique_ptr<Job> job = need(make_job(question));
  const double begun = tutti::now_s();
  const Outcome outcome = need(run_watched(options, question, *job, network));
  const Found found{.title = title_of(options, question),
                    .job = job.get(),
                    .network = &network,
                    .outcome = &outcome,
                    .calls = options.calls,
                    .simulated_s = tutti::now_s() - begun};
  export_call(options, *job);
  if (!options.heat.empty()) {
    need.write(options.heat, draw_heat(network, outcome, found.title));
  }
  if (options.json) {
    fmt::print("{}\n", tutti::json_text(json_of(found), 2));
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
  Network network = network_for(options, question);
  group(options, network, question);
  const auto job = make_job(question);
  if (!job.ok()) {
    cell["why_not"] = std::string(job.status().message());
    return cell;
  }
  const auto outcome = run_watched(options, question, **job, network);
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

std::vector<tutti::Curve> curves_of(const Json& cells, bool chosen) {
  std::vector<tutti::Curve> curves;
  for (const Json& cell : cells) {
    if (cell.contains("why_not")) continue;
    const std::string name = chosen ? "the choice" : cell["algorithm"].get<std::string>();
    auto curve = std::ranges::find(curves, name, &tutti::Curve::name);
    if (curve == curves.end()) curve = curves.insert(curve, {.name = name, .points = {}});
    curve->points.emplace_back(cell["ranks"].get<int>(), cell["seconds"].get<double>());
  }
  return curves;
}

// The question for so many ranks, as many on each host.
Question with_ranks(const Question& question, int ranks) {
  Question at = question;
  at.ranks = ranks;
  at.hosts = std::max(1, static_cast<int>(int64_t{ranks} * question.hosts / question.ranks));
  return at;
}

std::vector<int> numbers_for(const Options& options, const Question& question) {
  if (options.sweep.empty()) return {question.ranks};
  const int per_host = std::max(1, question.ranks / question.hosts);
  std::vector<int> numbers = {std::min(2 * per_host, question.ranks)};
  while (numbers.back() < question.ranks) {
    numbers.push_back(std::min(2 * numbers.back(), question.ranks));
  }
  return numbers;
}

// The root and the hosts that are asked for must exist in every simulation of a sweep.
void check_fewest(const Options& options, const Question& fewest) {
  if (fewest.root >= fewest.ranks) {
    fail(fmt::format("--root {}: expected one of the ranks that the sweep begins with, 0 to {}",
                     fewest.root, fewest.ranks - 1));
  }
  network_for(options, fewest);
}

void check_names(const Options& options, const Question& question) {
  if (options.algorithms == std::vector<std::string>{"all"}) return;
  for (const std::string& name : options.algorithms) {
    if (tutti::find_algorithm(question.collective, name) != nullptr) continue;
    fail(
        fmt::format("--algorithm: there is no {} algorithm '{}'; expected names from tutti info, "
                    "or all alone",
                    options.collective, name));
  }
}

// Several algorithms, or several numbers of ranks, or both.
void run_many(const Options& options, const Question& question) {
  const std::vector<int> numbers = numbers_for(options, question);
  const int per_host = std::max(1, question.ranks / question.hosts);
  check_fewest(options, with_ranks(question, numbers.front()));
  Json cells = Json::array();
  if (!options.json) {
    fmt::print("{:>8} {:>8} {:<20} {:>14} {:>14} {:>16}\n", "ranks", "hosts", "algorithm",
               "time us", "cost model us", "B between hosts");
  }
  for (const int ranks : numbers) {
    const Question at = with_ranks(question, ranks);
    std::vector<std::string> names = names_for(options, at);
    if (names.empty()) names.emplace_back();
    for (const std::string& name : names) {
      cells.push_back(cell_of(options, at, name));
      if (!options.json) print_cell(cells.back());
    }
  }
  if (!options.plot.empty()) {
    const std::string title =
        fmt::format("{} of {} bytes, {} rank{} per host, {}", options.collective, options.bytes,
                    per_host, per_host == 1 ? "" : "s", options.network.topology);
    need.write(options.plot,
               draw_curves({title, "ranks", [](uint64_t ranks) { return std::to_string(ranks); }},
                           curves_of(cells, options.algorithms.empty())));
  }
  if (options.json) fmt::print("{}\n", tutti::json_text(Json{{"cells", std::move(cells)}}, 2));
}

void run_simulate(const Options& options) {
  const Question question = question_of(options);
  circumstances_of(options, question);
  check_names(options, question);
  const bool many = !options.sweep.empty() || options.algorithms.size() > 1 ||
                    options.algorithms == std::vector<std::string>{"all"};
  if (many && !options.heat.empty()) fail("--plot-links: expected one algorithm and no --sweep");
  for (const auto& [name, value] :
       {std::pair("--export", &options.goal), std::pair("--export-chakra", &options.chakra)}) {
    if (value->empty()) continue;
    if (many) fail(fmt::format("{}: expected one algorithm and no --sweep", name));
    if (options.calls > 1) fail(fmt::format("{}: expected --calls 1", name));
  }
  if (!many && !options.plot.empty()) fail("--plot: expected --sweep ranks");
  if (many) return run_many(options, question);
  Question one = question;
  if (!options.algorithms.empty()) one.algorithm = options.algorithms.front();
  run_one(options, one);
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Run the schedules of a collective over a model of a network, to 100,000 ranks");
  add_options(*command, *o);
  command->footer("The model and how far it can be trusted: docs/scale.md.");
  command->callback([o] { run_simulate(*o); });
}
