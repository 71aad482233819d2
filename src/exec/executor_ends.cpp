// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ends of calls that do not succeed, and how ranks part. A rank that shares no memory with a
// peer learns from the journal what that peer did; nobody waits long for that.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "core/fields.hpp"
#include "core/stamp.hpp"
#include "exec/executor.hpp"
#include "exec/probes.hpp"
#include "transports/names.hpp"

namespace tutti {
namespace {

// The time for the answers of all ranks, and for two ranks to find the first call that differed.
constexpr int64_t kAnswersMs = 1000;
constexpr int64_t kComparingMs = 2000;
// A rank asks all others so much later than the one before it, that the first may answer for all.
constexpr int64_t kApartMs = 1;
constexpr int64_t kMostApartMs = 200;
// The time for peers to make the last call of a rank that leaves.
constexpr int64_t kLastCallsMs = 50;
static_assert(sizeof(CallNote) <= kMaxLastWords);
// The most ranks that a text names.
constexpr size_t kMostNamed = 8;

// Whether this rank takes anything from another in such a call.
bool takes(const Plan& plan) {
  return std::ranges::any_of(plan.lanes, [](const LanePlan& lane) {
    if (const auto* const part = std::get_if<ScheduledPlan>(&lane)) {
      return part->traits.first_wait != 0 || !part->receives.empty();
    }
    const auto& phases = std::get<ComposedPlan>(lane).phases;
    return std::ranges::any_of(phases, [](const ComposedPlan::Phase& phase) {
      return phase.plan != nullptr && takes(*phase.plan);
    });
  });
}

// Whether that call, this rank's last (null: it made none), could not end before all others had
// entered it.
bool hears_all(const Plan* last, uint64_t sequence) {
  if (last == nullptr) return true;
  const CallRecord record = last->record_of(sequence);
  return takes(*last) && record.root < 0 && !is_uneven(static_cast<Collective>(record.collective));
}

// The news of peers' last calls for the journal, if ranks are on several hosts.
struct FarLastCalls {
  Journal& journal;
  LaneGroup& lanes;
  int rank;
  int ranks;
  // Whether a peer is to be asked. Those here are if they have not left. Those elsewhere are if
  // this rank has exchanged something with them, for there may be thousands.
  std::function<bool(int peer)> asks;

  // A peer that has left tells by its last words, another one by its answer that it has made so
  // many calls. Returns whether all is heard, or something differs.
  bool heard(uint64_t calls, Status& differs) const {
    bool all = true;
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank) continue;
      const std::span<const std::byte> last_words = lanes.last_words_of(peer);
      if (!last_words.empty()) {
        differs = journal.check_last_words(peer, last_words);
        if (!differs.ok()) return true;
      } else if (asks(peer)) {
        const std::optional<uint64_t> answer = journal.answer_of(peer);
        all &= answer.has_value() && *answer >= calls;
      }
    }
    return all;
  }
};

}  // namespace

Status Executor::give_up(LaneGroup& lanes, const Call& call, uint64_t sequence, Advance advance,
                         WaitEnd end) {
  if (advance == Advance::kFailed) {
    if (lanes.stranger() >= 0 && journal_ != nullptr) find_out_what_differs(lanes, sequence);
    health_.fail(why_failed(lanes));
  } else if (end == WaitEnd::kDeadline) {
    const std::string whom = who_is_late(lanes, sequence);
    health_.fail(Status::format(Code::kTimeout, "{} waited {} ms in {}: {}",
                                short_name_of(rank_, transport_.process(rank_)), timeout_ms(),
                                describe(record_of(call, sequence)), whom));
  }
  if (end == WaitEnd::kInterrupted) health_.interrupt(describe(record_of(call, sequence)));
  lanes.abandon();
  return why_stopped(call, sequence);
}

Status Executor::broke_down(const Call& call, uint64_t sequence) noexcept {
  try {
    health_.fail_by_exception(describe(record_of(call, sequence)));
    return why_stopped(call, sequence);
  } catch (...) {
    health_.fail_by_exception("a call");
    return out_of_memory();
  }
}

Status Executor::broke_down(LaneGroup& lanes, const Call& call, uint64_t sequence) noexcept {
  Status status = broke_down(call, sequence);
  lanes.abandon();
  return status;
}

