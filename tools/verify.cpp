// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti verify: proves the registered algorithms for many numbers of ranks (sched/verify.hpp says
// what is proved, verify_cases.hpp for which problems).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/json_text.hpp"
#include "sched/verify.hpp"
#include "tools/bench/usual_names.hpp"
#include "tools/help.hpp"
#include "tools/progress.hpp"
#include "tools/verify_cases.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string collective;
  std::string algorithm;
  std::string ranks;
  bool quick = false;
  bool json = false;
};

constexpr const char* kAllRanks = "1-64";
// Powers of two, their neighbours, odd and prime ones.
constexpr const char* kQuickRanks = "1-9,13,16,17,32,33";

struct Row {
  const tutti::Algorithm* algorithm;
  tutti::tools::ProofTally tally;
  double seconds = 0;
};

// "1-9,13" as numbers; throws what CLI11 prints.
std::vector<int> parse_ranks(const std::string& text) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&] {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 1 || value > tutti::kMostVerifiedRanks) {
      throw CLI::ValidationError(
          "--ranks", fmt::format("'{}': expected numbers from 1 to {} and ranges, as in {}", text,
                                 tutti::kMostVerifiedRanks, kQuickRanks));
    }
    at = next;
    return value;
  };
  do {
    const int first = number();
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
  } while (at != end && *at++ == ',');
  if (at != end || ranks.empty()) {
    throw CLI::ValidationError("--ranks",
                               fmt::format("'{}' is not a list such as {}", text, kQuickRanks));
  }
  return ranks;
}

std::vector<Row> choose(const Options& options) {
  const std::string collective_wanted = tutti::bench::usual_collective(options.collective);
  std::vector<Row> rows;
  for (const tutti::Algorithm* algorithm : tutti::algorithms()) {
    const bool wanted = (options.collective.empty() ||
                         collective_wanted == collective_name(algorithm->collective)) &&
                        (options.algorithm.empty() || options.algorithm == algorithm->name);
    if (wanted) rows.push_back({algorithm, {}, 0});
  }
  if (!rows.empty()) return rows;
  const std::string algorithm =
      options.algorithm.empty() ? "algorithm" : fmt::format("algorithm '{}'", options.algorithm);
  const std::string collective =
      options.collective.empty() ? "" : fmt::format(" for collective '{}'", options.collective);
  throw CLI::ValidationError(
      "verify", fmt::format("there is no {}{}; tutti info lists them", algorithm, collective));
}

void prove(Row& row, const std::vector<int>& ranks) {
  const auto start = Clock::now();
  for (const int n : ranks) {
    tutti::show_progress(fmt::format("proving {} {} for {} ranks",
                                     collective_name(row.algorithm->collective),
                                     row.algorithm->name, n));
    prove_algorithm(*row.algorithm, n, row.tally);
    if (!row.tally.failures.empty()) break;
  }
  tutti::show_progress("");
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

Json json_of(const std::vector<Row>& rows, const std::vector<int>& ranks) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"collective", collective_name(row.algorithm->collective)},
                    {"algorithm", row.algorithm->name},
                    {"proofs", row.tally.proofs},
                    {"nested", row.tally.nested},
                    {"steps", row.tally.steps},
                    {"skipped", row.tally.skipped},
                    {"failures", row.tally.failures},
                    {"seconds", row.seconds}});
  }
  return {{"ranks", ranks}, {"algorithms", std::move(list)}};
}

void print_row(const Row& row) {
  fmt::print(
      "{:<15} {:<20} {:>8} {:>12} {:>8.1f}  {}\n", collective_name(row.algorithm->collective),
      row.algorithm->name, row.tally.proofs, row.tally.steps, row.seconds,
      row.tally.failures.empty() ? (row.tally.proofs > 0 ? "proved" : "never applies") : "FAILED");
  for (const std::string& failure : row.tally.failures) fmt::print("    {}\n", failure);
  std::fflush(stdout);
}

void print_nested(const std::vector<Row>& rows) {
  uint64_t nested = 0;
  for (const Row& row : rows) nested += row.tally.nested;
  if (nested == 0) return;
  fmt::print("\n{} of the proofs are of three levels: calls of columns are compositions, too\n",
             nested);
}

void print_skipped(const std::vector<Row>& rows) {
  std::map<std::string, uint64_t> reasons;
  for (const Row& row : rows) {
    for (const auto& [reason, count] : row.tally.skipped) reasons[reason] += count;
  }
  if (!reasons.empty()) fmt::print("\nNot applicable\n");
  for (const auto& [reason, count] : reasons) fmt::print("{:>8}  {}\n", count, reason);
}

void run_verify(const Options& options) {
  const std::string default_ranks = options.quick ? kQuickRanks : kAllRanks;
  const std::vector<int> ranks = parse_ranks(options.ranks.empty() ? default_ranks : options.ranks);
  std::vector<Row> rows = choose(options);
  if (!options.json) {
    fmt::print("{:<15} {:<20} {:>8} {:>12} {:>8}\n", "collective", "algorithm", "proofs", "steps",
               "seconds");
  }
  for (Row& row : rows) {
    prove(row, ranks);
    if (!options.json) print_row(row);
  }
  if (options.json) {
    fmt::print("{}\n", tutti::json_text(json_of(rows, ranks), 2));
  } else {
    print_nested(rows);
    print_skipped(rows);
  }
  const bool proved = std::ranges::all_of(
      rows, [](const Row& row) { return row.tally.failures.empty() && row.tally.proofs > 0; });
  if (!proved) throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify", "Prove every algorithm: results, no deadlock, no race, for every number of ranks");
  command->add_option(tutti::kCollectiveNames, options->collective, "Only its algorithms");
  command->add_option("-a,--algorithm", options->algorithm, "Of this name only");
  command
      ->add_option("-n,--ranks", options->ranks,
                   fmt::format("Numbers of ranks, as in {} (default {})", kQuickRanks, kAllRanks))
      ->type_name("N");
  command->add_flag("--quick", options->quick, fmt::format("Ranks {} only", kQuickRanks));
  command->add_flag("--json", options->json, "Print the table as JSON");
  command->callback([options] { run_verify(*options); });
}
