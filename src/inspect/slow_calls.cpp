// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/slow_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/fields.hpp"
#include "core/types.hpp"
#include "exec/call.hpp"

namespace tutti::inspect {
namespace {

// A line that has data on its way for so much of the time is what the calls wait for.
constexpr double kLineBusy = 0.5;
// A line that loses so many of its segments delays short calls, too. One lost segment is chance.
constexpr double kLossy = 0.005;
constexpr uint64_t kLeastLost = 2;
// Below this share of the time nothing is said of a demand.
constexpr double kDemandCosts = 0.25;
// Nor if the algorithm is expected to take less than so many times as long: the model errs, too.
constexpr double kDemandSlows = 1.5;

// A line has two ends, so no rank is to blame.
Finding of_line(const Job& job, const Communicator& communicator, const Costs& costs,
                const std::vector<Usage>& usages, const Usage& usage, double seconds) {
  const int pid = job.processes[static_cast<size_t>(&usage - usages.data())].pid;
  const Line& line = usage.line;
  const auto segments = static_cast<double>(std::max<uint64_t>(line.segments, 1));
  return {.cause = Cause::kLine,
          .outcome = Outcome::kSlow,
          .text = fmt::format(
              "the ranks spend {} of the time within calls of \"{}\", and the line of pid {} to {} "
              "is busy for {} of it: {:.1f} MB/s, {:.1f} % of its segments are sent again, round "
              "trips take {:.1f} ms",
              percent(costs.in_calls), communicator.snapshot.name, pid, line.peer,
              percent(usage.line_busy), static_cast<double>(line.bytes) / seconds / 1e6,
              static_cast<double>(line.sent_again) / segments * 100, line.round_trip_us / 1e3),
          .advice = fmt::format("see what else uses the line, and what it loses: ss -tin dst {}",
                                line.peer),
          .pid = pid,
          .share = costs.in_calls};
}

// "allreduce of 8 float32".
std::string kind_of(const CallRecord& call) {
  if (call.collective >= kCollectives || call.type >= kDataTypes) return "unreadable calls";
  return fmt::format("{} of {} {}", collective_name(static_cast<Collective>(call.collective)),
                     call.count, type_name(static_cast<DataType>(call.type)));
}

}  // namespace

std::optional<Finding> of_busy_line(const Job& job, const Communicator& communicator,
                                    const Costs& costs, const std::vector<Usage>& usages,
                                    double seconds) {
  const auto most = std::ranges::max_element(usages, {}, &Usage::line_busy);
  if (most == usages.end() || most->line_busy < kLineBusy) return std::nullopt;
  return of_line(job, communicator, costs, usages, *most, seconds);
}

std::optional<Finding> of_lossy_line(const Job& job, const Communicator& communicator,
                                     const Costs& costs, const std::vector<Usage>& usages,
                                     double seconds) {
  const auto most = std::ranges::max_element(usages, {}, [](const Usage& usage) {
    return usage.line.lost() < kLeastLost ? 0 : usage.line.loss();
  });
  if (most == usages.end() || most->line.lost() < kLeastLost) return std::nullopt;
  if (most->line.loss() < kLossy) return std::nullopt;
  return of_line(job, communicator, costs, usages, *most, seconds);
}

// An algorithm that a variable demands, if it costs more than any rank, as far as is expected.
std::optional<Finding> of_demand(const Communicator& communicator, const Costs& costs,
                                 const Lateness& most) {
  const Demand* const demand = demand_of(communicator.snapshot);
  if (demand == nullptr || demand->seconds < kDemandSlows * demand->best_seconds) {
    return std::nullopt;
  }
  const double share = costs.demanded * (1 - demand->best_seconds / demand->seconds);
  if (share < kDemandCosts || share < most.share) return std::nullopt;
  const std::string variable = text_of(demand->variable);
  return Finding{
      .cause = Cause::kAlgorithm,
      .outcome = Outcome::kSlow,
      .text = fmt::format(
          "the ranks spend {} of the time within {} of \"{}\", and {} demands {} for it, which is "
          "expected to take {:.1f} times as long as {}",
          percent(costs.demanded), kind_of(demand->call), communicator.snapshot.name, variable,
          text_of(demand->algorithm), demand->seconds / demand->best_seconds,
          text_of(demand->best)),
      .advice = fmt::format("unset {}, or compare both: tutti bench, tutti explain", variable),
      .share = share};
}

// Short calls that wait for long ones most of the time. Not if these are long for a late rank.
std::optional<Finding> of_jam(const Communicator& communicator, const Costs& costs,
                              const Lateness& most, double seconds) {
  const auto rank = std::ranges::max_element(
      communicator.snapshot.ranks, {}, [](const RankSnapshot& one) { return one.jam_since.in_ms; });
  const Jam& jam = rank->jam_since;
  const double share = static_cast<double>(jam.in_ms) / 1000 / seconds;
  if (jam.calls == 0 || share < kInCalls || costs.in_calls < kInCalls) return std::nullopt;
  if (most.share >= costs.in_calls / 2) return std::nullopt;
  const PastCall* const ahead = rank->call(jam.last.sequence - 1);
  return Finding{
      .cause = Cause::kJam,
      .outcome = Outcome::kSlow,
      .text = fmt::format(
          "{} calls of \"{}\" were started behind much longer ones, and waited {:.0f} ms each for "
          "these; the last was {}{}",
          jam.calls, communicator.snapshot.name,
          static_cast<double>(jam.ms) / static_cast<double>(jam.calls), describe(jam.last),
          ahead == nullptr ? "" : ", behind " + describe(ahead->record)),
      .advice = "start short calls before long ones, or make them on a communicator of their own",
      .share = share};
}

// The calls themselves, if they take the time. For where no rank is later than the others.
std::optional<Finding> of_long_calls(const Communicator& communicator, const Costs& costs) {
  if (costs.in_calls < kInCalls) return std::nullopt;
  return Finding{
      .cause = Cause::kCalls,
      .outcome = Outcome::kSlow,
      .text = fmt::format("the ranks spend {} of the time within calls of \"{}\", and none is "
                          "later than the others",
                          percent(costs.in_calls), communicator.snapshot.name),
      .advice = "see which algorithm they use: tutti explain, tutti tune",
      .share = costs.in_calls};
}

}  // namespace tutti::inspect
