// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The lanes by which one worker runs its part of a call: the one among all ranks, and where ranks
// are on several hosts, one among those of this host and one among those of its column
// (algorithms/composition.hpp). Belongs to one thread at a time, as a lane does, and never waits.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "exec/lane.hpp"

namespace tutti {

class LaneGroup {
 public:
  // Ranks on one host have the first only. Not in a column: no third.
  explicit LaneGroup(std::unique_ptr<Lane> all, std::unique_ptr<Lane> host = nullptr,
                     std::unique_ptr<Lane> column = nullptr);

  // As of a lane.
  void start(const Plan& plan, size_t index, const Call& call, uint64_t sequence, uint32_t chain) {
    const CallRecord record = plan.record_of(sequence);
    const Plan::Part& part = plan.parts[index];
    if (part.composed == nullptr) [[likely]]
      return all_->start(plan, index, call, record, chain);
    start_phases(part, call, record, chain);
  }
  Advance advance() { return composed_ == nullptr ? all_->advance() : advance_phases(); }
  [[nodiscard]] const Status& status() const;
  void abandon();
  [[nodiscard]] std::string blocked_on() const;
  // Calls wait(rank) for each rank that a lane is waiting for.
  template <typename Wait>
  void for_each_awaited(const Wait& wait) const {
    for (const Lane* lane : {all_.get(), lanes_[0].get(), lanes_[1].get()}) {
      if (lane != nullptr) std::ranges::for_each(lane->waits_for(), wait);
    }
  }
  // The call that ran last, which had to wait for long, has ended.
  void note_end() {
    if (memory().window_ != nullptr) memory().log_.note_end();
  }
  // As of the lane that failed.
  [[nodiscard]] int stranger() const {
    return failed_ != nullptr ? failed_->stranger() : all_->stranger();
  }
  Status leave(std::span<const std::byte> last_words);
  // Of any rank, of a communicator whose ranks are on several hosts.
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) {
    return all_->last_words_of(peer);
  }
  // Of a rank on this host.
  [[nodiscard]] bool has_left(int peer) const { return memory().has_left(peer); }

 private:
  // How far the phases of one scope are.
  struct Progress {
    uint32_t done = 0;     // complete
    size_t next = 0;       // in the list of all phases: the first that may be of this scope
    bool started = false;  // the next one
  };

  // The lane whose ranks share memory, if any do.
  [[nodiscard]] Lane& memory() const { return lanes_[0] != nullptr ? *lanes_[0] : *all_; }
  [[nodiscard]] Lane& lane_of(Scope scope) const { return *lanes_[static_cast<size_t>(scope)]; }
  Progress& progress_of(Scope scope) { return progress_[static_cast<size_t>(scope)]; }
  void start_phases(const Plan::Part& part, const Call& call, const CallRecord& record,
                    uint32_t chain);
  Advance advance_phases();
  bool advance_scope(Scope scope);
  bool start_next(Scope scope, Progress& progress);
  [[nodiscard]] std::byte* address_of(const Ref& ref);
  void bind(const ComposedPlan::Phase& phase, Call& call);
  void move(const ComposedPlan::Phase& phase);
  void finish();

  const std::unique_ptr<Lane> all_;
  const std::array<std::unique_ptr<Lane>, kScopes> lanes_;

  // The composition that runs; null between such calls.
  const ComposedPlan* composed_ = nullptr;
  const Call* arguments_ = nullptr;
  uint64_t offset_ = 0;
  CallRecord record_{};
  uint32_t chain_ = 0;
  std::array<Progress, kScopes> progress_{};
  std::array<Call, kScopes> calls_{};
  const Lane* failed_ = nullptr;
  std::vector<CacheLine> scratch_;
};

}  // namespace tutti
