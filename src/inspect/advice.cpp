// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "core/files.hpp"

namespace tutti::inspect {

std::string command_for(const Process& process, std::string_view command) {
  const std::string here = fmt::format("{} {}", command, process.pid);
  return process.host.empty() ? here : fmt::format("on {}: {}", process.host, here);
}

std::string advice_for_stopped(const Process& process) {
  const std::string advice = command_for(process, "kill -CONT");
  if (!process.state.background) return advice;
  return advice + "; if it stops again, it reads from the terminal in whose background it runs: " +
         "fg, or start it with < /dev/null";
}

std::string advice_for_quiet(const Process& process) {
  if (process.state.blocked == BlockedOn::kMemory) {
    return "give its control group more: " + command_for_file(process, "cgroup");
  }
  if (lacks_core(process)) {
    return "give it a core of its own: " + command_for(process, "taskset -cp");
  }
  return "see where it is: " + command_to_see(process);
}

std::string tracer_of(const Process& process) {
  if (!process.host.empty()) return "";
  std::ifstream status(fmt::format("/proc/{}/status", process.pid));
  int pid = 0;
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "TracerPid: %d", &pid) == 1) break;
  }
  return pid == 0 ? "" : fmt::format(": pid {} ({})", pid, program_of(pid));
}

int holder_in(const std::string& locks, int pid) {
  std::istringstream lines(locks);
  std::map<int, int> holders;  // by the number of the lock
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int number = 0;
    std::string word;
    words >> number >> word >> word;
    const bool waits = word == "->";
    if (waits) words >> word;
    int its = 0;
    if (!(words >> word >> word >> its)) continue;  // ADVISORY WRITE 4711
    if (!waits) {
      holders[number] = its;
    } else if (its == pid) {
      const auto found = holders.find(number);
      return found == holders.end() ? 0 : std::max(found->second, 0);
    }
  }
  return 0;
}

std::string holder_of_lock(const Job& job, const Process& process) {
  if (!process.host.empty() || process.state.blocked != BlockedOn::kLock) return "";
  const int holder = holder_in(text_in_file("/proc/locks"), process.pid);
  if (holder == 0) return "";
  for (const Communicator& communicator : job.communicators) {
    for (const RankSnapshot& rank : communicator.snapshot.ranks) {
      const Process* const one = job.process_of(communicator, rank.place);
      if (one == nullptr || !one->host.empty() || one->pid != holder) continue;
      return fmt::format("; {} has locked its file", job.name_of(communicator, rank));
    }
  }
  return fmt::format("; pid {} ({}) has locked its file", holder, program_of(holder));
}

std::string command_for_file(const Process& process, std::string_view file) {
  const std::string here = fmt::format("cat /proc/{}/{}", process.pid, file);
  return process.host.empty() ? here : fmt::format("on {}: {}", process.host, here);
}

bool lacks_core(const Process& process) {
  return process.state.letter == 'R' && process.again && !process.busy &&
         process.once == BlockedOn::kUnknown;
}

bool is_python(const Process& process) {
  if (process.program.starts_with("python")) return true;
  // Scripts and libraries change what a process is called.
  return process.host.empty() && executable_of(process.pid).starts_with("python");
}

std::string command_to_see(const Process& process) {
  if (is_python(process)) return command_for(process, "py-spy dump --pid");
  // A debugger would wait for the system, too.
  if (process.state.letter == 'D') return command_for(process, "ps -o pid,wchan:32,args -p");
  return command_for(process, "gdb -p");
}

}  // namespace tutti::inspect
