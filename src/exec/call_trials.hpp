// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where calls of one kind can be run by several algorithms (Plan::Part::other_arms), finds out
// which is fastest while the program runs. One rank of the lane, the coordinator, times calls. With
// its entry into each it announces which arm the next takes: whoever ends a call has seen that
// entry, so nobody waits for it. Each lane finds out for itself. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "adapt/bandit.hpp"
#include "adapt/sampler.hpp"
#include "exec/plan.hpp"
#include "transports/transport.hpp"

namespace tutti {

// What is known of calls of one kind.
struct Trial {
  Bandit bandit;  // of the coordinator; seconds per byte of a block
  Arm next = Arm::kFirst;
  uint32_t last_call = 0;      // that was timed
  Arm last_arm = Arm::kFirst;  // that it took
  double ended_s = 0;          // when it ended
};

class CallTrials {
 public:
  // What a call is, for its time to be judged.
  struct Timed {
    uint32_t call;
    uint64_t block_bytes;
    int ranks;
    bool fits_slots;     // calls of this kind may go through slots
    bool slots_are_new;  // and the memory of those that it used has just been made
  };

  explicit CallTrials(int rank) : rank_(rank) {}

  // Begins a call of a plan with other arms; returns the part that it runs instead of `part`.
  const Plan::Part& start(const Plan& plan, const Plan::Part& part, uint64_t block_bytes,
                          double now_s);
  [[nodiscard]] bool runs() const { return trial_ != nullptr; }
  [[nodiscard]] bool decides(const Plan& plan) const { return plan.coordinator == rank_; }
  // Writes which arm the next call takes, by the coordinator; all read it.
  void announce(std::byte* where);
  // The call waits. How late a peer comes says nothing about the arm, so the first wait of a call
  // does not count; `first`: this is it.
  void waits(bool first, double now_s);
  // The call goes over to another schedule, so that its time says nothing.
  void forget_time() { timed_from_s_ = 0; }
  // The call ended. `told` is what the coordinator has written.
  void finish(const Plan& plan, const Plan::Part& part, Collective collective, const Timed& timed,
              const std::byte* told);
  void abandon() { trial_ = nullptr; }

 private:
  [[nodiscard]] CallSample sample_of(const Plan& plan, const Plan::Part& part,
                                     Collective collective, const Timed& timed, double end_s) const;
  void learn(const CallSample& sample, uint32_t call);
  void log_choice(const Plan& plan, Collective collective, uint64_t bytes) const;

  const int rank_;
  Trial* trial_ = nullptr;   // of the call that runs
  Arm arm_ = Arm::kFirst;    // that it takes
  double timed_from_s_ = 0;  // 0: not timed
  double wait_began_s_ = 0;  // the first one; 0: not yet
  double wait_ended_s_ = 0;
  std::unordered_map<uint64_t, Trial> trials_;  // by Plan::bandit_key
};

}  // namespace tutti
