// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a communicator stop together, and how those that are left go on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/life_sign.hpp"
#include "core/status.hpp"
#include "core/wait.hpp"
#include "transports/endpoint.hpp"

namespace tutti {

// State by which a communicator's ranks on one host find one another besides messages;
// exec/health.hpp says who writes what.
struct alignas(kCacheLine) SharedState {
  std::atomic<uint32_t> stop;        // non-zero: the communicator is broken; the cause is written
  std::atomic<uint32_t> cause_lock;  // taken by the first to report
  uint32_t cause_code;               // a tutti_status
  uint32_t cause_rank;               // who reported it
  char cause_text[1008];             // NUL-terminated
};

// Memory in which ranks of one host that survive a failure agree on who they are; comm/regroup.hpp
// says who writes what. Each rank has one.
struct alignas(2 * kCacheLine) RegroupSign {
  static constexpr size_t kMostContributionBytes = 160;
  std::atomic<uint32_t> round;  // round that the rank takes part in
  std::atomic<uint32_t> taken;  // the last one that was decided to have it
  uint32_t bytes[2];            // length of its contribution in even and odd rounds
  std::byte contribution[2][kMostContributionBytes];
};
// The decision of each round. `coordinator` is the round in the high half, 1 + the rank that
// decides in the low one.
struct alignas(2 * kCacheLine) RegroupDecision {
  std::atomic<uint64_t> coordinator;
  std::atomic<uint32_t> round;  // the last that was decided
};
struct RegroupBoard {
  RegroupDecision* decision = nullptr;
  std::span<RegroupSign> signs;  // by rank
};

// A rank's word that it leaves the communicator: it has made its last call and sent its last
// message. Endpoints within the host and calls look here.
struct alignas(2 * kCacheLine) Departure {
  std::atomic<uint32_t> left;  // not zero: it has; the rest precedes it
  uint32_t bytes;
  std::byte last_words[kMostLastWords];  // words given to Endpoint::leave()
};
static_assert(sizeof(Departure) == 2 * kCacheLine);

class Recovery {
 public:
  // Null if the ranks share no memory.
  virtual SharedState* shared_state() = 0;
  // Empty if they share none.
  virtual RegroupBoard regroup_board() { return {}; }
  // The departure of a rank of this host; null if they share no memory.
  virtual const Departure* departure(int /*rank*/) { return nullptr; }
  // Whether a rank of this host has left; of others that is not known here.
  [[nodiscard]] bool has_left(int rank) {
    const Departure* const its = departure(rank);
    return its != nullptr && its->left.load(std::memory_order_acquire) != 0;
  }
  // The life sign of a rank of this host, signed by its monitor; null if they share none.
  virtual LifeSign* life_sign(int /*rank*/) { return nullptr; }
  // The communicator has failed for this reason: a peer may be gone, so nothing shall wait for one
  // any more. Any thread may say so, any number of times.
  virtual void has_failed(Code /*why*/) {}

 protected:
  ~Recovery() = default;  // a transport owns it
};

}  // namespace tutti
