// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/trace_merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tutti::tools {
namespace {

using Json = nlohmann::json;

// ---- a file ------------------------------------------------------------------------------------

// An event of a file, which stays where it is; times in ns since 1970.
struct Event {
  Json* json = nullptr;
  int64_t begin_ns = 0;
};

struct Process {
  std::string host;
  int pid = 0;  // as the system calls it
  int rank = -1;
};

struct File {
  std::string path;
  Json content;
  std::vector<Event> events = {};
  std::map<Json, Process> processes = {};  // Tutti's processes, by pid of the file
  // The rank in a trace of PyTorch's, if it says so.
  std::optional<int> rank = {};
  std::string host = {};
};

template <typename T>
T value_or(const Json& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<T>() : otherwise;
  } else if constexpr (std::is_integral_v<T>) {
    // One with a fraction, or beyond all integers, is none.
    if (found->is_number_unsigned() && !std::in_range<T>(found->get<uint64_t>())) return otherwise;
    if (!found->is_number_integer()) return otherwise;
    const auto value = found->get<int64_t>();
    return std::in_range<T>(value) ? static_cast<T>(value) : otherwise;
  } else {
    return found->is_number() ? found->get<T>() : otherwise;
  }
}

const Json& args_of(const Json& event) {
  static const Json kNone = Json::object();
  const auto found = event.find("args");
  return found == event.end() || !found->is_object() ? kNone : *found;
}

bool is_metadata(const Json& event) { return value_or<std::string>(event, "ph", "") == "M"; }

Json& events_in(File& file) {
  if (file.content.is_array()) return file.content;
  const bool has = file.content.is_object() && file.content.contains("traceEvents") &&
                   file.content["traceEvents"].is_array();
  if (!has) throw std::invalid_argument(file.path + ": no traceEvents, so it is no trace");
  return file.content["traceEvents"];
}

// Far from where differences of times overflow: from 1938 to 2096, for calls of up to 31 years.
constexpr double kEarliestNs = -1e18;
constexpr double kLatestNs = 4e18;
constexpr double kLongestNs = 1e18;
// A clock that is further off than 3 years shows nothing.
constexpr int64_t kMostAheadNs = 100'000'000'000'000'000;

// PyTorch counts from a base that it tells.
void read(File& file) {
  int64_t base_ns = 0;
  if (file.content.is_object()) {
    base_ns = value_or<int64_t>(file.content, "baseTimeNanoseconds", 0);
    file.host = value_or<std::string>(file.content, "host_name", "");
    const auto about = file.content.find("distributedInfo");
    if (about != file.content.end() && about->is_object()) {
      if (const int rank = value_or(*about, "rank", -1); rank >= 0) file.rank = rank;
    }
  }
  for (Json& event : events_in(file)) {
    if (!event.is_object()) throw std::invalid_argument(file.path + ": an event is no object");
    if (is_metadata(event)) {
      const Json& args = args_of(event);
      const auto host = value_or<std::string>(args, "host", "");
      if (!host.empty() && event.contains("pid")) {
        file.processes[event["pid"]] = {host, value_or(args, "pid", 0), value_or(args, "rank", -1)};
      }
    } else if (event.contains("ts") && event["ts"].is_number()) {
      const double ns = event["ts"].get<double>() * 1000;
      const double sum_ns = static_cast<double>(base_ns) + ns;
      if (!(std::abs(ns) < kLatestNs && sum_ns > kEarliestNs && sum_ns < kLatestNs)) {
        throw std::invalid_argument(file.path + ": a time is no time");
      }
      file.events.push_back({&event, base_ns + std::llround(ns)});
    }
  }
}

// ---- clocks ------------------------------------------------------------------------------------

// When ranks of one host were in a call that none leaves before all have entered.
struct Stay {
  int64_t last_begin_ns = INT64_MIN;
  int64_t first_end_ns = INT64_MAX;
};
using Stays = std::map<std::pair<std::string, int64_t>, Stay>;  // stays by communicator and number

