// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <iterator>

#include "tools/inside.hpp"

namespace tutti::tools {
namespace {

using namespace tutti::inspect;
using Json = nlohmann::ordered_json;

// The longest time, at the end, in which it samples what the processes use.
constexpr double kMostSampledSeconds = 1;

// "1.2 M"
std::string short_number(double value) {
  constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string row_of(const RankRates& one, const CommunicatorSnapshot& snapshot,
                   const RankSnapshot& rank) {
  const std::string awaits = one.awaits < 0 ? "" : fmt::format("rank {}", one.awaits);
  const std::string now =
      one.waits_now_s <= 0 ? "" : fmt::format("waits for {:.1f} s", one.waits_now_s);
  if (!rank.answers) {
    return fmt::format("  {:<6} {:<9} {}does not answer, silent for {:.1f} s\n", rank.rank,
                       rank.pid, host_column(snapshot, rank), rank.silent_s);
  }
  const std::string late = one.cause.empty() ? "" : percent(one.late);
  std::string row =
      fmt::format("  {:<6} {:<9} {}{:>9} {:>9} {:>7} {:>8} {:>8} {:>6}  {:<9} {}", one.rank,
                  rank.pid, host_column(snapshot, rank), short_number(one.calls_per_s),
                  short_number(one.bytes_per_s), percent(one.in_calls), percent(one.waiting),
                  percent(one.last_in), late, awaits, now.empty() ? one.because : now);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

// The text as a label of a metric may contain it.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result.push_back('\\');
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result;
}

struct Metric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  double (*value)(const RankRates&);
};

constexpr Metric kMetrics[] = {
    {"tutti_calls_total", "counter", "Collective calls that the rank has made.",
     [](const RankRates& one) { return static_cast<double>(one.calls); }},
    {"tutti_bytes_per_second", "gauge", "Bytes of the blocks of its calls, per second.",
     [](const RankRates& one) { return one.bytes_per_s; }},
    {"tutti_in_calls_ratio", "gauge", "Share of the time that the rank spends in calls.",
     [](const RankRates& one) { return one.in_calls; }},
    {"tutti_waiting_ratio", "gauge",
     "Share of the time that the rank waits for peers to enter its calls.",
     [](const RankRates& one) { return one.waiting; }},
    {"tutti_last_in_ratio", "gauge", "Share of the calls that the rank entered last.",
     [](const RankRates& one) { return one.last_in; }},
    {"tutti_late_ratio", "gauge",
     "Share of the time by which the rank enters its calls later than the others; 0: too little.",
     [](const RankRates& one) { return one.late; }},
    {"tutti_waits_seconds", "gauge", "For how long the rank has waited by now; 0: it does not.",
     [](const RankRates& one) { return one.waits_now_s; }},
};

// A job's label is not named "job", for Prometheus gives its own of that name to all that it reads.
std::string labels_of(const CommunicatorRates& of, const RankSnapshot& rank) {
  const auto& snapshot = of.communicator.snapshot;
  return fmt::format("{{tutti_job=\"{}\",communicator=\"{}\",host=\"{}\",rank=\"{}\",pid=\"{}\"}}",
                     escaped(of.job), escaped(snapshot.name), escaped(snapshot.host_of(rank)),
                     rank.rank, rank.pid);
}

// Calls the function for each rank that is there, with its labels. Prometheus refuses a file that
// has labels twice, and a process may have several communicators of one name.
void for_each_rank(const std::vector<CommunicatorRates>& all,
                   const std::function<void(const CommunicatorRates&, const RankRates&,
                                            const std::string& labels)>& visit) {
  std::set<std::string> visited;
  for (const CommunicatorRates& one : all) {
    for (size_t i = 0; i < one.ranks.size(); ++i) {
      const RankSnapshot& rank = one.communicator.snapshot.ranks[i];
      if (!rank.present || rank.left) continue;
      const auto [labels, is_new] = visited.insert(labels_of(one, rank));
      if (is_new) visit(one, one.ranks[i], *labels);
    }
  }
}

// Says of ranks that cost the job much how much, and why; or what else costs it much.
void add_costs(const Observation& observed, const Communicator& communicator,
               CommunicatorRates& all) {
  std::vector<RankRates>& rates = all.ranks;
  const auto findings =
      slow_findings(observed.remembered, communicator, observed.usages, observed.seconds);
  for (const auto& finding : findings) {
    if (finding.ranks.empty()) all.slow = finding.text;
    for (size_t i = 0; i < rates.size(); ++i) {
      const RankSnapshot& rank = communicator.snapshot.ranks[i];
      if (std::ranges::find(finding.ranks, rank.number()) == finding.ranks.end()) continue;
      rates[i].late = finding.share;
      rates[i].cause = to_string(finding.cause);
      rates[i].because = finding.because;
    }
  }
}

}  // namespace

std::vector<CommunicatorRates> rates_in(const Observation& observed, const std::string& job) {
  std::vector<CommunicatorRates> all;
  const std::vector<Communicator>& before = observed.before.communicators;
  for (size_t i = 0; i < before.size(); ++i) {
    const Communicator& now = observed.job.communicators[i];
    if (!now.status.ok() || !before[i].status.ok()) continue;
    all.push_back(
        {job, now, rates_of(before[i].snapshot, now.snapshot, observed.seconds, observed.job)});
    add_costs(observed, observed.remembered.communicators[i], all.back());
  }
  return all;
}

std::vector<CommunicatorRates> measure_rates(const Wanted& wanted, double seconds) {
  const std::vector<Job> jobs = find_jobs(with_all_calls(wanted));
  std::vector<CommunicatorRates> all;
  for (const Observation& observed :
       observe(jobs, seconds, std::min(seconds, kMostSampledSeconds))) {
    std::ranges::move(rates_in(observed, name_of(observed.job)), std::back_inserter(all));
  }
  return all;
}

Json to_json(const std::vector<CommunicatorRates>& all) {
  Json json = Json::array();
  for (const CommunicatorRates& one : all) {
    const auto& snapshot = one.communicator.snapshot;
    const RankRates* const slowest = slowest_of(one.ranks);
    Json ranks = Json::array();
    for (size_t i = 0; i < one.ranks.size(); ++i) {
      const RankRates& rates = one.ranks[i];
      ranks.push_back({{"rank", rates.rank},
                       {"pid", snapshot.ranks[i].pid},
                       {"host", snapshot.host_of(snapshot.ranks[i])},
                       {"answers", snapshot.ranks[i].answers},
                       {"calls", rates.calls},
                       {"calls_per_s", rates.calls_per_s},
                       {"bytes_per_s", rates.bytes_per_s},
                       {"in_calls", rates.in_calls},
                       {"waiting", rates.waiting},
                       {"last_in", rates.last_in},
                       {"waits_for", rates.awaits < 0 ? Json(nullptr) : Json(rates.awaits)},
                       {"waits_now_s", rates.waits_now_s},
                       {"late", rates.late},
                       {"cause", rates.cause.empty() ? Json(nullptr) : Json(rates.cause)},
                       {"because", rates.because}});
    }
    json.push_back({{"name", snapshot.name},
                    {"job", one.job},
                    {"host", snapshot.host},
                    {"slowest_rank", slowest == nullptr ? Json(nullptr) : Json(slowest->rank)},
                    {"slow", one.slow},
                    {"ranks", ranks}});
  }
  return {{"communicators", json}};
}

std::string to_table(const std::vector<CommunicatorRates>& all) {
  if (all.empty()) return "no process of this user has a communicator of Tutti\n";
  std::string text;
  for (const CommunicatorRates& one : all) {
    const auto& snapshot = one.communicator.snapshot;
    const RankRates* const slowest = slowest_of(one.ranks);
    text += fmt::format("{}\"{}\" on {}{}{}\n", text.empty() ? "" : "\n", snapshot.name,
                        hosts_of(snapshot),
                        slowest == nullptr ? "" : fmt::format(", slowest: rank {}", slowest->rank),
                        snapshot.stopped ? ", broken" : "");
    const std::string where(
        snapshot.ranks.empty() ? 0 : host_column(snapshot, snapshot.ranks[0]).size(), ' ');
    text += fmt::format("  {:<6} {:<9} {}{:>9} {:>9} {:>7} {:>8} {:>8} {:>6}  {:<9} {}\n", "rank",
                        "pid", where, "calls/s", "B/s", "in calls", "waiting", "last in", "late",
                        "waits for", "now");
    for (size_t i = 0; i < one.ranks.size(); ++i)
      text += row_of(one.ranks[i], snapshot, snapshot.ranks[i]);
    if (!one.slow.empty()) text += fmt::format("  slow: {}\n", one.slow);
  }
  return text;
}

std::string to_metrics(const std::vector<CommunicatorRates>& all) {
  std::string text;
  for (const Metric& metric : kMetrics) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.help, metric.name,
                        metric.type);
    for_each_rank(all,
                  [&](const CommunicatorRates&, const RankRates& rates, const std::string& labels) {
                    text += fmt::format("{}{} {}\n", metric.name, labels, metric.value(rates));
                  });
  }
  text += "# HELP tutti_broken Whether the communicator has failed.\n# TYPE tutti_broken gauge\n";
  for_each_rank(all, [&](const CommunicatorRates& one, const RankRates&,
                         const std::string& labels) {
    text += fmt::format("tutti_broken{} {}\n", labels, one.communicator.snapshot.stopped ? 1 : 0);
  });
  return text;
}

