// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// tutti why: what the processes of a job are doing, and who keeps whom waiting. It looks from
// outside, at shared memory and /proc, and changes nothing.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/json_text.hpp"
#include "tools/checks.hpp"
#include "tools/inside.hpp"
#include "tools/observation.hpp"
#include "tools/verdict_text.hpp"

namespace {

using namespace tutti::inspect;
using Json = nlohmann::ordered_json;

struct Arguments {
  Wanted wanted;
  double hung_after_s = 60;
  bool json = false;
  bool slow = false;
  double for_s = 0.5;
};

int status_of(Outcome outcome) {
  if (outcome == Outcome::kHangs) return tutti::tools::kHung;
  const bool late = outcome == Outcome::kWaits || outcome == Outcome::kSlow;
  return late ? tutti::tools::kSlow : tutti::tools::kWell;
}

void run(const Arguments& given) {
  Arguments arguments = given;
  if (arguments.slow) arguments.wanted = with_all_calls(arguments.wanted);
  const std::vector<Job> jobs = find_jobs(arguments.wanted);
  if (jobs.empty()) tutti::tools::nothing_to_see("tutti why", arguments.wanted);
  const double observed_s = arguments.slow ? arguments.for_s : tutti::tools::kBriefSeconds;
  Json all = Json::array();
  int status = 0;
  bool first = true;
  for (const auto& observed :
       tutti::tools::observe(jobs, observed_s, arguments.slow ? observed_s : 0)) {
    const Verdict verdict = arguments.slow ? slow_verdict_of(observed, arguments.hung_after_s)
                                           : judge(observed.job, arguments.hung_after_s);
    const int own_status = status_of(verdict.outcome);
    status = std::max(status, own_status);
    const std::string stack = tutti::tools::stack_of(observed.job, verdict);
    if (arguments.json) {
      all.push_back(tutti::tools::to_json(observed.job, verdict, stack, own_status));
      continue;
    }
    fmt::print("{}{}", first ? "" : "\n", tutti::tools::to_text(observed.job, verdict, stack));
    first = false;
  }
  if (arguments.json)
    fmt::print("{}\n", tutti::json_text(Json{{"status", status}, {"jobs", all}}, 2));
  if (status != 0) throw CLI::RuntimeError(status);
}

}  // namespace

void add_why(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* why = app.add_subcommand(
      "why", "What is my job doing? Who waits for whom, in which call, and who is late");
  tutti::tools::add_wanted(*why, arguments->wanted);
  why->add_option("--hung-after", arguments->hung_after_s,
                  "Seconds after which a wait for a rank that lives counts as hung")
      ->check(tutti::zero_or_more())
      ->capture_default_str();
  why->add_flag("--slow", arguments->slow,
                "Of a job that gets on: which rank or what else costs it most, and why");
  why->add_option("--for", arguments->for_s, "With --slow: for how many seconds to look")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  why->add_flag("--json", arguments->json, "Print JSON");
  why->footer(
      "Looks at processes of this user on this host, and asks those on other hosts that share a "
      "communicator with them; changes nothing.\n"
      "Exit status: 0: no rank waits, or the ranks get on; 1: a rank is waited for that may yet "
      "come, or with --slow the job is slowed down; 2: hung: a rank is dead, stopped or in another "
      "call, ranks wait for one another, or "
      "--hung-after has passed; 3: there is no such job, or it may not be looked at.");
  why->callback([arguments] { run(*arguments); });
}
