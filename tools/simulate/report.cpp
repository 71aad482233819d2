// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/pictures/svg.hpp"

namespace tutti::simulate {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShown = 5;

// The `most` numbers below `count` with the largest keys that are over 0, the largest first.
template <typename Key>
std::vector<int> largest(size_t count, size_t most, Key key) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::erase_if(numbers, [&](int i) { return !(key(static_cast<size_t>(i)) > 0); });
  const auto shown = static_cast<ptrdiff_t>(std::min(most, numbers.size()));
  std::partial_sort(numbers.begin(), numbers.begin() + shown, numbers.end(), [&](int a, int b) {
    const double of_a = key(static_cast<size_t>(a));
    const double of_b = key(static_cast<size_t>(b));
    return of_a != of_b ? of_a > of_b : a < b;
  });
  numbers.resize(static_cast<size_t>(shown));
  return numbers;
}

int last_of(const Outcome& outcome) {
  const auto last = std::ranges::max_element(outcome.ranks, {}, &RankOutcome::end_s);
  return static_cast<int>(last - outcome.ranks.begin());
}

std::string links_text(const Found& found) {
  std::string text = fmt::format("\n{:<14} {:>8} {:>12} {:>14} {:>10} {:>16}\n", "links", "number",
                                 "bytes", "most on one", "most busy", "messages waited");
  for (const LinkKind& kind : kinds_of(*found.network, *found.outcome, found.calls)) {
    text += fmt::format("{:<14} {:>8} {:>12} {:>14} {:>9.0f}% {:>16}\n", kind.name, kind.links,
                        bytes_text(kind.bytes), bytes_text(kind.most_bytes), kind.most_busy * 100,
                        time_text(kind.waited_s));
  }
  text += "\nhot links\n";
  for (const int link : hottest(*found.outcome, kShown)) {
    const LinkUse& use = found.outcome->links[static_cast<size_t>(link)];
    text +=
        fmt::format("    {:<28} {} in {} messages, busy for {}\n", found.network->link_name(link),
                    bytes_text(use.bytes), use.messages, time_text(use.busy_s));
  }
  return text;
}

std::string waits_text(const Outcome& outcome) {
  std::string text = "\nwho waits\n";
  for (const int rank : most_patient(outcome, kShown)) {
    const RankOutcome& of = outcome.ranks[static_cast<size_t>(rank)];
    const std::string whom =
        of.waited_for < 0 ? "its own messages to leave" : fmt::format("rank {}", of.waited_for);
    text += fmt::format("    rank {:<8} {} in all, the longest {} for {}", rank,
                        time_text(of.waited_s), time_text(of.longest_wait_s), whom);
    const bool down_the_chain = of.waited_for >= 0 && of.cause.rank != of.waited_for;
    text += down_the_chain ? fmt::format(", which waited too: rank {} was busy for {} of its own\n",
                                         of.cause.rank, time_text(of.cause.seconds))
                           : "\n";
  }
  return text;
}

Json links_json(const Found& found) {
  Json kinds = Json::array();
  for (const LinkKind& kind : kinds_of(*found.network, *found.outcome, found.calls)) {
    kinds.push_back({{"kind", kind.name},
                     {"links", kind.links},
                     {"bytes", kind.bytes},
                     {"most_bytes", kind.most_bytes},
                     {"most_busy", kind.most_busy},
                     {"waited_s", kind.waited_s}});
  }
  return kinds;
}

Json hot_json(const Found& found) {
  Json hot = Json::array();
  for (const int link : hottest(*found.outcome, kShown)) {
    const LinkUse& use = found.outcome->links[static_cast<size_t>(link)];
    hot.push_back({{"link", found.network->link_name(link)},
                   {"bytes", use.bytes},
                   {"messages", use.messages},
                   {"busy_s", use.busy_s}});
  }
  return hot;
}

Json waits_json(const Outcome& outcome) {
  Json waits = Json::array();
  for (const int rank : most_patient(outcome, kShown)) {
    const RankOutcome& of = outcome.ranks[static_cast<size_t>(rank)];
    waits.push_back({{"rank", rank},
                     {"waited_s", of.waited_s},
                     {"longest_s", of.longest_wait_s},
                     {"for", of.waited_for},
                     {"because_of", of.cause.rank},
                     {"its_work_s", of.cause.seconds}});
  }
  return waits;
}

