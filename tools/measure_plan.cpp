// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/measure_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/affinity.hpp"
#include "core/files.hpp"
#include "core/topology.hpp"

namespace tutti::tools {
namespace {

// Buffers may take one part in so many of the machine's memory.
constexpr uint64_t kShareOfMemory = 4;

const std::vector<uint64_t> kSizes = {4,         64,      1 << 10, 16 << 10,
                                      128 << 10, 1 << 20, 8 << 20, 64 << 20};
const std::vector<uint64_t> kLongSizes = {1 << 20, 8 << 20, 64 << 20};

class Planner {
 public:
  Planner(const MeasuredMachine& machine, const MeasureOptions& options)
      : machine_(machine), options_(options) {}

  std::vector<BenchRun> plan() {
    std::vector<int> counts = options_.ranks.empty() ? usual_counts() : options_.ranks;
    for (const int ranks : counts) {
      add({.label = label(ranks)}, ranks, {"allreduce", "broadcast", "reduce"}, kSizes);
      add({.label = label(ranks)}, ranks,
          {"allgather", "reduce_scatter", "alltoall", "gather", "scatter"}, kSizes, true);
    }
    add({.label = label(2)}, 2, {"sendrecv"}, kSizes);
    add_nodes();
    for (const int ranks : counts) add_workers(ranks);
    if (options_.ranks.empty()) {  // more than there are cores
      const int ranks = 2 * machine_.parallel;
      add({.label = label(ranks)}, ranks, {"allreduce"}, kSizes);
    }
    return std::move(runs_);
  }

 private:
  static std::string label(int ranks) { return fmt::format("{} ranks", ranks); }

  // All cores, two, and what is between.
  [[nodiscard]] std::vector<int> usual_counts() const {
    const int most = std::max(2, machine_.parallel);
    std::vector<int> counts = {most};
    for (int ranks = 2; ranks < most; ranks *= 2) counts.push_back(ranks);
    const bool threads = machine_.physical > 1 && machine_.physical < most;
    if (threads && std::ranges::find(counts, machine_.physical) == counts.end()) {
      counts.push_back(machine_.physical);
    }
    return counts;
  }

  // Ranks that share a node's cache and memory, and as many that do not.
  void add_nodes() {
    if (machine_.nodes.size() < 2) return;
    const std::vector<int>& near = machine_.nodes.front();
    const auto ranks = static_cast<int>(near.size());
    if (ranks < 2) return;
    std::vector<int> far;
    for (size_t i = 0; far.size() < near.size(); ++i) {
      const auto& node = machine_.nodes[i % machine_.nodes.size()];
      if (i / machine_.nodes.size() < node.size()) far.push_back(node[i / machine_.nodes.size()]);
      if (i > machine_.cores.size() * machine_.nodes.size()) return;
    }
    std::ranges::sort(far);
    const std::string of_all = fmt::format(", spread over {} NUMA nodes", machine_.nodes.size());
    for (const auto& [text, cores] :
         {std::pair{std::string(", on one NUMA node"), near}, std::pair{of_all, far}}) {
      add({.label = label(ranks) + text, .cores = cores}, ranks, {"allreduce"}, kSizes);
      add({.label = label(ranks) + text, .cores = cores}, ranks, {"allgather", "alltoall"}, kSizes,
          true);
    }
  }

  void add_workers(int ranks) {
    for (const int workers : {2, 4}) {
      if (ranks * workers > machine_.parallel) return;
      BenchRun run{.label = fmt::format("{}, {} workers", label(ranks), workers),
                   .variables = {{"CCL_WORKER_COUNT", std::to_string(workers)}}};
      add(run, ranks, {"allreduce"}, kLongSizes);
      add(run, ranks, {"allgather"}, kLongSizes, true);
    }
  }

  // Without sizes whose buffers would take too much memory: a call on blocks has one of each rank.
  void add(BenchRun run, int ranks, const std::vector<std::string>& collectives,
           const std::vector<uint64_t>& sizes, bool blocks = false) {
    const auto of_all = static_cast<uint64_t>(ranks);
    const uint64_t buffers = 2 * of_all * (blocks ? of_all : 1);
    std::vector<uint64_t> fit;
    for (const uint64_t size : sizes) {
      if (size > options_.most_bytes) break;
      if (size <= machine_.memory_bytes / kShareOfMemory / buffers) fit.push_back(size);
    }
    if (fit.empty()) return;
    run.cases = collectives.size() * fit.size();
    run.words = {"bench",     fmt::format("{}", fmt::join(collectives, ",")),
                 "-n",        std::to_string(ranks),
                 "-y",        fmt::format("{}", fmt::join(fit, ",")),
                 "--seconds", fmt::format("{}", options_.seconds)};
    runs_.push_back(std::move(run));
  }

  const MeasuredMachine& machine_;
  const MeasureOptions& options_;
  std::vector<BenchRun> runs_;
};

}  // namespace

std::vector<BenchRun> measure_plan(const MeasuredMachine& machine, const MeasureOptions& options) {
  return Planner(machine, options).plan();
}

MeasuredMachine measured_machine() {
  MeasuredMachine machine;
  machine.cores = tutti::usable_cores();
  machine.parallel = tutti::parallel_threads(machine.cores, tutti::cpu_quota());
  machine.physical = machine.parallel;
  machine.memory_bytes = uint64_t{1} << 30;
  if (const auto topology = tutti::load_topology(machine.cores); topology.ok()) {
    machine.physical = topology->physical_cores;
    if (topology->memory_bytes > 0) machine.memory_bytes = topology->memory_bytes;
  }
  for (int node = 0;; ++node) {
    std::string text =
        tutti::text_in_file(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
    if (text.empty()) break;
    text.resize(text.find_last_not_of(" \n") + 1);
    std::vector<int> cores;
    for (const int core : tutti::parse_core_list(text).value_or(tutti::CoreList{}).cores) {
      if (std::ranges::find(machine.cores, core) != machine.cores.end()) cores.push_back(core);
    }
    if (!cores.empty()) machine.nodes.push_back(std::move(cores));
  }
  return machine;
}

std::string BenchRun::command() const {
  std::string text;
  for (const auto& [name, value] : variables) text += fmt::format("{}={} ", name, value);
  if (!cores.empty()) text += fmt::format("taskset -c {} ", tutti::format_cores(cores));
  return text + fmt::format("tutti {}", fmt::join(words, " "));
}

}  // namespace tutti::tools
