// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "inspect/broken.hpp"

#include <set>

#include "inspect/blame.hpp"

namespace tutti::inspect {
namespace {

// Blames the ranks that have left. If none has, it blames those that do not answer any more.
void blame_those_that_are_missing(const CommunicatorSnapshot& snapshot, Finding& finding) {
  for (const RankSnapshot& rank : snapshot.ranks) {
    if (rank.left) finding.ranks.push_back(rank.number());
  }
  finding.cause = Cause::kDestroyed;
  if (!finding.ranks.empty()) return;
  for (int number = 0; number < snapshot.all_ranks; ++number) {
    const RankSnapshot* const rank = snapshot.find(number);
    if (rank != nullptr && rank->answers) continue;
    finding.ranks.push_back(rank == nullptr ? number : rank->number());
  }
  finding.cause = finding.ranks.empty() ? Cause::kFailed : Cause::kDead;
}

}  // namespace

Finding of_broken(const Job& job, const Communicator& broken, const std::string& text) {
  Finding finding{.cause = Cause::kFailed, .outcome = Outcome::kHangs, .text = text, .advice = ""};
  for (const RankSnapshot& rank : broken.snapshot.ranks) {
    const Process* const process = job.process_of(broken, rank.place);
    const bool seen = process != nullptr && !process->state.dead();
    if (seen || !rank.present || rank.left || !rank.answers) continue;
    const bool replaced = is_replaced(rank);
    if (finding.cause == Cause::kDead && replaced) continue;
    if (replaced) finding.ranks.clear();
    finding.cause = replaced ? Cause::kReplaced : Cause::kDead;
    finding.ranks.push_back(rank.number());
  }
  if (finding.cause != Cause::kFailed) return finding;
  if (broken.snapshot.cause_code == TUTTI_ERR_PEER_FAILED) {
    blame_those_that_are_missing(broken.snapshot, finding);
    return finding;
  }
  // What ranks call behind another failure may differ, and is no cause of it.
  const uint32_t code = broken.snapshot.cause_code;
  if (code != 0 && code != TUTTI_ERR_MISMATCH) return finding;
  std::set<uint64_t> numbers;
  for (const RankSnapshot& rank : broken.snapshot.ranks) {
    for (const PastCall& call : rank.past) numbers.insert(call.record.sequence);
    for (const Wait& wait : rank.waits) numbers.insert(wait.record.sequence);
  }
  for (const uint64_t number : numbers) {
    finding.ranks = odd_ones(broken.snapshot, number);
    if (finding.ranks.empty()) continue;
    finding.cause = Cause::kMismatch;
    break;
  }
  return finding;
}

}  // namespace tutti::inspect
