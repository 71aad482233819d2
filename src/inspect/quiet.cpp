// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/quiet.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inspect/advice.hpp"

namespace tutti::inspect {
namespace {

// Ticks between two looks: fewer go to threads that look around now and then.
constexpr uint64_t kWorks = 3;

// The communicator in which a process of the job gets on; null: none.
const Communicator* moves_in(const Job& job, const Process& process) {
  const auto found = std::ranges::find_if(job.communicators, [&](const Communicator& one) {
    return one.status.ok() &&
           std::ranges::any_of(one.snapshot.ranks, [&](const RankSnapshot& rank) {
             return rank.moved && job.process_of(one, rank.place) == &process;
           });
  });
  return found == job.communicators.end() ? nullptr : &*found;
}

}  // namespace

ProcessState lasting_state(const Process& process) {
  ProcessState state = process.state;
  const bool between = state.blocked == BlockedOn::kUnknown && !process.busy &&
                       (state.letter == 'R' || state.letter == 'S');
  if (!between || process.once == BlockedOn::kUnknown) return state;
  state.letter = 'S';
  state.blocked = process.once;
  return state;
}

Cause cause_of_quiet(const ProcessState& state) {
  switch (state.blocked) {
    case BlockedOn::kTime: return Cause::kSleeps;
    case BlockedOn::kLock: return Cause::kLock;
    // Who waits for a pipe or a terminal can be interrupted.
    case BlockedOn::kFile: return state.letter == 'D' ? Cause::kDevice : Cause::kFile;
    case BlockedOn::kSocket: return Cause::kSocket;
    case BlockedOn::kChild: return Cause::kChild;
    case BlockedOn::kSignal: return Cause::kSignal;
    case BlockedOn::kMemory: return Cause::kMemory;
    case BlockedOn::kUnknown: break;
  }
  return state.letter == 'D' ? Cause::kDevice : Cause::kQuiet;
}

std::string state_and_wait(const Process& process) {
  const ProcessState state = lasting_state(process);
  const std::string_view wait = to_string(state.blocked);
  if (state.blocked == BlockedOn::kMemory) return std::string(wait);
  if (lacks_core(process)) return "could run, and has no core (state R)";
  const bool said = wait.empty() || cause_of_quiet(state) == Cause::kDevice;
  return to_string(state) + (said ? "" : fmt::format(", {}", wait));
}

bool moves(const Job& job, const Process& process) { return moves_in(job, process) != nullptr; }

// The threads that the first one waits for may compute for it, but not if they make calls.
bool computes(const Job& job, const Process& process) {
  if (!process.busy) return false;
  const BlockedOn blocked = process.state.blocked;
  if (blocked == BlockedOn::kUnknown) return true;
  return blocked == BlockedOn::kLock && process.spent >= kWorks && !moves(job, process);
}

std::string computes_or_calls(const Job& job, const Process& process) {
  const Communicator* const calls = moves_in(job, process);
  if (calls == nullptr) return "computes outside of Tutti (its processor time moves)";
  return fmt::format("makes calls of \"{}\" meanwhile", calls->snapshot.name);
}

}  // namespace tutti::inspect
