// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks part: each tells that it makes no further calls, and looks whether the last ones match.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "core/fields.hpp"
#include "exec/executor.hpp"

namespace tutti {
namespace {

// The time for ranks that have made their last call to answer that.
constexpr int64_t kLastAnswersMs = 1000;
// The time for peers to make the last call of a rank that leaves.
constexpr int64_t kLastCallsMs = 50;
static_assert(sizeof(JournalMessage) <= kMostLastWords);

// Whether this rank takes anything from another in such a call.
bool takes(const Plan& plan) {
  return std::ranges::any_of(plan.lanes, [](const LaneGroupPlan& lane) {
    if (const auto* const lane_plan = std::get_if<LanePlan>(&lane)) {
      return lane_plan->traits.first_wait != 0 || !lane_plan->receives.empty();
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

void Executor::leave() {
  const JournalMessage words = journal_ == nullptr ? JournalMessage{} : journal_->last_words();
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
    Waiter waiter = health_.waiter(settings_.caller_budget, settings_.polls, timeout_ms);
    waiter.uninterrupted = true;
    return wait_until(waiter, ready) == WaitEnd::kReady;
  };
  if (knows()) return differs;
  if (far) journal_->leave(far->asks);
  if (wait(kLastCallsMs, knows) || !far) return differs;
  // A rank that has made its call answers that at once, whatever it does now.
  wait(kLastAnswersMs, [&] { return far->heard(0, differs); });
  return differs;
}

}  // namespace tutti
