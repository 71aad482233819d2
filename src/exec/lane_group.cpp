// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the phases of a composition on the lanes of its two scopes, side by side.
#include "exec/lane_group.hpp"

#include <cstring>

#include "kernels/copy.hpp"

namespace tutti {
namespace {

constexpr Scope kAllScopes[] = {Scope::kHost, Scope::kColumn};

Scope other(Scope scope) { return scope == Scope::kHost ? Scope::kColumn : Scope::kHost; }

}  // namespace

LaneGroup::LaneGroup(std::unique_ptr<Lane> all, std::unique_ptr<Lane> host,
                     std::unique_ptr<Lane> column)
    : all_(std::move(all)), lanes_{std::move(host), std::move(column)} {}

void LaneGroup::start_phases(const Plan::Part& part, const Call& call, const CallRecord& record,
                             uint32_t chain) {
  composed_ = part.composed.get();
  arguments_ = &call;
  offset_ = part.offset;
  record_ = record;
  chain_ = chain;
  progress_ = {};
  const size_t lines = whole_lines(composed_->scratch_bytes) / kCacheLine;
  if (scratch_.size() < lines) scratch_.resize(lines);
}

Advance LaneGroup::advance_phases() {
  for (bool moved = true; moved && failed_ == nullptr;) {
    moved = false;
    for (const Scope scope : kAllScopes) moved |= advance_scope(scope);
  }
  if (failed_ != nullptr) return Advance::kFailed;
  const size_t done = progress_of(Scope::kHost).done + progress_of(Scope::kColumn).done;
  if (done < composed_->phases.size()) return Advance::kBlocked;
  finish();
  return Advance::kDone;
}

// Returns whether a phase was completed.
bool LaneGroup::advance_scope(Scope scope) {
  Progress& progress = progress_of(scope);
  if (failed_ != nullptr || !start_next(scope, progress)) return false;
  if (composed_->phases[progress.next].plan != nullptr) {
    Lane& lane = lane_of(scope);
    const Advance advance = lane.advance();
    if (advance == Advance::kFailed) failed_ = &lane;
    if (advance != Advance::kDone) return false;
  }
  progress.started = false;
  ++progress.next;
  ++progress.done;
  return true;
}

// Whether there is a phase of that scope under way.
bool LaneGroup::start_next(Scope scope, Progress& progress) {
  if (progress.started) return true;
  const auto& phases = composed_->phases;
  while (progress.next < phases.size() && phases[progress.next].scope != scope) ++progress.next;
  if (progress.next == phases.size()) return false;
  const ComposedPlan::Phase& phase = phases[progress.next];
  if (progress_of(other(scope)).done < phase.after) return false;
  progress.started = true;
  if (phase.plan == nullptr) {
    move(phase);
    return true;
  }
  Call& call = calls_[static_cast<size_t>(scope)];
  bind(phase, call);
  lane_of(scope).start(*phase.plan, 0, call, record_, chain_);
  return true;
}

// Null where the caller has no such buffer.
std::byte* LaneGroup::address_of(const Ref& ref) {
  if (ref.space() == Space::kScratch) {
    return reinterpret_cast<std::byte*>(scratch_.data()) + ref.offset;
  }
  auto* const send = static_cast<std::byte*>(const_cast<void*>(arguments_->send));
  auto* const recv = static_cast<std::byte*>(arguments_->recv);
  std::byte* const base = ref.space() == Space::kSend ? send : recv;
  return base == nullptr ? nullptr : base + offset_ + ref.offset;
}

void LaneGroup::bind(const ComposedPlan::Phase& phase, Call& call) {
  call = phase.call;
  call.send = address_of(phase.send);
  call.recv = address_of(phase.recv);
  if (call.op == ReduceOp::kPremulSum) call.binding = arguments_->binding;
}

void LaneGroup::move(const ComposedPlan::Phase& phase) {
  for (const Move& move : phase.moves) {
    copy_bytes(address_of(move.to), address_of(move.from), move.bytes, CopyHint::kToOthers);
  }
}

void LaneGroup::finish() {
  composed_ = nullptr;
  arguments_ = nullptr;
}

const Status& LaneGroup::status() const {
  return failed_ != nullptr ? failed_->status() : all_->status();
}

void LaneGroup::abandon() {
  all_->abandon();
  for (const auto& lane : lanes_) {
    if (lane != nullptr) lane->abandon();
  }
  finish();
}

std::string LaneGroup::blocked_on() const {
  if (composed_ == nullptr) return all_->blocked_on();
  std::string text;
  for (const Scope scope : kAllScopes) {
    if (!progress_[static_cast<size_t>(scope)].started) continue;
    const std::string sentence = lane_of(scope).blocked_on();
    if (!sentence.empty()) text += (text.empty() ? "" : "; ") + sentence;
  }
  return text;
}

Status LaneGroup::leave(std::span<const std::byte> last_words) {
  Status outcome = all_->leave(last_words);
  for (const auto& lane : lanes_) {
    if (lane == nullptr) continue;
    Status status = lane->leave({});
    if (outcome.ok()) outcome = std::move(status);
  }
  return outcome;
}

}  // namespace tutti
