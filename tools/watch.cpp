// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti watch: looks at running jobs every few seconds, and says when one hangs or is slow, and
// why.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "tools/checks.hpp"
#include "tools/inside.hpp"
#include "tools/need.hpp"
#include "tools/watcher.hpp"

namespace {

using tutti::tools::Watcher;

constexpr tutti::Need kNeed{"tutti watch"};

struct Arguments {
  tutti::tools::WatchSettings settings;
  double interval_s = 5;
  double slow_from = 15;  // percent
};

// Ends the command; but a process that is there may make its next communicator later.
void say_that_none_is_seen(const tutti::tools::WatchSettings& settings) {
  const int pid = settings.wanted.pid;
  if (settings.once || pid == 0 || !tutti::inspect::may_look_at(pid)) {
    tutti::tools::nothing_to_see("tutti watch", settings.wanted);
  }
  fmt::print(stderr, "tutti watch: process {} has no communicator of Tutti now, waiting for one\n",
             pid);
}

void run(const Arguments& arguments) {
  tutti::tools::WatchSettings settings = arguments.settings;
  settings.slow_share = arguments.slow_from / 100;
  const bool asked = settings.wanted.pid != 0 || !settings.wanted.name.empty();
  Watcher watcher(settings);
  if (settings.wanted.pid != 0 && !watcher.lives()) {
    tutti::tools::nothing_to_see("tutti watch", settings.wanted);
  }
  if (!settings.reports.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(settings.reports, failed);
    if (failed) kNeed.fail(fmt::format("making {}: {}", settings.reports, failed.message()));
  }
  const int status = watcher.look();
  if (status == tutti::tools::kNothingToSee && !watcher.sees_any()) say_that_none_is_seen(settings);
  if (settings.once && status != tutti::tools::kWell) throw CLI::RuntimeError(status);
  if (settings.once) return;
  while (!asked || watcher.lives()) {
    tutti::tools::sleep_for(arguments.interval_s, [&] { return asked && !watcher.lives(); });
    (void)watcher.look();
  }
  // What it says would stay true for whoever reads it.
  std::error_code none;
  if (!settings.prometheus.empty()) std::filesystem::remove(settings.prometheus, none);
}

}  // namespace

void add_watch(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  tutti::tools::WatchSettings& settings = arguments->settings;
  CLI::App* watch = app.add_subcommand(
      "watch", "Looks at running jobs every few seconds, and says when one hangs or is slow");
  tutti::tools::add_wanted(*watch, settings.wanted);
  watch->add_option("--interval", arguments->interval_s, "Seconds between two looks")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  watch
      ->add_option("--hung-after", settings.hung_after_s,
                   "Seconds after which a wait for a rank that lives counts as hung")
      ->check(tutti::zero_or_more())
      ->capture_default_str();
  watch
      ->add_option("--slow-from", arguments->slow_from,
                   "A job is slow if a rank costs it so many percent of its time")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  watch
      ->add_option("--reports", settings.reports,
                   "Write a report for each cause to this folder, which is made")
      ->type_name("FOLDER");
  watch->add_option("--prometheus", settings.prometheus,
                    "Write metrics to this file after each look");
  watch->add_flag("--once", settings.once, "Look once, say how each job is, and end");
  watch->add_flag("--json", settings.json, "Print JSON, an object a line");
  watch->footer(
      "Looks at processes of this user on this host, and asks those on other hosts that share a "
      "communicator with them; changes nothing. A line has the time, the job, whether it is hung "
      "or slow, the cause, and which rank in which call; another says when it is over. Each cause "
      "is said once. A job is slow after three looks with one cause; that it spends its time "
      "within calls is none. With PID or --job it ends with the job.\n"
      "Exit status with --once: 0: no job is hung or slow; 1: a job is slow; 2: a job hangs; 3: "
      "the job that was asked for is not there, or one may not be looked at.");
  watch->callback([arguments] { run(*arguments); });
}