Status Executor::refuse(const Call& call) {
  const uint64_t sequence = sequence_ + 1;
  RecordLine* const noted = health_.has_ended_a_call() ? nullptr : noted_call(sequence);
  if (noted != nullptr && noted->record.sequence != sequence) {
    noted->begin(record_of(call, sequence, digest_of(call)));
    noted->end();
  }
  return why_stopped(call, sequence);
}

Status Executor::why_stopped(const Call& call, uint64_t sequence) {
  failed_.store(true);
  TUTTI_PROBE(call_fail, settings_, sequence);
  return health_.cause_for_call().with_context(describe(record_of(call, sequence)));
}

// ---- what peers tell ---------------------------------------------------------------------------

Waiter Executor::waiter_for(int64_t timeout_ms) const {
  Waiter waiter = waiter_with(settings_.caller_budget);
  waiter.timeout_ms = timeout_ms;
  return waiter;
}

// Either of the two ranks stops the communicator with the calls' names, if it comes to that.
void Executor::find_out_what_differs(const LaneGroup& lanes, uint64_t sequence) {
  journal_->compare_with(lanes.stranger(), sequence);
  wait_until(waiter_for(kComparingMs), [this] { return health_.stopped(); });
}

std::string Executor::name_of(int rank) const {
  return tutti::name_of(rank, transport_.process(rank));
}

// The late ranks, for the text of a timeout. A lane knows its neighbour only, which may itself wait
// for the one that is late.
std::string Executor::who_is_late(LaneGroup& lanes, uint64_t sequence) {
  const std::string here = lanes.blocked_on();
  if (journal_ == nullptr) return here;
  const int64_t turn_ms = std::min(rank_ * kApartMs, kMostApartMs);
  const auto never = [] { return false; };
  if (turn_ms > 0 && wait_until(waiter_for(turn_ms), never) == WaitEnd::kStopped) return here;
  journal_->ask_all();
  wait_until(waiter_for(kAnswersMs), [&] { return journal_->answers(sequence).missing.empty(); });
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

// ---- the end -----------------------------------------------------------------------------------

void Executor::leave() {
  const CallNote words = journal_ == nullptr ? CallNote{} : journal_->last_words();
  for (const auto& queue : queues_) {
    const bool first = journal_ != nullptr && queue == queues_.front();
    queue->lanes().leave(first ? bytes_of(words) : std::span<const std::byte>());
  }
}

// Waits for a moment for what the peers' last calls are, and as long as one elsewhere takes to
// answer at all.
Status Executor::compare_last_calls() {
  LaneGroup& lanes = queues_.front()->lanes();
  std::optional<FarLastCalls> far;
  if (journal_ != nullptr) {
    const bool wanted = !hears_all(plans_.last(), sequence_);
    far.emplace(FarLastCalls{*journal_, lanes, rank_, ranks_, [&, wanted](int peer) {
                               const Hosts& hosts = *settings_.context.hosts;
                               const bool here = hosts.host(peer) == hosts.host(rank_);
                               return wanted && (here ? !transport_.recovery().has_left(peer)
                                                      : lanes.deals_with(peer));
                             }});
  }
  Status differs;
  const auto knows = [&] {
    bool all = true;
    for (const auto& queue : queues_) {
      all &= queue->lanes().knows_last_calls(differs);
      if (!differs.ok()) return true;
    }
    return (!far || far->heard(sequence_, differs)) && (all || !differs.ok());
  };
  const auto wait = [&](int64_t timeout_ms, const auto& ready) {
    Waiter waiter = waiter_for(timeout_ms);
    waiter.uninterrupted = true;
    return wait_until(waiter, ready) == WaitEnd::kReady;
  };
  if (knows()) return differs;
  if (far) journal_->leave(far->asks);
  if (wait(kLastCallsMs, knows) || !far) return differs;
  // A rank that has made its call answers that at once, whatever it does now.
  wait(kAnswersMs, [&] { return far->heard(0, differs); });
  return differs;
}

// A peer that has left, so that nothing comes of it, may have made another call before.
Status Executor::why_failed(LaneGroup& lanes) {
  const bool may_have_left = lanes.status().code() == Code::kPeerFailed && journal_ != nullptr;
  if (!may_have_left || &lanes != &queues_.front()->lanes()) return lanes.status();
  for (int peer = 0; peer < ranks_; ++peer) {
    const std::span<const std::byte> words = lanes.last_words_of(peer);
    if (peer == rank_ || words.empty()) continue;
    if (Status differs = journal_->compare_last_words(peer, words); !differs.ok()) return differs;
  }
  return lanes.status();
}

}  // namespace tutti
