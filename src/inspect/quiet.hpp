// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a process does that makes no call, as far as the system tells.
#pragma once

#include <string>

#include "inspect/verdict.hpp"

namespace tutti::inspect {

// The state of a process. It has what the process waited for at one of two looks, if the process
// was about to go on at the other.
ProcessState lasting_state(const Process& process);
// Why a process in this state makes no call. It computes nothing and is not stopped.
Cause cause_of_quiet(const ProcessState& state);
// "is sleeping (state S), waits for a lock or another thread".
std::string state_and_wait(const Process& process);

// Whether the process gets on in a communicator of the job.
bool moves(const Job& job, const Process& process);
// Whether a process that makes no call computes.
bool computes(const Job& job, const Process& process);
// "computes outside of Tutti (...)", or in which communicator the process makes calls.
std::string computes_or_calls(const Job& job, const Process& process);

}  // namespace tutti::inspect
