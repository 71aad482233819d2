// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Finds out while the program runs which arm (adapt/arms.hpp) of a kind of calls is the fastest.
// One rank of a lane, the coordinator, times calls. With its entry into each call it announces
// which arm the next one takes. A rank that ends a call has seen that entry, so nobody waits for
// it. Each lane finds out for itself. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "adapt/arms.hpp"
#include "adapt/bandit.hpp"
#include "adapt/sampler.hpp"
#include "core/types.hpp"

namespace tutti {

class CallTrials {
 public:
  // A call that has ended, for its time to be judged.
  struct Ended {
    Collective collective;
    uint64_t block_bytes;
    int ranks;
    bool reads_peers;    // the arm that it took
    bool slots_are_new;  // the memory of those that it used has just been made
    double at_s;
  };

  explicit CallTrials(int rank) : rank_(rank) {}

  // Begins a call, at `now_s` if this rank is to time it, else 0. Returns which arm it takes, less
  // than the number of names.
  size_t start(const Arms& arms, uint64_t block_bytes, double now_s);
  [[nodiscard]] bool runs() const { return trial_ != nullptr; }
  [[nodiscard]] bool decides(const Arms& arms) const { return arms.coordinator == rank_; }
  [[nodiscard]] bool is_timed() const { return timed_from_s_ > 0; }
  // Writes which arm the next call takes, by the coordinator; all read it.
  void announce(std::byte* where);
  // The call waits. How late a peer comes says nothing about the arm, so the first wait of a call
  // does not count; `first`: this is it.
  void note_wait(bool first, double now_s);
  // The call goes over to another schedule, so that its time says nothing.
  void forget_time() { timed_from_s_ = 0; }
  // The call ended. `told` is what the coordinator has written.
  void finish(const Arms& arms, const Ended& ended, const std::byte* told);
  void abandon() { trial_ = nullptr; }

 private:
  // The knowledge of calls of one kind.
  struct Trial {
    Bandit bandit;  // the coordinator's bandit; its times are seconds per byte of a block
    Arm next = Arm::kFirst;
  };

  void learn(const Ended& ended);
  void log_choice(const Arms& arms, const Ended& ended) const;

  const int rank_;
  Trial* trial_ = nullptr;   // of the call that runs; null: none
  Arm arm_ = Arm::kFirst;    // of the call that runs
  double timed_from_s_ = 0;  // 0: not timed
  double wait_began_s_ = 0;  // the first one; 0: not yet
  double wait_ended_s_ = 0;
  std::unordered_map<uint64_t, Trial> trials_;  // by Arms::key
};

}  // namespace tutti
