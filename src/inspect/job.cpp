// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "core/fields.hpp"
#include "core/wait.hpp"
#include "inspect/far.hpp"
#include "transports/shared_memory.hpp"

namespace tutti::inspect {
namespace {

// The variables by which launchers name a job in the environment of its processes. A scheduler's is
// the name that people know; tutti run makes one up.
constexpr std::string_view kJobVariables[] = {
    "SLURM_JOB_ID=", "TORCHELASTIC_RUN_ID=", "PMIX_NAMESPACE=", "PMI_JOBID=", "TUTTI_JOB="};

// The names that launchers have given to the job of a process, in the order of kJobVariables.
std::vector<std::string> names_in_environment(int pid) {
  std::array<std::string, std::size(kJobVariables)> found;
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');) {
    for (size_t i = 0; i < std::size(kJobVariables); ++i) {
      if (!variable.starts_with(kJobVariables[i])) continue;
      found[i] = variable.substr(kJobVariables[i].size());
    }
  }
  std::vector<std::string> names(found.begin(), found.end());
  std::erase(names, "");
  std::erase(names, "none");  // torchrun calls every job so that it was given no name for
  return names;
}

bool is_named_in_environment(int pid, const std::string& name) {
  const std::vector<std::string> names = names_in_environment(pid);
  return std::ranges::find(names, name) != names.end();
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

// The process that is a rank: it has the memory, and calls itself so. -1: none that is seen.
int process_behind(const Job& job, const FileKey& file, const RankSnapshot& rank) {
  for (size_t i = 0; i < job.processes.size() && rank.present; ++i) {
    const Process& process = job.processes[i];
    if (process.own_pid == rank.pid && process.files.contains(file)) return static_cast<int>(i);
  }
  return -1;
}

void look(const Job& job, Communicator& communicator) {
  if (communicator.source == nullptr) {  // no process here has it: others are asked again
    communicator.snapshot.ranks.clear();
    communicator.processes.clear();
    return;
  }
  auto seen = take_snapshot(*communicator.source);
  communicator.status = seen.status();
  if (!seen.ok()) return;
  communicator.snapshot = *std::move(seen);
  communicator.processes.clear();
  for (const RankSnapshot& rank : communicator.snapshot.ranks) {
    communicator.processes.push_back(process_behind(job, communicator.file, rank));
  }
}

void tell_time(Job& job) {
  job.now = moment_now();
  job.now_ms = host_ms();
}

// Whether some process still has it.
bool lives(const Job& job, const FileKey& file) {
  return std::ranges::any_of(job.processes, [&](const Process& process) {
    return process.files.contains(file) && !process_state(process.pid).dead();
  });
}

Job make_job(std::vector<Process> processes, const Reach& reach) {
  Job job{.processes = std::move(processes), .reach = reach};
  std::set<FileKey> files;
  for (const Process& process : job.processes) {
    for (const auto& [file, ranges] : process.files) files.insert(file);
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
    return communicator.snapshot.made.monotonic_ns;
  });
  tell_time(job);
  return job;
}

// Whether `whole` has all ranks of `other`. Ranks of another host that are seen here all the same,
// as in a container, count once.
bool has_all_of(const Job& whole, const Job& other) {
  return std::ranges::all_of(other.communicators, [&](const Communicator& theirs) {
    if (theirs.snapshot.key == 0) return false;
    const auto ours = std::ranges::find_if(whole.communicators, [&](const Communicator& one) {
      return one.snapshot.key == theirs.snapshot.key;
    });
    return ours != whole.communicators.end() &&
           std::ranges::all_of(theirs.snapshot.ranks, [&](const RankSnapshot& rank) {
             const RankSnapshot* const known = ours->snapshot.find(rank.rank);
             return known != nullptr && known->answers;
           });
  });
}

bool is_wanted(const Job& job, const Wanted& wanted) {
  if (job.communicators.empty()) return false;
  if (wanted.pid != 0) return job.process(wanted.pid) != nullptr;
  if (wanted.name.empty()) return true;
  const auto by_name = [&](const Communicator& communicator) {
    return communicator.snapshot.job == wanted.name || communicator.snapshot.name == wanted.name;
  };
  return std::ranges::any_of(job.communicators, by_name) ||
         std::ranges::any_of(job.processes, [&](const Process& process) {
           return is_named_in_environment(process.pid, wanted.name);
         });
}

// Whether both are the same wait. Its begin is known only roughly for a rank on another host.
bool is_same(const Wait& a, const Wait& b, bool here) {
  constexpr int64_t kElsewhereToleranceMs = 500;
  const int64_t tolerance_ms = here ? 0 : kElsewhereToleranceMs;
  return a.kind == b.kind && std::abs(a.since_ms - b.since_ms) <= tolerance_ms &&
         a.thread == b.thread && a.record.sequence == b.record.sequence;
}

// Whether anything has changed; keeps those waits alone that have lasted.
bool compare(const CommunicatorSnapshot& before, CommunicatorSnapshot& now) {
  bool moved = false;
  for (RankSnapshot& rank : now.ranks) {
    const RankSnapshot* const old = before.find(rank.rank);
    if (old == nullptr || !old->answers) continue;
    rank.moved = rank.entered != old->entered;
    if (rank.jam && old->jam) {
      rank.jam_since = {.calls = rank.jam->calls - old->jam->calls,
                        .ms = rank.jam->ms - old->jam->ms,
                        .in_ms = rank.jam->in_ms - old->jam->in_ms,
                        .last = rank.jam->last};
    }
    moved = moved || rank.moved;
    std::erase_if(rank.waits, [&](const Wait& wait) {
      return std::ranges::none_of(
          old->waits, [&](const Wait& then) { return is_same(wait, then, rank.host.empty()); });
    });
  }
  return moved;
}

}  // namespace

