// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/names.hpp"

#include <fmt/format.h>

namespace tutti {
namespace {

// Longer lists are cut.
constexpr size_t kMostRuns = 8;

// 1 to 3, 5
std::string runs_of(const std::vector<int>& numbers) {
  std::string text;
  size_t runs = 0;
  for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (++runs > kMostRuns) return text + ", ...";
    text += fmt::format("{}{}", runs == 1 ? "" : ", ", numbers[begin]);
    if (end > begin + 1) text += fmt::format(" to {}", numbers[end - 1]);
  }
  return text;
}

}  // namespace

std::string name_of(int rank, const PeerProcess& process) {
  // A process in another pid namespace has no number here.
  const int pid = process.pid != 0 ? process.pid : process.own_pid;
  if (process.global_rank < 0)
    return fmt::format("rank {} (pid {} on {})", rank, pid, process.host);
  return fmt::format("rank {} of group \"{}\" (global rank {}, pid {} on {})", rank, process.group,
                     process.global_rank, pid, process.host);
}

std::string short_name_of(int rank, const PeerProcess& process) {
  if (process.global_rank < 0) return fmt::format("rank {}", rank);
  return fmt::format("rank {} of group \"{}\" (global rank {})", rank, process.group,
                     process.global_rank);
}

std::string name_of_group(const std::string& name, const std::vector<int>& global_ranks) {
  if (global_ranks.empty()) return fmt::format("communicator \"{}\"", name);
  return fmt::format("group \"{}\" (global rank{} {})", name, global_ranks.size() == 1 ? "" : "s",
                     runs_of(global_ranks));
}

void name_ranks(const TransportConfig& config, std::vector<PeerProcess>& processes) {
  if (config.global_ranks.empty()) return;
  for (size_t r = 0; r < processes.size(); ++r) {
    const size_t rank = config.numbers.empty() ? r : static_cast<size_t>(config.numbers[r]);
    processes[r].global_rank = config.global_ranks[rank];
    processes[r].group = config.label;
  }
}

}  // namespace tutti
