// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/at_rest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/call.hpp"
#include "inspect/blame.hpp"

namespace tutti::inspect {
namespace {

// Seconds since the rank's last call, or since the communicator was made; below 0: not known.
double quiet_s(const Job& job, const Communicator& communicator, const RankSnapshot& rank) {
  if (const PastCall* const last = rank.last()) return job.age_s(communicator, *last);
  return static_cast<double>(job.now.monotonic_ns - communicator.snapshot.made.monotonic_ns) / 1e9;
}

// Whether a rank of it has made a call in a communicator that is whole since its last one here.
bool is_left_behind(const Job& job, const Communicator& broken) {
  const auto goes_on = [&](const RankSnapshot& rank) {
    const Party party = party_of(job, broken, rank);
    const double here_s = quiet_s(job, broken, rank);
    return party.process != nullptr &&
           std::ranges::any_of(job.communicators, [&](const Communicator& other) {
             if (!other.status.ok() || other.snapshot.stopped) return false;
             return std::ranges::any_of(other.snapshot.ranks, [&](const RankSnapshot& there) {
               const double there_s = quiet_s(job, other, there);
               return there.last() != nullptr && party_of(job, other, there) == party &&
                      there_s >= 0 && there_s < here_s;
             });
           });
  };
  return std::ranges::any_of(broken.snapshot.ranks, goes_on);
}

}  // namespace

const Communicator* broken_one(const Job& job) {
  const auto found = std::ranges::find_if(job.communicators, [&](const Communicator& one) {
    return one.status.ok() && one.snapshot.stopped && !is_left_behind(job, one);
  });
  return found == job.communicators.end() ? nullptr : &*found;
}

Verdict of_idle(const Job& job) {
  std::string text = "no rank waits";
  const PastCall* last = nullptr;
  const Communicator* of = nullptr;
  for (const Communicator& communicator : job.communicators) {
    for (const RankSnapshot& rank : communicator.snapshot.ranks) {
      const PastCall* const call = rank.last();
      if (call == nullptr || (last != nullptr && call->begun <= last->begun)) continue;
      last = call;
      of = &communicator;
    }
  }
  if (last != nullptr) {
    const double age_s = job.age_s(*of, *last);
    text += fmt::format("; the last call was {} of \"{}\"{}", describe(last->record),
                        of->snapshot.name, age_s < 0 ? "" : fmt::format(", {:.1f} s ago", age_s));
  }
  return {.outcome = Outcome::kIdle, .text = text};
}

}  // namespace tutti::inspect
