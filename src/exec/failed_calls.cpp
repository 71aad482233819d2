// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/failed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/caught.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// The time for the answers of all ranks, and for two ranks to find the first call that differed.
constexpr int64_t kAnswersMs = 1000;
constexpr int64_t kComparingMs = 2000;
// A rank asks all others so much later than the one before it, that the first may answer for all.
constexpr int64_t kApartMs = 1;
constexpr int64_t kMostApartMs = 200;
// The most ranks that a text names.
constexpr size_t kMostNamed = 8;

}  // namespace

Status FailedCalls::give_up(LaneGroup& lanes, const Call& call, uint64_t sequence, Advance advance,
                            WaitEnd end) {
  if (advance == Advance::kFailed) {
    if (lanes.mismatched_sender() >= 0 && journal_ != nullptr)
      find_out_what_differs(lanes, sequence);
    health_.fail(why_failed(lanes));
  } else if (end == WaitEnd::kDeadline) {
    const std::string whom = who_is_late(lanes, sequence);
    health_.fail(Status::format(Code::kTimeout, "{} waited {} ms in {}: {}",
                                short_name_of(rank_, transport_.process(rank_)), timeout_ms_.load(),
                                describe(record_of(call, sequence)), whom));
  }
  if (end == WaitEnd::kInterrupted) health_.interrupt(describe(record_of(call, sequence)));
  lanes.abandon();
  return fail_stopped_call(call, sequence);
}

Status FailedCalls::broke_down(const Call& call, uint64_t sequence) noexcept {
  try {
    health_.fail_by_exception(describe(record_of(call, sequence)));
    return fail_stopped_call(call, sequence);
  } catch (...) {
    health_.fail_by_exception("a call");
    return out_of_memory();
  }
}

Status FailedCalls::broke_down(LaneGroup& lanes, const Call& call, uint64_t sequence) noexcept {
  Status status = broke_down(call, sequence);
  lanes.abandon();
  return status;
}

Status FailedCalls::fail_stopped_call(const Call& call, uint64_t sequence) {
  any_.store(true);
  TUTTI_PROBE(call_fail, settings_, sequence);
  return health_.cause_for_call().with_context(describe(record_of(call, sequence)));
}

// ---- what peers tell ---------------------------------------------------------------------------

Waiter FailedCalls::waiter(int64_t timeout_ms) const {
  return health_.waiter(settings_.caller_budget, settings_.polls, timeout_ms);
}

// Either of the two ranks stops the communicator with the calls' names, if it comes to that.
void FailedCalls::find_out_what_differs(const LaneGroup& lanes, uint64_t sequence) {
  journal_->compare_with(lanes.mismatched_sender(), sequence);
  wait_until(waiter(kComparingMs), [this] { return health_.stopped(); });
}

std::string FailedCalls::name_of(int rank) const {
  return tutti::name_of(rank, transport_.process(rank));
}

// The late ranks, for the text of a timeout. A lane knows its neighbour only, which may itself wait
// for the one that is late.
std::string FailedCalls::who_is_late(LaneGroup& lanes, uint64_t sequence) {
  const std::string here = lanes.blocked_on();
  if (journal_ == nullptr) return here;
  const int64_t turn_ms = std::min(rank_ * kApartMs, kMostApartMs);
  const auto never = [] { return false; };
  if (turn_ms > 0 && wait_until(waiter(turn_ms), never) == WaitEnd::kStopped) return here;
  journal_->ask_all();
  wait_until(waiter(kAnswersMs), [&] { return journal_->answers(sequence).missing.empty(); });
  const Journal::Answers answers = journal_->answers(sequence);
  if (ranks_ > 2 && answers.missing.size() == static_cast<size_t>(ranks_ - 1)) {
    return here + "; no rank answers: what keeps them in touch is stuck";
  }
  std::vector<std::string> sentences;
  for (const auto& [rank, last] : answers.late) {
    sentences.push_back(fmt::format("{} has not entered the call; its last was {}", name_of(rank),
                                    last.sequence == 0 ? "none" : describe(last)));
  }
  for (const int rank : answers.missing) {
    if (!lanes.last_words_of(rank).empty()) continue;  // it has left, with its part done
    sentences.push_back(name_of(rank) + " does not answer whether it has entered the call");
  }
  if (sentences.empty()) return here;
  const size_t more = sentences.size() - std::min(sentences.size(), kMostNamed);
  sentences.resize(sentences.size() - more);
  if (more > 0) sentences.push_back(fmt::format("and {} more", more));
  return fmt::format("{}", fmt::join(sentences, "; "));
}

// A peer that has left, so that nothing comes of it, may have made another call before. Only the
// first lanes have last words.
Status FailedCalls::why_failed(LaneGroup& lanes) const {
  const bool may_have_left = lanes.status().code() == Code::kPeerFailed && journal_ != nullptr;
  if (!may_have_left) return lanes.status();
  for (int peer = 0; peer < ranks_; ++peer) {
    const std::span<const std::byte> words = lanes.last_words_of(peer);
    if (peer == rank_ || words.empty()) continue;
    if (Status differs = journal_->compare_last_words(peer, words); !differs.ok()) return differs;
  }
  return lanes.status();
}

}  // namespace tutti
