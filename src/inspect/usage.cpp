// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/usage.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

#include "core/control_groups.hpp"
#include "core/folder.hpp"

namespace tutti::inspect {
namespace {

// The value of a line "NAME VALUE"; 0 if there is none.
int64_t value_in(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  std::string name;
  for (int64_t value = 0; file >> name >> value;) {
    if (name == wanted) return value;
  }
  return 0;
}

// How long the control groups of a process had used up a quota. One holds for all within its group.
int64_t throttled_ns(int pid) {
  int64_t most = 0;
  for (const ControlGroup& group : control_groups_in(fmt::format("/proc/{}/cgroup", pid))) {
    for (const std::string& folder : group.folders_for_cpu(kControlGroupMounts)) {
      const std::string file = folder + "/cpu.stat";
      most = std::max(most, group.is_version_2() ? 1000 * value_in(file, "throttled_usec")
                                                 : value_in(file, "throttled_time"));
    }
  }
  return most;
}

int cores_of(int pid) {
  cpu_set_t set;
  return sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::map<int, ProcessState> states_of_all() {
  std::map<int, ProcessState> states;
  for (const int pid : numbers_in("/proc")) states[pid] = process_stat(pid);
  return states;
}

}  // namespace

Watch::Counts Watch::counts_of(int pid) {
  Counts counts{.throttled_ns = inspect::throttled_ns(pid)};
  std::ifstream file(fmt::format("/proc/{}/schedstat", pid));
  file >> counts.run_ns >> counts.delay_ns;
  return counts;
}

Watch::Watch(const Job& job)
    : begun_ns_(moment_now().monotonic_ns), first_(states_of_all()), first_lines_(lines_of_host()) {
  for (const Process& process : job.processes) {
    Watched one{.pid = process.host.empty() ? process.pid : 0};
    if (one.pid != 0) one.first = counts_of(one.pid);
    all_.push_back(std::move(one));
  }
}

void Watch::sample() {
  for (Watched& one : all_) {
    if (one.pid == 0) continue;
    const ProcessState state = process_state_and_wait(one.pid);
    ++one.samples;
    if (state.stopped()) ++one.stopped;
    if (state.letter == 't') ++one.traced;
    if (state.letter == 'D' && !state.stopped()) ++one.device;
    ++one.usage.blocked[static_cast<size_t>(state.blocked)];
  }
}

std::vector<Usage> Watch::end() const {
  const auto passed = static_cast<double>(moment_now().monotonic_ns - begun_ns_);
  const std::map<int, ProcessState> now = states_of_all();
  const Lines lines = lines_of_host();
  std::vector<Usage> usages;
  for (const Watched& one : all_) usages.push_back(usage_of(one, passed, now, lines));
  return usages;
}

Usage Watch::usage_of(const Watched& one, double passed_ns, const std::map<int, ProcessState>& now,
                      const Lines& lines) const {
  Usage usage = one.usage;
  usage.known = one.pid != 0 && passed_ns > 0 && one.samples > 0;
  if (!usage.known) return usage;
  const Counts last = counts_of(one.pid);
  const auto share = [&](int64_t from, int64_t to) {
    return std::clamp(static_cast<double>(to - from) / passed_ns, 0.0, 1.0);
  };
  usage.runs = share(one.first.run_ns, last.run_ns);
  usage.delayed = share(one.first.delay_ns, last.delay_ns);
  usage.throttled = share(one.first.throttled_ns, last.throttled_ns);
  usage.stopped = static_cast<double>(one.stopped) / one.samples;
  usage.traced = static_cast<double>(one.traced) / one.samples;
  usage.device = static_cast<double>(one.device) / one.samples;
  usage.line = busiest_of(one.pid, first_lines_, lines);
  usage.line_busy = share(0, static_cast<int64_t>(usage.line.busy_us) * 1000);
  usage.cores = cores_of(one.pid);
  const auto self = now.find(one.pid);
  usage.core = self == now.end() ? -1 : self->second.core;
  if (const auto then = first_.find(one.pid); then != first_.end() && self != now.end()) {
    const int64_t faults = self->second.major_faults - then->second.major_faults;
    usage.faults = static_cast<double>(faults) * 1e9 / passed_ns;
  }
  uint64_t most = 0;
  for (const auto& [pid, state] : now) {
    const auto before = first_.find(pid);
    if (pid == one.pid || before == first_.end() || state.core != usage.core) continue;
    const uint64_t then = before->second.cpu_ticks;
    if (state.cpu_ticks <= then + most) continue;
    most = state.cpu_ticks - then;
    usage.beside = pid;
  }
  if (usage.beside != 0) usage.program = program_of(usage.beside);
  return usage;
}

}  // namespace tutti::inspect
