// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the phases of a composition on the lanes of its two scopes, side by side.
#include "exec/lane_group.hpp"

#include "kernels/copy.hpp"

namespace tutti {
namespace {

constexpr Scope kAllScopes[] = {Scope::kHost, Scope::kColumn};

Scope other(Scope scope) { return scope == Scope::kHost ? Scope::kColumn : Scope::kHost; }

}  // namespace

LaneGroup::LaneGroup(std::unique_ptr<Lane> all, std::unique_ptr<Lane> host,
                     std::unique_ptr<LaneGroup> column)
    : all_lane_(std::move(all)), host_lane_(std::move(host)), column_lanes_(std::move(column)) {}

void LaneGroup::start_phases(const Plan& plan, const ComposedPlan& composed, const Call& call,
                             const CallRecord& record, uint32_t chain) {
  composed_ = &composed;
  is_plain_ = false;
  plan_ = &plan;
  arguments_ = &call;
  send_ = static_cast<std::byte*>(const_cast<void*>(call.send));
  record_ = record;
  chain_ = chain;
  progress_ = {};
  const size_t lines = whole_lines(composed.scratch_bytes) / kCacheLine;
  if (scratch_.size() < lines) scratch_.resize(lines);
  // The data is scaled here if no phase of the composition begins the reduction.
  if (composed.reduces_alone) {
    send_ = engine_.start(call, composed.most_sources, all_lane_->ranks(), plan.element_bytes);
  }
}

void LaneGroup::trace_steps_to(std::shared_ptr<StepTrace> trace) {
  if (column_lanes_ != nullptr) column_lanes_->trace_steps_to(trace);
  trace_ = std::move(trace);
  is_plain_ = false;
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

Advance LaneGroup::advance_phase_of(Scope scope) {
  const bool on_host = scope == Scope::kHost;
  const Advance outcome = on_host ? advance(*host_lane_) : column_lanes_->advance();
  if (outcome == Advance::kFailed) {
    failed_ = on_host ? host_lane_.get() : &column_lanes_->failed_lane();
  }
  return outcome;
}

// Returns whether a phase was completed.
bool LaneGroup::advance_scope(Scope scope) {
  Progress& progress = progress_of(scope);
  if (failed_ != nullptr || !start_next(scope, progress)) return false;
  const bool moves = composed_->phases[progress.next].plan == nullptr;
  if (!moves && advance_phase_of(scope) != Advance::kDone) return false;
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
  if (scope == Scope::kHost) {
    host_lane_->start(*phase.plan, *phase.plan->scheduled(), call, record_, chain_);
  } else {
    column_lanes_->start(*phase.plan, 0, call, record_, chain_);
  }
  return true;
}

// Returns null where the caller has no such buffer.
std::byte* LaneGroup::address_of(const Ref& ref) {
  if (ref.space() == Space::kScratch) {
    return reinterpret_cast<std::byte*>(scratch_.data()) + ref.offset;
  }
  auto* const recv = static_cast<std::byte*>(arguments_->recv);
  std::byte* const base = ref.space() == Space::kSend ? send_ : recv;
  return base == nullptr ? nullptr : base + composed_->offset + ref.offset;
}

void LaneGroup::bind(const ComposedPlan::Phase& phase, Call& call) {
  call = phase.call;
  call.send = address_of(phase.send);
  call.recv = address_of(phase.recv);
  if (call.op == ReduceOp::kPremulSum) call.binding = arguments_->binding;
}

void LaneGroup::move(const ComposedPlan::Phase& phase) {
  for (const Move& move : phase.moves) {
    if (!move.others.empty()) {
      reduce(move);
    } else {
      copy_bytes(address_of(move.to), address_of(move.from), move.bytes, CopyHint::kTemporal);
    }
  }
}

void LaneGroup::reduce(const Move& move) {
  const std::span<const void*> sources = engine_.sources();
  uint32_t k = 0;
  sources[k++] = address_of(move.from);
  for (const Ref& other : move.others) sources[k++] = address_of(other);
  engine_.reduce(*plan_, *arguments_, record_, address_of(move.to), k, move.bytes,
                 {.divisor = plan_->divisor});
}

void LaneGroup::finish() {
  if (composed_ != nullptr && composed_->reduces_alone) engine_.finish();
  composed_ = nullptr;
  is_plain_ = trace_ == nullptr;
  arguments_ = nullptr;
}

void LaneGroup::note_functions_in(WaitNote* note) {
  engine_.note_functions_in(note);
  all_lane_->note_functions_in(note);
  if (host_lane_ != nullptr) host_lane_->note_functions_in(note);
  if (column_lanes_ != nullptr) column_lanes_->note_functions_in(note);
}

const Status& LaneGroup::status() const {
  return failed_ != nullptr ? failed_->status() : all_lane_->status();
}

void LaneGroup::abandon() {
  all_lane_->abandon();
  if (host_lane_ != nullptr) host_lane_->abandon();
  if (column_lanes_ != nullptr) column_lanes_->abandon();
  finish();
}

std::string LaneGroup::blocked_on() const {
  if (composed_ == nullptr) return all_lane_->blocked_on();
  std::string text;
  for (const Scope scope : kAllScopes) {
    if (!progress_[static_cast<size_t>(scope)].started) continue;
    const std::string sentence =
        scope == Scope::kHost ? host_lane_->blocked_on() : column_lanes_->blocked_on();
    if (!sentence.empty()) text += (text.empty() ? "" : "; ") + sentence;
  }
  return text;
}

void LaneGroup::leave(std::span<const std::byte> last_words) {
  all_lane_->leave(last_words);
  if (host_lane_ != nullptr) host_lane_->leave({});
  if (column_lanes_ != nullptr) column_lanes_->leave({});
}

bool LaneGroup::knows_last_calls(Status& differs) {
  bool knows = all_lane_->knows_last_calls(differs);
  if (host_lane_ != nullptr && differs.ok()) knows &= host_lane_->knows_last_calls(differs);
  if (column_lanes_ != nullptr && differs.ok()) knows &= column_lanes_->knows_last_calls(differs);
  return knows;
}

}  // namespace tutti
