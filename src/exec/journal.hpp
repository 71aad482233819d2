// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What calls this rank has made, to compare with those of ranks that it shares no memory with.
//
// Ranks of one host see from one another's entries whether their calls match. Over a network only a
// message tells, and calls that do not match may exchange none: each rank waits for one that the
// other never sends. So a rank that has waited for a while in a call asks whom it waits for, over
// the line that keeps the ranks in touch, by saying which call that is. Whoever is asked compares
// it with its own call of that number, now or when it comes to it; one that has not come so far
// answers with the last call it made, which is told if the wait ends at its deadline.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "core/status.hpp"
#include "exec/call.hpp"

namespace tutti {

// A call as told to another rank. No padding: it travels as it lies.
struct CallNote {
  uint64_t sequence = 0;  // 0: none was made
  uint64_t count = 0;
  int32_t root = -1;
  uint8_t collective = 0;
  uint8_t type = 0;
  uint8_t op = 0;
  uint8_t asks = 0;    // whether the sender waits in it for who is told; else it answers
  uint32_t chain = 0;  // of the signatures of all calls up to it
  uint32_t reserved = 0;
};
static_assert(sizeof(CallNote) == 32);

// Any thread.
class Journal {
 public:
  // Tells one rank of the communicator; does not block.
  using Tell = std::function<void(int rank, const CallNote& note)>;
  Journal(int rank, Tell tell) : rank_(rank), tell_(std::move(tell)) {}

  // This rank makes a call. An error if a rank that waits in the call of that number made another.
  Status enter(const CallRecord& record, uint32_t signature);
  // This rank waits for `peer` in the call of that number.
  void ask(int peer, uint64_t sequence);
  // What another rank told; `note` is checked. An error as of enter().
  Status heard(int peer, std::span<const std::byte> note);
  // "; rank 2 had not entered the call, its last was barrier #7", if it has answered that.
  [[nodiscard]] std::string answer_of(int peer, uint64_t sequence) const;

 private:
  // As many calls as it can compare.
  static constexpr uint64_t kKept = 256;

  [[nodiscard]] const CallNote& kept(uint64_t sequence) const { return calls_[sequence % kKept]; }
  [[nodiscard]] Status compare(int peer, const CallNote& theirs) const;

  const int rank_;
  const Tell tell_;
  mutable std::mutex mutex_;
  std::array<CallNote, kKept> calls_{};  // guarded by mutex_; by sequence
  uint64_t last_ = 0;                    // guarded by mutex_; sequence of the last call
  std::map<int, CallNote> told_;         // guarded by mutex_; by rank, the last that it told
};

}  // namespace tutti
