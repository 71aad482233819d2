// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti trace: the last calls of every rank of a running job, for Perfetto or chrome://tracing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "inspect/trace.hpp"
#include "tools/inside.hpp"
#include "tools/need.hpp"

namespace {

using tutti::inspect::CommunicatorView;
using tutti::inspect::Job;

constexpr tutti::Need kNeed{"tutti trace"};
constexpr int kNothingToSee = 3;

struct Arguments {
  tutti::inspect::Wanted wanted;
  std::string output = "-";
};

void write(const std::string& text, const std::string& path) {
  FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!written || (path == "-" ? std::fflush(file) : std::fclose(file)) != 0) {
    kNeed.fail(fmt::format("writing {}: {}", path, std::strerror(errno)));
  }
}

void run(const Arguments& arguments) {
  const std::vector<Job> jobs = find_jobs(arguments.wanted);
  if (jobs.empty()) tutti_tools::nothing_to_see("tutti trace", arguments.wanted, kNothingToSee);
  std::vector<const CommunicatorView*> views;
  std::string unseen;
  for (const Job& job : jobs) {
    for (const auto& communicator : job.communicators) {
      if (communicator.status.ok()) {
        views.push_back(&communicator.view);
      } else {
        unseen = communicator.status.message();
      }
    }
  }
  if (views.empty()) kNeed.fail(unseen);
  if (!unseen.empty()) fmt::print(stderr, "tutti trace: some are left out: {}\n", unseen);
  write(trace_of(views, jobs.back().now), arguments.output);
}

}  // namespace

void add_trace(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* trace = app.add_subcommand(
      "trace", "The last calls of every rank of a running job, as a trace for Perfetto");
  tutti_tools::add_wanted(*trace, arguments->wanted);
  trace->add_option("-o,--output", arguments->output, "File to write; -: standard output")
      ->capture_default_str();
  trace->footer(
      "The file is JSON for https://ui.perfetto.dev or chrome://tracing: a process for each rank, "
      "a track for each communicator, the last 64 calls of each. "
      "Where the end of a short call is not known, it is when the last rank entered. Exit status "
      "3: "
      "there is no such job.");
  trace->callback([arguments] { run(*arguments); });
}
