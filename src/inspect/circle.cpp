// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/circle.hpp"

#include <fmt/format.h>

#include "exec/call.hpp"
#include "exec/wait_reporter.hpp"

namespace tutti::inspect {
namespace {

// Whether ranks of several hosts wait for one another's part of one call.
bool is_within_a_call(std::span<const Waiting> circle) {
  const Waiting& first = circle.front();
  const CommunicatorSnapshot& snapshot = first.communicator->snapshot;
  bool over_hosts = false;
  for (const Waiting& waiting : circle) {
    const bool same = waiting.communicator == first.communicator &&
                      waiting.wait->kind == WaitKind::kCall &&
                      waiting.wait->record.sequence == first.wait->record.sequence;
    if (!same) return false;
    over_hosts = over_hosts || snapshot.host_of(*waiting.rank) != snapshot.host_of(*first.rank);
  }
  return over_hosts;
}

// All have made the same call, so no rank is to blame.
Blame of_cut_line(const Job& job, std::span<const Waiting> circle) {
  const Waiting& waiting = circle.front();
  const Communicator& communicator = *waiting.communicator;
  std::string names;
  for (const Waiting& one : circle) {
    names += (names.empty() ? "" : ", ") + job.name_of(communicator, *one.rank);
  }
  return {.cause = Cause::kLine,
          .ranks = {},
          .text = fmt::format(
              "{} wait for one another's part of {} of \"{}\", which all have entered: a line "
              "between their hosts lets nothing through, or hardly anything",
              names, describe(*waiting.wait), communicator.snapshot.name),
          .advice = "see whether their hosts reach one another: ping, ip route, firewalls",
          .process = job.process_of(communicator, waiting.rank->place)};
}

Blame of_wait_for_itself(const Job& job, const Waiting& waiting) {
  return {.cause = Cause::kCircle,
          .ranks = {waiting.rank->number()},
          .text = fmt::format("{} waits for itself in {} of \"{}\"",
                              job.name_of(*waiting.communicator, *waiting.rank),
                              describe(*waiting.wait), waiting.communicator->snapshot.name),
          .advice =
              "a rank that sends to itself must have started the receive, or the send, before it "
              "waits for the other: tutti_irecv, tutti_isend or tutti_sendrecv",
          .process = job.process_of(*waiting.communicator, waiting.rank->place)};
}

}  // namespace

Blame blame_for_circle(const Job& job, std::span<const Waiting> circle) {
  if (circle.size() == 1) return of_wait_for_itself(job, circle.front());
  if (is_within_a_call(circle)) return of_cut_line(job, circle);
  std::string text = "ranks wait for one another: ";
  std::vector<int> ranks;
  Cause cause = Cause::kCircle;
  for (const Waiting& waiting : circle) {
    text += fmt::format("{}{} in {} of \"{}\"", ranks.empty() ? "" : ", ",
                        job.name_of(*waiting.communicator, *waiting.rank), describe(*waiting.wait),
                        waiting.communicator->snapshot.name);
    text += unexpected_by(*waiting.wait);
    ranks.push_back(waiting.rank->number());
    if (!unexpected_by(*waiting.wait).empty()) cause = Cause::kUnmet;
  }
  const Waiting& first = circle.front();
  return {.cause = cause,
          .ranks = std::move(ranks),
          .text = std::move(text),
          .advice = std::string(kOrder),
          .process = job.process_of(*first.communicator, first.rank->place)};
}

}  // namespace tutti::inspect
