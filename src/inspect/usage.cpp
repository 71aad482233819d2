// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/usage.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

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

// The most of a group and of those that it is in: a quota holds for all within.
int64_t most_in_groups(const std::string& root, std::string group, std::string_view name) {
  int64_t most = 0;
  while (!group.empty() && group != "/") {
    most = std::max(most, value_in(fmt::format("{}{}/cpu.stat", root, group), name));
    group.resize(group.rfind('/'));
  }
  return most;
}

// For how long the control groups of a process had used up a quota.
int64_t throttled_ns(int pid) {
  const std::string root = "/sys/fs/cgroup";
  std::ifstream groups(fmt::format("/proc/{}/cgroup", pid));
  int64_t most = 0;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      most = std::max(most, 1000 * most_in_groups(root, group, "throttled_usec"));
    } else if (controllers == "cpu" || controllers.starts_with("cpu,") ||
               controllers.ends_with(",cpu")) {
      most = std::max(most, most_in_groups(root + "/cpu", group, "throttled_time"));
    }
  }
  return most;
}

// The 39th field of /proc/PID/stat.
int core_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t end_of_name = text.rfind(") ");
  if (end_of_name == std::string::npos) return -1;
  std::istringstream fields(text.substr(end_of_name + 2));
  std::string skipped;
  for (int field = 3; field < 39; ++field) fields >> skipped;
  int core = -1;
  fields >> core;
  return fields ? core : -1;
}

int cores_of(int pid) {
  cpu_set_t set;
  return sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::map<int, uint64_t> ticks_of_all() {
  std::map<int, uint64_t> ticks;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int pid = std::atoi(name.c_str());
    ticks[pid] = process_state(pid).cpu_ticks;
  }
  return ticks;
}

}  // namespace

Watch::Counts Watch::counts_of(int pid) {
  Counts counts{.throttled_ns = inspect::throttled_ns(pid)};
  std::ifstream file(fmt::format("/proc/{}/schedstat", pid));
  file >> counts.run_ns >> counts.delay_ns;
  return counts;
}

Watch::Watch(const Job& job) : begun_ns_(moment_now().monotonic_ns), ticks_(ticks_of_all()) {
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
    ++one.usage.blocked[static_cast<size_t>(state.blocked)];
  }
}

std::vector<Usage> Watch::end() const {
  const auto passed = static_cast<double>(moment_now().monotonic_ns - begun_ns_);
  const std::map<int, uint64_t> now = ticks_of_all();
  std::vector<Usage> usages;
  for (const Watched& one : all_) {
    Usage usage = one.usage;
    const Counts last = one.pid == 0 ? Counts() : counts_of(one.pid);
    usage.known = one.pid != 0 && passed > 0 && one.samples > 0;
    if (usage.known) {
      const auto share = [&](int64_t from, int64_t to) {
        return std::clamp(static_cast<double>(to - from) / passed, 0.0, 1.0);
      };
      usage.runs = share(one.first.run_ns, last.run_ns);
      usage.delayed = share(one.first.delay_ns, last.delay_ns);
      usage.throttled = share(one.first.throttled_ns, last.throttled_ns);
      usage.stopped = static_cast<double>(one.stopped) / one.samples;
      usage.core = core_of(one.pid);
      usage.cores = cores_of(one.pid);
      uint64_t most = 0;
      for (const auto& [pid, ticks] : now) {
        const auto before = ticks_.find(pid);
        if (pid == one.pid || before == ticks_.end() || ticks < before->second) continue;
        if (ticks - before->second <= most || core_of(pid) != usage.core) continue;
        most = ticks - before->second;
        usage.beside = pid;
      }
      if (usage.beside != 0) usage.program = program_of(usage.beside);
    }
    usages.push_back(std::move(usage));
  }
  return usages;
}

}  // namespace tutti::inspect
