// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti report: one page of what tutti bench has measured, to look at and to send.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tools/checks.hpp"
#include "tools/need.hpp"
#include "tools/report_page.hpp"

namespace {

constexpr tutti::Need kNeed{"tutti report"};

struct Arguments {
  std::vector<std::string> files;
  std::string output = "-";
};

void run(const Arguments& arguments) {
  std::vector<std::pair<std::string, tutti::tools::Report>> reports;
  for (const std::string& path : arguments.files) {
    reports.emplace_back(path, kNeed(tutti::tools::read_report(path)));
  }
  kNeed.write(arguments.output, tutti::tools::page_of(tutti::tools::joined(reports)));
}

}  // namespace

void add_report(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* report = app.add_subcommand("report", "One page of measurements, to look at and send");
  report->add_option("FILE", arguments->files, "Files of tutti bench -o, and pages of this command")
      ->required();
  report->add_option("-o,--output", arguments->output, "File to write; -: standard output")
      ->check(tutti::writable_file())
      ->capture_default_str();
  report->footer(
      "The page is HTML that needs nothing from elsewhere. It has curves, tables, the machine and "
      "the commands, and the figures as JSON, too, from which this command makes a page again.");
  report->callback([arguments] { run(*arguments); });
}