Stays stays_of(const std::vector<File>& files, const std::string& host) {
  Stays stays;
  for (const File& file : files) {
    for (const Event& event : file.events) {
      const auto process = file.processes.find(event.json->value("pid", Json()));
      const Json& args = args_of(*event.json);
      if (process == file.processes.end() || process->second.host != host) continue;
      if (!args.contains("waits_for_all")) continue;
      Stay& stay =
          stays[{value_or<std::string>(args, "key", ""), value_or<int64_t>(args, "sequence", 0)}];
      stay.last_begin_ns = std::max(stay.last_begin_ns, event.begin_ns);
      if (value_or<std::string>(args, "end", "") != "measured") continue;
      const double length_ns = value_or(*event.json, "dur", 0.0) * 1000;
      if (length_ns < 0 || !(length_ns < kLongestNs)) continue;
      const auto end_ns = event.begin_ns + static_cast<int64_t>(length_ns);
      stay.first_end_ns = std::min(stay.first_end_ns, end_ns);
    }
  }
  return stays;
}

// The lead that a host's clock may have over the others', as calls of both tell.
struct Ahead {
  int64_t least_ns = INT64_MIN;
  int64_t most_ns = INT64_MAX;
  int calls = 0;

  [[nodiscard]] bool known() const { return least_ns != INT64_MIN && most_ns != INT64_MAX; }
  // The clocks are believed as long as they may be right.
  [[nodiscard]] int64_t guess_ns() const {
    if (!known() || (least_ns <= 0 && most_ns >= 0)) return 0;
    const int64_t least = std::max(least_ns, -kMostAheadNs);
    const int64_t most = std::min(most_ns, kMostAheadNs);
    return least <= kMostAheadNs && most >= -kMostAheadNs ? least + (most - least) / 2 : 0;
  }
};

Ahead compare(const Stays& ours, const Stays& theirs) {
  Ahead ahead;
  for (const auto& [call, their] : theirs) {
    const auto found = ours.find(call);
    if (found == ours.end()) continue;
    const Stay& our = found->second;
    if (our.first_end_ns != INT64_MAX) {
      ahead.least_ns = std::max(ahead.least_ns, their.last_begin_ns - our.first_end_ns);
    }
    if (their.first_end_ns != INT64_MAX) {
      ahead.most_ns = std::min(ahead.most_ns, their.first_end_ns - our.last_begin_ns);
    }
    ++ahead.calls;
  }
  return ahead;
}

std::vector<std::string> hosts_of(const std::vector<File>& files) {
  std::vector<std::string> hosts;
  for (const File& file : files) {
    for (const auto& [pid, process] : file.processes) {
      if (std::ranges::find(hosts, process.host) == hosts.end()) hosts.push_back(process.host);
    }
  }
  return hosts;
}

std::string note_of(const std::string& host, const std::string& first, const Ahead& ahead) {
  const int64_t ns = ahead.guess_ns();
  const auto us = static_cast<double>(std::abs(ns)) / 1000;
  if (ahead.calls == 0) {
    return fmt::format("{}: no call in common with {}, so its clock is taken as it is", host,
                       first);
  }
  if (ns == 0) return fmt::format("{}: its clock fits that of {}", host, first);
  return fmt::format("{}: its clock is {:.0f} us {} that of {}, as {} calls show: set right", host,
                     us, ns > 0 ? "ahead of" : "behind", first, ahead.calls);
}

// The lead of each host's clock, in ns; the first is right.
std::map<std::string, int64_t> clocks_of(const std::vector<File>& files,
                                         std::vector<std::string>& notes) {
  std::map<std::string, int64_t> ahead_ns;
  const std::vector<std::string> hosts = hosts_of(files);
  Stays known;
  for (const std::string& host : hosts) {
    Stays stays = stays_of(files, host);
    if (!ahead_ns.empty()) {
      const Ahead ahead = compare(known, stays);
      notes.push_back(note_of(host, hosts.front(), ahead));
      ahead_ns[host] = ahead.guess_ns();
    } else {
      ahead_ns[host] = 0;
    }
    for (auto& [call, stay] : stays) {
      Stay& merged = known[call];
      const int64_t shift = ahead_ns[host];
      merged.last_begin_ns = std::max(merged.last_begin_ns, stay.last_begin_ns - shift);
      if (stay.first_end_ns != INT64_MAX) {
        merged.first_end_ns = std::min(merged.first_end_ns, stay.first_end_ns - shift);
      }
    }
  }
  return ahead_ns;
}

