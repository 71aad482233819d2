// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti top: how fast the ranks of running jobs make calls, and who keeps whom waiting.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/files.hpp"
#include "core/json_text.hpp"
#include "tools/inside.hpp"
#include "tools/need.hpp"
#include "tools/rates.hpp"
#include "tools/serve.hpp"

namespace {

constexpr tutti::Need kNeed{"tutti top"};
// Between the two looks of a scrape.
constexpr double kScrapeS = 0.5;

struct Arguments {
  tutti::inspect::Wanted wanted;
  double interval_s = 1;
  bool once = false;
  bool json = false;
  std::string prometheus;
};

bool is_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  return text.find('/') == std::string::npos && !port.empty() &&
         std::ranges::all_of(port, [](unsigned char c) { return std::isdigit(c); });
}

void write_metrics(const Arguments& arguments) {
  do {
    const auto rates = tutti::tools::measure_rates(arguments.wanted, arguments.interval_s);
    kNeed(tutti::replace_file(arguments.prometheus, to_metrics(rates), tutti::kPublicFile));
  } while (!arguments.once);
}

void show(const Arguments& arguments) {
  const bool terminal = isatty(STDOUT_FILENO) != 0 && !arguments.once && !arguments.json;
  do {
    const auto rates = tutti::tools::measure_rates(arguments.wanted, arguments.interval_s);
    if (rates.empty() && arguments.once) {
      tutti::tools::nothing_to_see("tutti top", arguments.wanted);
    }
    if (terminal) fmt::print("\x1b[H\x1b[2J");
    if (arguments.json) {
      fmt::print("{}\n", tutti::json_text(tutti::tools::to_json(rates), arguments.once ? 2 : -1));
    } else {
      fmt::print("{}{}", tutti::tools::to_table(rates), terminal || arguments.once ? "" : "\n");
    }
    if (std::fflush(stdout) != 0) kNeed.fail(fmt::format("writing: {}", std::strerror(errno)));
  } while (!arguments.once);
}

void run(const Arguments& arguments) {
  if (arguments.prometheus.empty()) return show(arguments);
  if (!is_address(arguments.prometheus)) return write_metrics(arguments);
  kNeed(tutti::tools::serve_metrics(arguments.prometheus, [&] {
    return to_metrics(
        tutti::tools::measure_rates(arguments.wanted, std::min(arguments.interval_s, kScrapeS)));
  }));
}

}  // namespace

void add_top(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* top = app.add_subcommand(
      "top", "How fast the ranks of running jobs make calls, and who keeps whom waiting");
  tutti::tools::add_wanted(*top, arguments->wanted);
  top->add_option("--interval", arguments->interval_s, "Seconds between two looks")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  top->add_flag("--once", arguments->once, "Print once and end");
  top->add_flag("--json", arguments->json, "Print JSON");
  top->add_option("--prometheus", arguments->prometheus,
                  "Serve metrics at this port of the loopback, or ADDRESS:PORT, or write them to "
                  "this file again and again");
  top->footer(
      "Looks at processes of this user on this host, and changes nothing. In calls, waiting and "
      "last in are shares of the time and of the calls, from the last 64 calls of each rank: "
      "waiting is the time until the last rank entered, last in the calls in which that was this "
      "rank. Messages between two ranks are not counted. Exit status with --once: 3 if there is "
      "no such job.");
  top->callback([arguments] { run(*arguments); });
}
