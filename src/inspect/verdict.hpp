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
enum class Outcome { kIdle, kGoesOn, kWaits, kHangs };
std::string_view to_string(Outcome outcome);

// One thing that keeps ranks waiting, at the end of a chain of waits.
struct Finding {
  // Kinds, the one that matters least first.
  enum class Kind { kComputes, kQuiet, kElsewhere, kCircle, kLeft, kHeld, kStopped, kOther, kDead };
  Kind kind = Kind::kQuiet;
  Outcome outcome = Outcome::kWaits;
  std::string text;    // "rank 2 (pid 77 on h) has not entered ...; it is stopped (state T)"
  std::string advice;  // what to do
  double waited_s = 0;
  int pid = 0;            // of the one to look at; 0: none
  std::string host = {};  // where, if not here
};

struct Verdict {
  Outcome outcome = Outcome::kIdle;
  std::string text;                    // one line
  std::string advice = {};             // another; may be empty
  std::vector<Finding> findings = {};  // the worst first; each blames another
};

// A wait for a rank that lives and does not call counts as a hang after so many seconds.
Verdict judge(const Job& job, double hung_after_s);

}  // namespace tutti::inspect
