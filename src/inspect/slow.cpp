// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/slow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "inspect/late_rank.hpp"
#include "inspect/slow_calls.hpp"

namespace tutti::inspect {
namespace {

// Below this share of the time nothing is said.
constexpr double kCosts = 0.05;
// A rank that is so much less late than the latest is told of, too. Where each comes last for so
// much of its even share of the calls, nobody is to blame.
constexpr double kAlsoLate = 0.5;
// Ranks that come last by so little of their even share of the time are not late.
constexpr double kHardlyLate = 0.25;

// Whether one rank is much later than all others.
bool stands_out(const Lateness& most, const Costs& costs) {
  return std::ranges::none_of(costs.ranks, [&](const Lateness& other) {
    return other.place != most.place && other.share > kAlsoLate * most.share;
  });
}

// Whether a rank is late mostly because the call before kept it for longer than the others.
bool was_kept(const Lateness& late) { return 2 * late.inside_ns > late.late_ns; }

double all_lateness_s(const Costs& costs) {
  double seconds = 0;
  for (const Lateness& late : costs.ranks) seconds += static_cast<double>(late.late_ns) / 1e9;
  return seconds;
}

// All ranks have no core for much of the time, so that each is late in turn; empty: that is not so.
std::optional<Finding> of_shortage(const Job& job, const Communicator& communicator,
                                   const Costs& costs, const std::vector<Usage>& usages) {
  double least = 1;
  int known = 0;
  for (const Usage& usage : usages) {
    if (!usage.known) continue;
    least = std::min(least, usage.delayed);
    ++known;
  }
  if (known < 2 || least < kLeastDelayedShare) return std::nullopt;
  Finding finding{.cause = Cause::kCores, .outcome = Outcome::kSlow, .text = "", .advice = ""};
  finding.text = fmt::format(
      "the ranks of \"{}\" have no core for {} of the time and more, each is late in turn",
      communicator.snapshot.name, percent(least));
  finding.advice =
      fmt::format("give each rank a core of its own: taskset -cp {}", job.processes.front().pid);
  finding.share = least;
  finding.waited_s = all_lateness_s(costs);
  return finding;
}

// No rank is to blame, for each comes last about as often; empty: that is not so.
std::optional<Finding> of_uneven(const Communicator& communicator, const Costs& costs,
                                 const Lateness& most) {
  const int ranks = static_cast<int>(costs.ranks.size());
  double all = 0;
  for (const Lateness& late : costs.ranks) all += late.share;
  // Against its even share of the calls, and of the time that they wait.
  const auto seldom = [&](const Lateness& late) {
    return late.calls * ranks < kAlsoLate * costs.calls || late.share * ranks < kHardlyLate * all;
  };
  if (stands_out(most, costs) || std::ranges::any_of(costs.ranks, seldom)) return std::nullopt;
  const auto least = std::ranges::min_element(costs.ranks, {}, &Lateness::share);
  Finding finding{.cause = Cause::kUneven,
                  .outcome = Outcome::kSlow,
                  .text = fmt::format(
                      "each rank of \"{}\" enters calls last in turn, for {} to {} of the time: "
                      "their work is uneven",
                      communicator.snapshot.name, percent(least->share), percent(most.share)),
                  .advice = "give the ranks as much work in each step"};
  finding.share = all;
  finding.waited_s = all_lateness_s(costs);
  return finding;
}

}  // namespace

std::vector<Finding> slow_findings(const Job& job, const Communicator& communicator,
                                   const std::vector<Usage>& usages, double seconds) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(*std::move(finding));
    return !findings.empty();
  };
  if (!communicator.status.ok() || !communicator.moved) return findings;
  const Costs costs = costs_of(communicator.snapshot, job);
  const auto most = std::ranges::max_element(costs.ranks, {}, &Lateness::share);
  if (most == costs.ranks.end()) return findings;
  // Calls within one host wait for no line, whatever its processes send elsewhere.
  const bool over_lines = communicator.snapshot.across_hosts();
  // A rank that waits for a line all the time is also late now and then.
  if (over_lines && costs.in_calls >= kInCalls && most->share < costs.in_calls / 2 &&
      add(of_busy_line(job, communicator, costs, usages, seconds))) {
    return findings;
  }
  if (add(of_jam(communicator, costs, *most, seconds))) return findings;
  if (add(of_demand(communicator, costs, *most))) return findings;
  const bool late = most->share >= kCosts;
  const bool one_is_late = late && stands_out(*most, costs);
  // Whoever waits for what was lost is late in the next call.
  if (over_lines && (late || costs.in_calls >= kInCalls) && (!one_is_late || was_kept(*most)) &&
      add(of_lossy_line(job, communicator, costs, usages, seconds))) {
    return findings;
  }
  if (!one_is_late && add(of_shortage(job, communicator, costs, usages))) return findings;
  if (!late) {
    add(of_long_calls(communicator, costs));
    return findings;
  }
  if (add(of_uneven(communicator, costs, *most))) return findings;
  for (const Lateness& late : costs.ranks) {
    if (late.share >= kCosts && late.share >= kAlsoLate * most->share) {
      findings.push_back(of_late_rank(job, communicator, costs, late, usages, seconds));
    }
  }
  return findings;
}

Verdict judge_slow(const Job& job, const std::vector<Usage>& usages, double seconds) {
  Verdict verdict{.outcome = Outcome::kGoesOn, .text = "no rank is later than the others"};
  for (const Communicator& communicator : job.communicators) {
    for (Finding& finding : slow_findings(job, communicator, usages, seconds)) {
      verdict.findings.push_back(std::move(finding));
    }
  }
  std::ranges::stable_sort(verdict.findings, std::ranges::greater(), &Finding::waited_s);
  if (!verdict.findings.empty()) {
    verdict.outcome = verdict.findings.front().outcome;
    verdict.text = verdict.findings.front().text;
    verdict.advice = verdict.findings.front().advice;
  }
  return verdict;
}

}  // namespace tutti::inspect