const Process* Job::process(int pid) const {
  const auto found = std::ranges::find_if(
      processes, [&](const Process& one) { return one.pid == pid && one.host.empty(); });
  return found == processes.end() ? nullptr : &*found;
}

const Process* Job::process_of(const Communicator& communicator, int place) const {
  const int process = communicator.processes[static_cast<size_t>(place)];
  return process < 0 ? nullptr : &processes[static_cast<size_t>(process)];
}

std::string Job::name_of(const Communicator& communicator, const RankSnapshot& rank) const {
  const Process* const process = process_of(communicator, rank.place);
  const std::string global =
      rank.global_rank < 0 ? "" : fmt::format("global rank {}, ", rank.global_rank);
  return fmt::format("rank {} ({}pid {} on {})", rank.rank, global,
                     process != nullptr ? process->pid : rank.pid,
                     communicator.snapshot.host_of(rank));
}

double Job::age_s(const Communicator& communicator, const PastCall& call) const {
  const StampClock clock(communicator.snapshot.made, now);
  if (call.begun == 0 || !clock.known()) return -1;
  const auto ns = static_cast<double>(now.monotonic_ns - clock.monotonic_ns(call.begun));
  const double whole =
      static_cast<double>(now.monotonic_ns - communicator.snapshot.made.monotonic_ns);
  return ns < 0 || ns > whole ? -1 : ns / 1e9;
}

double Job::age_s(const Wait& wait) const {
  return static_cast<double>(std::max<int64_t>(now_ms - wait.since_ms, 0)) / 1000;
}

StampClock Job::clock() const {
  for (const Communicator& communicator : communicators) {
    if (communicator.source == nullptr || !communicator.status.ok()) continue;
    return {communicator.snapshot.made, now};
  }
  return {now, now};
}

std::string name_of(const Job& job) {
  for (const Process& process : job.processes) {
    const auto names =
        process.host.empty() ? names_in_environment(process.pid) : std::vector<std::string>();
    // Texts of others go to terminals.
    if (!names.empty()) return readable(names.front());
  }
  for (const Communicator& communicator : job.communicators) {
    if (!communicator.snapshot.job.empty()) return communicator.snapshot.job;
  }
  if (job.communicators.empty() || job.processes.empty()) return "";
  return fmt::format("{}/{}", job.communicators.front().snapshot.name, job.processes.front().pid);
}

Wanted with_all_calls(Wanted wanted) {
  wanted.reach.calls = kCallLines;
  return wanted;
}

std::vector<Job> find_jobs(const Wanted& wanted) {
  std::vector<Job> jobs;
  for (std::vector<Process>& processes : divide(find_processes())) {
    if (wanted.pid != 0 &&
        std::ranges::find(processes, wanted.pid, &Process::pid) == processes.end()) {
      continue;
    }
    Job job = make_job(std::move(processes), wanted.reach);
    const auto covers = [&](const Job& known) { return has_all_of(known, job); };
    if (!is_wanted(job, wanted) || std::ranges::any_of(jobs, covers)) continue;
    add_far_ranks(job, job.reach);
    tell_time(job);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void refresh(Job& job) {
  for (Process& process : job.processes) {
    if (!process.host.empty()) continue;
    process.take(process_state_and_wait(process.pid));
  }
  const std::vector<Communicator> before = job.communicators;
  for (Communicator& communicator : job.communicators) {
    if (communicator.status.ok()) look(job, communicator);
  }
  tell_time(job);
  add_far_ranks(job, job.reach);
  for (size_t i = 0; i < before.size(); ++i) {
    Communicator& communicator = job.communicators[i];
    if (communicator.status.ok())
      communicator.moved = compare(before[i].snapshot, communicator.snapshot);
  }
  tell_time(job);
}

}  // namespace tutti::inspect
