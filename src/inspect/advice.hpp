// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What to do about a process that keeps others waiting, and who keeps it.
#pragma once

#include <string>
#include <string_view>

#include "inspect/job.hpp"

namespace tutti::inspect {

// "kill -CONT 77", or "on n2: kill -CONT 77" of a process there.
std::string command_for(const Process& process, std::string_view command);
// "cat /proc/77/cgroup", or "on n2: ...".
std::string command_for_file(const Process& process, std::string_view file);
// Whether the process could run at both looks, and got no time between them.
[[nodiscard]] bool lacks_core(const Process& process);
[[nodiscard]] bool is_python(const Process& process);
// A command that shows where the process is in its own code, or in the system.
std::string command_to_see(const Process& process);
std::string advice_for_stopped(const Process& process);
std::string advice_for_quiet(const Process& process);
// Who traces the process: ": pid 77 (gdb)"; empty if nobody is known.
std::string tracer_of(const Process& process);
// Who has the lock of a file for which the process waits: "; rank 0 (pid 77 on h) has locked its
// file"; empty if it waits for none.
std::string holder_of_lock(const Job& job, const Process& process);
// Who has the lock for which the process waits, in the text of /proc/locks; 0: nobody is known.
int holder_in(const std::string& locks, int pid);

}  // namespace tutti::inspect
