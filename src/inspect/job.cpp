// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "core/wait.hpp"

namespace tutti::inspect {
namespace {

// What launchers call a job in the environment of its processes.
constexpr std::string_view kJobVariables[] = {
    "TUTTI_JOB=", "SLURM_JOB_ID=", "TORCHELASTIC_RUN_ID=", "PMIX_NAMESPACE=", "PMI_JOBID="};

bool is_named_in_environment(int pid, std::string_view name) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');) {
    const auto names = [&](std::string_view prefix) {
      return variable.starts_with(prefix) &&
             std::string_view(variable).substr(prefix.size()) == name;
    };
    if (std::ranges::any_of(kJobVariables, names)) return true;
  }
  return false;
}

bool share(const Process& a, const Process& b) {
  return std::ranges::any_of(a.files,
                             [&](const auto& file) { return b.files.contains(file.first); });
}

// Puts processes together that share a file, directly or by others.
std::vector<std::vector<Process>> divide(std::vector<Process> processes) {
  std::vector<std::vector<Process>> groups;
  while (!processes.empty()) {
    std::vector<Process> group = {std::move(processes.back())};
    processes.pop_back();
    for (size_t i = 0; i < group.size(); ++i) {
      const auto shared =
          std::stable_partition(processes.begin(), processes.end(),
                                [&](const Process& other) { return !share(group[i], other); });
      group.insert(group.end(), std::make_move_iterator(shared),
                   std::make_move_iterator(processes.end()));
      processes.erase(shared, processes.end());
    }
    std::ranges::sort(group, {}, &Process::pid);
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const auto& group) { return group.front().pid; });
  return groups;
}

// The process that is a rank: it has the memory, and calls itself so.
int pid_of(const Job& job, const FileKey& file, const RankView& rank) {
  for (const Process& process : job.processes) {
    if (rank.present && process.own_pid == rank.pid && process.files.contains(file)) {
      return process.pid;
    }
  }
  return 0;
}

void look(const Job& job, Communicator& communicator) {
  auto seen = view(*communicator.source);
  communicator.status = seen.status();
  if (!seen.ok()) return;
  communicator.view = *std::move(seen);
  communicator.pids.clear();
  for (const RankView& rank : communicator.view.ranks) {
    communicator.pids.push_back(pid_of(job, communicator.file, rank));
  }
}

void tell_time(Job& job) {
  job.now = moment_now();
  job.now_ms = now_ms();
}

// Whether some process still has it.
bool lives(const Job& job, const FileKey& file) {
  return std::ranges::any_of(job.processes, [&](const Process& process) {
    return process.files.contains(file) && !process_state(process.pid).dead();
  });
}

Job make_job(std::vector<Process> processes) {
  Job job{.processes = std::move(processes)};
  std::set<FileKey> files;
  for (const Process& process : job.processes) {
    for (const auto& [file, parts] : process.files) files.insert(file);
  }
  for (const FileKey& file : files) {
    Communicator communicator{.file = file};
    communicator.source = open_source(file, job.processes);
    if (communicator.source == nullptr) {
      communicator.status = {Code::kSystem,
                             "the system does not let this user read the memory of its processes "
                             "(kernel.yama.ptrace_scope): try as root"};
    } else {
      look(job, communicator);
    }
    // Files without a name may be anybody's, and processes end.
    if (communicator.status.code() == Code::kInvalidArgument || !lives(job, file)) continue;
    job.communicators.push_back(std::move(communicator));
  }
  std::ranges::stable_sort(job.communicators, {}, [](const Communicator& communicator) {
    return communicator.view.made.monotonic_ns;
  });
  tell_time(job);
  return job;
}

bool is_wanted(const Job& job, const Wanted& wanted) {
  if (job.communicators.empty()) return false;
  if (wanted.pid != 0) return job.process(wanted.pid) != nullptr;
  if (wanted.name.empty()) return true;
  const auto by_name = [&](const Communicator& communicator) {
    return communicator.view.job == wanted.name || communicator.view.name == wanted.name;
  };
  return std::ranges::any_of(job.communicators, by_name) ||
         std::ranges::any_of(job.processes, [&](const Process& process) {
           return is_named_in_environment(process.pid, wanted.name);
         });
}

bool is_same(const Wait& a, const Wait& b) {
  return a.kind == b.kind && a.since_ms == b.since_ms && a.thread == b.thread &&
         a.record.sequence == b.record.sequence;
}

// Whether anything has changed; keeps those waits alone that have lasted.
bool compare(const CommunicatorView& before, CommunicatorView& now) {
  bool moved = false;
  for (size_t i = 0; i < now.ranks.size() && i < before.ranks.size(); ++i) {
    moved = moved || now.ranks[i].entered != before.ranks[i].entered;
    std::erase_if(now.ranks[i].waits, [&](const Wait& wait) {
      return std::ranges::none_of(before.ranks[i].waits,
                                  [&](const Wait& old) { return is_same(wait, old); });
    });
  }
  return moved;
}

}  // namespace

const Process* Job::process(int pid) const {
  const auto found = std::ranges::find(processes, pid, &Process::pid);
  return found == processes.end() ? nullptr : &*found;
}

const Process* Job::process_of(const Communicator& communicator, int place) const {
  return process(communicator.pids[static_cast<size_t>(place)]);
}

bool Job::is_busy(int pid) const { return std::ranges::find(busy, pid) != busy.end(); }

std::string Job::name_of(const Communicator& communicator, const RankView& rank) const {
  const int pid = communicator.pids[static_cast<size_t>(rank.place)];
  const std::string global =
      rank.global_rank < 0 ? "" : fmt::format("global rank {}, ", rank.global_rank);
  return fmt::format("rank {} ({}pid {} on {})", rank.rank, global, pid != 0 ? pid : rank.pid,
                     communicator.view.host);
}

double Job::age_s(const Communicator& communicator, const PastCall& call) const {
  const StampClock clock(communicator.view.made, now);
  if (call.begun == 0 || !clock.known()) return -1;
  const auto ns = static_cast<double>(now.monotonic_ns - clock.monotonic_ns(call.begun));
  const double whole = static_cast<double>(now.monotonic_ns - communicator.view.made.monotonic_ns);
  return ns < 0 || ns > whole ? -1 : ns / 1e9;
}

double Job::age_s(const Wait& wait) const {
  return static_cast<double>(std::max<int64_t>(now_ms - wait.since_ms, 0)) / 1000;
}

std::vector<Job> find_jobs(const Wanted& wanted) {
  std::vector<Job> jobs;
  for (std::vector<Process>& processes : divide(find_processes())) {
    if (wanted.pid != 0 &&
        std::ranges::find(processes, wanted.pid, &Process::pid) == processes.end()) {
      continue;
    }
    Job job = make_job(std::move(processes));
    if (is_wanted(job, wanted)) jobs.push_back(std::move(job));
  }
  return jobs;
}

void look_again(Job& job) {
  for (Process& process : job.processes) {
    const ProcessState state = process_state(process.pid);
    if (state.cpu_ticks != process.state.cpu_ticks) job.busy.push_back(process.pid);
    process.state = state;
  }
  for (Communicator& communicator : job.communicators) {
    if (!communicator.status.ok()) continue;
    const CommunicatorView before = communicator.view;
    look(job, communicator);
    if (communicator.status.ok()) communicator.moved = compare(before, communicator.view);
  }
  tell_time(job);
}

}  // namespace tutti::inspect