std::string to_metrics(const JobStates& all) {
  std::string text = "# HELP tutti_hung Whether the job hangs.\n# TYPE tutti_hung gauge\n";
  for (const auto& [job, state] : all) {
    text += fmt::format("tutti_hung{{tutti_job=\"{}\"}} {}\n", escaped(job), state.hung ? 1 : 0);
  }
  text += "# HELP tutti_slow Whether a rank slows the job.\n# TYPE tutti_slow gauge\n";
  for (const auto& [job, state] : all) {
    text += fmt::format("tutti_slow{{tutti_job=\"{}\"}} {}\n", escaped(job), state.slow ? 1 : 0);
  }
  text +=
      "# HELP tutti_blamed Whom the last look blames, and for what.\n"
      "# TYPE tutti_blamed gauge\n";
  for (const auto& [job, state] : all) {
    for (const JobState::Blamed& blamed : state.blamed) {
      text +=
          fmt::format("tutti_blamed{{tutti_job=\"{}\",cause=\"{}\",rank=\"{}\",host=\"{}\"}} 1\n",
                      escaped(job), blamed.cause, blamed.rank, escaped(blamed.host));
    }
  }
  return text + fmt::format(
                    "# HELP tutti_watch_time_seconds When the watcher looked last.\n"
                    "# TYPE tutti_watch_time_seconds gauge\n"
                    "tutti_watch_time_seconds {}\n",
                    std::time(nullptr));
}

}  // namespace tutti::tools
