// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti trace: the last calls of every rank of a running job, for Perfetto or chrome://tracing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "core/json_text.hpp"
#include "inspect/trace.hpp"
#include "tools/inside.hpp"
#include "tools/need.hpp"
#include "tools/trace_merge.hpp"

namespace {

using tutti::inspect::Job;

constexpr tutti::Need kNeed{"tutti trace"};

struct Arguments {
  tutti::inspect::Wanted wanted;
  std::string output = "-";
  std::vector<std::string> files;
};

// Says what went to a file; standard output may have the trace itself.
void say(const std::string& path, const std::string& what) {
  if (path == "-") return;
  fmt::print("{}: {}; open it with https://ui.perfetto.dev or chrome://tracing\n", path, what);
}

std::string count(size_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

void run(const Arguments& arguments) {
  const std::vector<Job> jobs = find_jobs(with_all_calls(arguments.wanted));
  if (jobs.empty()) tutti::tools::nothing_to_see("tutti trace", arguments.wanted);
  std::vector<tutti::inspect::TracedCommunicator> snapshots;
  std::string unseen;
  for (const Job& job : jobs) {
    for (const auto& communicator : job.communicators) {
      if (communicator.status.ok()) {
        snapshots.push_back({communicator.snapshot});
      } else {
        unseen = communicator.status.message();
      }
    }
  }
  if (snapshots.empty()) kNeed.fail(unseen);
  if (!unseen.empty()) fmt::print(stderr, "tutti trace: some are left out: {}\n", unseen);
  kNeed.write(arguments.output, trace_of(snapshots, jobs.back().now));
  size_t calls = 0;
  size_t ranks = 0;
  for (const auto& traced : snapshots) {
    ranks += traced.snapshot.ranks.size();
    for (const auto& rank : traced.snapshot.ranks) calls += rank.past.size();
  }
  say(arguments.output, fmt::format("the last {} of {} in {}", count(calls, "call"),
                                    count(ranks, "rank"), count(snapshots.size(), "communicator")));
}

void merge(const Arguments& arguments) {
  std::vector<tutti::tools::TraceFile> files;
  for (const std::string& path : arguments.files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) kNeed.fail(fmt::format("reading {}: {}", path, std::strerror(errno)));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (tutti::nests_too_deep(text)) kNeed.fail(fmt::format("{}: {}", path, tutti::kNestsTooDeep));
    files.push_back({path, nlohmann::json::parse(text, nullptr, false)});
    if (files.back().content.is_discarded()) kNeed.fail(path + ": it is not JSON");
  }
  try {
    const tutti::tools::MergedTrace merged = tutti::tools::merge_traces(std::move(files));
    for (const std::string& note : merged.notes) fmt::print(stderr, "tutti trace: {}\n", note);
    kNeed.write(arguments.output, tutti::json_text(merged.content, -1) + "\n");
    say(arguments.output, count(arguments.files.size(), "trace") + " in one");
  } catch (const std::invalid_argument& wrong) {
    kNeed.fail(wrong.what());
  }
}

}  // namespace

void add_trace(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* trace = app.add_subcommand(
      "trace", "The last calls of every rank of a running job, as a trace for Perfetto");
  tutti::tools::add_wanted(*trace, arguments->wanted);
  trace->add_option("-o,--output", arguments->output, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  CLI::App* together = trace->add_subcommand(
      "merge",
      "Several traces in one: Tutti's, and those of other profilers in this format, as PyTorch's");
  together->add_option("FILE", arguments->files, "Files of traces")->required();
  together->add_option("-o,--output", arguments->output, "File to write; -: standard output")
      ->type_name("FILE")
      ->capture_default_str();
  together->footer(
      "Events of one process are shown together, whoever has recorded them. Clocks of hosts that "
      "do not agree are set right by the calls: no rank leaves an allreduce before all have "
      "entered it.");
  trace->footer(
      "The file is JSON for https://ui.perfetto.dev or chrome://tracing: a process for each rank, "
      "a track for each communicator, the last 64 calls of each. "
      "Where the end of a short call is not known, it is when the last rank entered. Exit status "
      "3: "
      "there is no such job.");
  trace->callback([arguments, together] {
    if (together->parsed()) return merge(*arguments);
    run(*arguments);
  });
}