Json memory_json(const Footprint& most) {
  return {{"buffer_bytes", most.buffer_bytes},
          {"scratch_bytes", most.scratch_bytes},
          {"plan_bytes", most.plan_bytes},
          {"connections", most.connections}};
}

}  // namespace

std::vector<LinkKind> kinds_of(const Network& network, const Outcome& outcome, int calls) {
  std::vector<LinkKind> kinds;
  for (const std::string& name : network.kinds()) kinds.push_back({.name = name});
  const double lasted = outcome.seconds * calls;
  for (size_t i = 0; i < outcome.links.size(); ++i) {
    const LinkUse& use = outcome.links[i];
    LinkKind& kind = kinds[static_cast<size_t>(network.links()[i].kind)];
    ++kind.links;
    kind.bytes += use.bytes;
    kind.most_bytes = std::max(kind.most_bytes, use.bytes);
    if (lasted > 0) kind.most_busy = std::max(kind.most_busy, use.busy_s / lasted);
    kind.waited_s += use.waited_s;
  }
  return kinds;
}

std::vector<int> hottest(const Outcome& outcome, size_t most) {
  return largest(outcome.links.size(), most, [&](size_t i) { return outcome.links[i].busy_s; });
}

std::vector<int> most_patient(const Outcome& outcome, size_t most) {
  return largest(outcome.ranks.size(), most, [&](size_t i) { return outcome.ranks[i].waited_s; });
}

std::string text_of(const Found& found) {
  const Outcome& outcome = *found.outcome;
  const Job& job = *found.job;
  const int last = last_of(outcome);
  std::string text =
      fmt::format("{}\n{}, by {}; {}\n\n{} per call; the cost model says {}. Rank {} ends last.\n",
                  found.title, job.algorithm->name, job.origin, found.network->description,
                  time_text(outcome.seconds), time_text(job.predicted_s), last);
  if (job.grouped())
    text += fmt::format("The hosts are in {} groups.\n", job.hosts.groups->count());
  text += fmt::format("{} messages, {} in all, {} between hosts\n", outcome.messages,
                      bytes_text(outcome.bytes_sent), bytes_text(outcome.bytes_between_hosts));
  if (!outcome.links.empty()) text += links_text(found);
  text += waits_text(outcome);
  text += fmt::format(
      "\nat most on a rank: {} of buffers, {} of scratch, {} of plans; {} connections to other "
      "hosts\n",
      bytes_text(job.most.buffer_bytes), bytes_text(job.most.scratch_bytes),
      bytes_text(job.most.plan_bytes), job.most.connections);
  text += fmt::format("{} steps planned in {} ({} programs differ), {} events simulated in {}\n",
                      job.steps, time_text(job.planned_s), job.programs.count(), outcome.events,
                      time_text(found.simulated_s));
  return text;
}

nlohmann::ordered_json json_of(const Found& found) {
  const Outcome& outcome = *found.outcome;
  const Job& job = *found.job;
  return {{"collective", collective_name(job.algorithm->collective)},
          {"ranks", job.roles.size()},
          {"hosts", job.hosts.count()},
          {"groups", job.hosts.groups == nullptr ? 1 : job.hosts.groups->count()},
          {"algorithm", job.algorithm->name},
          {"origin", job.origin},
          {"topology", found.network->description},
          {"failed", found.network->failed()},
          {"seconds", outcome.seconds},
          {"predicted_s", job.predicted_s},
          {"last_rank", last_of(outcome)},
          {"messages", outcome.messages},
          {"bytes", outcome.bytes_sent},
          {"bytes_between_hosts", outcome.bytes_between_hosts},
          {"links", links_json(found)},
          {"hot_links", hot_json(found)},
          {"waits", waits_json(outcome)},
          {"memory", memory_json(job.most)},
          {"steps", job.steps},
          {"programs", job.programs.count()},
          {"events", outcome.events},
          {"planned_s", job.planned_s},
          {"simulated_s", found.simulated_s}};
}

}  // namespace tutti::simulate
