// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lanes by which one worker runs its part of a call. One is among all ranks, and is the only
// one if these are on one host. Else another is among the ranks of this host, and a group of lanes
// among those of its column (algorithms/composition.hpp). That group has several lanes if hosts are
// in groups: a phase of a column may be a composition itself. The group belongs to one thread at a
// time, as a lane does, and never waits.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "exec/lane.hpp"
#include "exec/step_trace.hpp"

namespace tutti {

class LaneGroup {
 public:
  // `host` and `column` are null if all ranks are on one host, `column` also for a rank in none.
  explicit LaneGroup(std::unique_ptr<Lane> all, std::unique_ptr<Lane> host = nullptr,
                     std::unique_ptr<LaneGroup> column = nullptr);

  // Starts like Lane::start().
  void start(const Plan& plan, size_t index, const Call& call, uint64_t sequence, uint32_t chain) {
    start(plan, index, call, plan.record_of(sequence), chain);
  }
  Advance advance() {
    if (is_plain_) [[likely]]
      return all_lane_->advance();
    return composed_ != nullptr ? advance_phases() : advance(*all_lane_);
  }
  // Sets the note by which the lanes say that they run a function of the user; it outlives them.
  void note_functions_in(WaitNote* note);
  // Traces the steps of all lanes from the next call on.
  void trace_steps_to(std::shared_ptr<StepTrace> trace);
  [[nodiscard]] const Status& status() const;
  void abandon();
  [[nodiscard]] std::string blocked_on() const;
  // Calls visit(rank) for each rank that a lane is waiting for.
  template <typename Visit>
  void for_each_awaited(const Visit& visit) const {
    for (const Lane* lane : {all_lane_.get(), host_lane_.get()}) {
      if (lane != nullptr) std::ranges::for_each(lane->waits_for(), visit);
    }
    if (column_lanes_ != nullptr) column_lanes_->for_each_awaited(visit);
  }
  // Notes that the call that ran last, which had to wait for long, has ended.
  void note_end() { shared_memory_lane().note_end(); }
  // Lane::mismatched_sender() of the lane that failed.
  [[nodiscard]] int mismatched_sender() const { return failed_lane().mismatched_sender(); }
  // Lane::leave() and Lane::knows_last_calls() of all lanes.
  void leave(std::span<const std::byte> last_words);
  bool knows_last_calls(Status& differs);
  // Lane::deals_with() and Lane::last_words_of(), for ranks on several hosts.
  [[nodiscard]] bool deals_with(int peer) const { return all_lane_->deals_with(peer); }
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) {
    return all_lane_->last_words_of(peer);
  }

 private:
  // How far the phases of one scope are.
  struct Progress {
    uint32_t done = 0;     // number of complete phases
    size_t next = 0;       // in the list of all phases: the first that may be of this scope
    bool started = false;  // whether the next one has started
  };

  // The lane whose ranks share memory, if any do.
  [[nodiscard]] Lane& shared_memory_lane() const {
    return host_lane_ != nullptr ? *host_lane_ : *all_lane_;
  }
  [[nodiscard]] const Lane& failed_lane() const {
    return failed_ != nullptr ? *failed_ : *all_lane_;
  }
  Progress& progress_of(Scope scope) { return progress_[static_cast<size_t>(scope)]; }
  void start(const Plan& plan, size_t index, const Call& call, const CallRecord& record,
             uint32_t chain) {
    if (const LanePlan* const lane_plan = plan.scheduled(index)) [[likely]]
      return all_lane_->start(plan, *lane_plan, call, record, chain);
    start_phases(plan, *plan.composed(index), call, record, chain);
  }
  void start_phases(const Plan& plan, const ComposedPlan& composed, const Call& call,
                    const CallRecord& record, uint32_t chain);
  Advance advance(Lane& lane) { return trace_ == nullptr ? lane.advance() : lane.advance(*trace_); }
  Advance advance_phase_of(Scope scope);
  Advance advance_phases();
  bool advance_scope(Scope scope);
  bool start_next(Scope scope, Progress& progress);
  [[nodiscard]] std::byte* address_of(const Ref& ref);
  void bind(const ComposedPlan::Phase& phase, Call& call);
  void move(const ComposedPlan::Phase& phase);
  void reduce(const Move& move);
  void finish();

  const std::unique_ptr<Lane> all_lane_;
  const std::unique_ptr<Lane> host_lane_;
  const std::unique_ptr<LaneGroup> column_lanes_;

  bool is_plain_ = true;  // no composition runs, and no steps are traced
  std::shared_ptr<StepTrace> trace_;
  const ComposedPlan* composed_ = nullptr;  // the composition that runs
  const Plan* plan_ = nullptr;              // of the composition that runs
  const Call* arguments_ = nullptr;
  std::byte* send_ = nullptr;
  CallRecord record_{};
  uint32_t chain_ = 0;
  std::array<Progress, kScopes> progress_{};
  std::array<Call, kScopes> calls_{};
  const Lane* failed_ = nullptr;
  HostEngine engine_;  // of reductions outside phases
  std::vector<CacheLine> scratch_;
};

}  // namespace tutti
