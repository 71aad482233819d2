// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The verdict on a job. It follows each rank that waits to the ranks that it waits for, until a
// rank that does not wait, or round a circle.
#pragma once

#include <string>
#include <vector>

#include "inspect/job.hpp"

namespace tutti::inspect {

// Outcomes, from the best to the worst.
enum class Outcome { kIdle, kGoesOn, kSlow, kWaits, kHangs };
std::string_view to_string(Outcome outcome);

// Causes, the one that matters least first; those of one line matter alike.
enum class Cause {
  kComputes,
  // Does not make a call: sleeps, or waits for a lock, a file, a socket, a child, a signal, a
  // device or who knows what.
  kSleeps,
  kLock,
  kFile,
  kSocket,
  kChild,
  kSignal,
  kDevice,
  kQuiet,
  kInside,     // the rank has come to the call, and does not get on in it
  kFunction,   // the rank is in a function of the user that a call runs
  kNewcomers,  // newcomers of a grow have not come
  // Causes of jobs that get on: a quota; a core that others use; too few cores; uneven work, so
  // that each rank is late in turn; memory that is read back from a device or lacks; the calls
  // themselves, or a line that they wait for; an algorithm that a variable demands; short calls
  // behind long ones.
  kThrottled,
  kShared,
  kCores,
  kUneven,
  kMemory,
  kCalls,
  kLine,
  kAlgorithm,
  kJam,
  kMessage,  // the rank does not send, and another message has come that no receive takes
  kSilent,   // the rank does not answer from its host
  kCircle,   // ranks wait for one another
  kUnmet,    // ranks wait for one another, and a message has come that no receive takes
  kDestroyed,
  kDebugged,
  kFrozen,
  kStopped,
  kMismatch,  // ranks are in different calls
  kFailed,    // the call failed in another way
  kDead,
  kReplaced,
};
// "computes"; what programs compare.
std::string_view to_string(Cause cause);

// One thing that keeps ranks waiting, at the end of a chain of waits.
struct Finding {
  Cause cause = Cause::kQuiet;
  Outcome outcome = Outcome::kWaits;
  std::string text;    // "rank 2 (pid 77 on h) has not entered ...; it is stopped (state T)"
  std::string advice;  // advice what to do
  double waited_s = 0;
  std::vector<int> ranks = {};  // whom it blames, by their numbers in the job
  int pid = 0;                  // process to look at; 0: none
  std::string host = {};        // of that process, if not this one
  std::string call = {};        // call that is waited for: "allreduce #5 (2 float32, max)"
  double share = 0;             // of the time that it costs a job which gets on
  std::string because = {};     // reason for that: "it computes before its calls"
};

struct Verdict {
  Outcome outcome = Outcome::kIdle;
  std::string text;                    // one line of text
  std::string advice = {};             // second line; may be empty
  std::vector<Finding> findings = {};  // the worst first; each blames another
};

// A wait for a rank that lives and does not call counts as a hang after so many seconds.
Verdict judge(const Job& job, double hung_after_s);

}  // namespace tutti::inspect