// ---- processes ---------------------------------------------------------------------------------

// The pids in the merged file: Tutti's and PyTorch's of one process are equal, others' apart.
class Numbers {
 public:
  explicit Numbers(const std::vector<File>& files) {
    for (const File& file : files) {
      for (const auto& [pid, process] : file.processes) {
        if (numbers_.contains({process.host, process.pid})) continue;
        (void)of_process(process);
        ranks_.emplace(process.pid, process);
      }
    }
  }
  // The owner of a process, if it is known.
  [[nodiscard]] std::optional<Process> process_of(const File& file, const Json& pid) const {
    if (const auto own = file.processes.find(pid); own != file.processes.end()) return own->second;
    if (!file.processes.empty() || !pid.is_number_integer()) return std::nullopt;
    const auto number = pid.get<int64_t>();
    if (number <= 0 || number > INT32_MAX) return std::nullopt;
    const auto [first, end] = ranks_.equal_range(static_cast<int>(number));
    const bool alone = first != end && std::next(first) == end;
    const auto found = std::find_if(first, end, [&](const auto& one) {
      if (file.rank) return one.second.rank == *file.rank;
      return file.host.empty() ? alone : one.second.host == file.host;
    });
    return found == end ? std::nullopt : std::optional(found->second);
  }
  Json of(const File& file, const Json& pid) {
    if (const auto process = process_of(file, pid)) return of_process(*process);
    const auto [known, added] = others_.try_emplace({file.path, pid}, pid);
    if (!added || taken_.insert(pid).second) return known->second;
    known->second =
        pid.is_string() ? Json(pid.get<std::string>() + " of " + file.path) : Json(next_++);
    return known->second;
  }

 private:
  int of_process(const Process& process) {
    const auto [known, added] = numbers_.try_emplace({process.host, process.pid}, process.pid);
    if (added && !taken_.insert(process.pid).second) known->second = next_++;
    return known->second;
  }

  std::map<std::pair<std::string, int>, int> numbers_;
  std::multimap<int, Process> ranks_;
  std::map<std::pair<std::string, Json>, Json> others_;
  std::set<Json> taken_;
  int next_ = 1 << 23;  // more than any process has
};

}  // namespace

MergedTrace merge_traces(std::vector<TraceFile> given) {
  MergedTrace merged;
  std::vector<File> files;
  for (TraceFile& one : given) files.push_back({one.path, std::move(one.content)});
  for (File& file : files) read(file);
  const std::map<std::string, int64_t> ahead_ns = clocks_of(files, merged.notes);
  Numbers numbers(files);
  int64_t first_ns = INT64_MAX;
  for (File& file : files) {
    for (Event& event : file.events) {
      const auto process = numbers.process_of(file, event.json->value("pid", Json()));
      if (process) event.begin_ns -= ahead_ns.at(process->host);
      first_ns = std::min(first_ns, event.begin_ns);
    }
  }
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t base_ns = first_ns == INT64_MAX ? 0 : first_ns - first_ns % kNsPerSecond;
  Json all = Json::array();
  for (File& file : files) {
    for (const Event& event : file.events) {
      (*event.json)["ts"] = static_cast<double>(event.begin_ns - base_ns) / 1000;
    }
    for (Json& event : events_in(file)) {
      if (event.contains("pid")) event["pid"] = numbers.of(file, event["pid"]);
      if (is_metadata(event)) event.erase("ts");  // they have none
      all.push_back(std::move(event));
    }
  }
  merged.content = {
      {"displayTimeUnit", "ns"}, {"baseTimeNanoseconds", base_ns}, {"traceEvents", std::move(all)}};
  return merged;
}

}  // namespace tutti::tools
