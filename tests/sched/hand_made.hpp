// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Schedules written by hand for tests of the verifier.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/builder.hpp"
#include "sched/verify.hpp"

namespace tutti {

inline constexpr Ref send_at(uint64_t offset) { return Ref::of(Space::kSend, offset); }
inline constexpr Ref recv_at(uint64_t offset) { return Ref::of(Space::kRecv, offset); }
inline constexpr Ref line_at(int rank, uint64_t offset = 0) {
  return Ref::of(Space::kLine, offset, rank);
}
inline constexpr Ref slot_at(int rank, uint64_t offset = 0) {
  return Ref::of(Space::kSlot, offset, rank);
}
inline constexpr Ref window_at(int rank, uint64_t offset = 0) {
  return Ref::of(Space::kWindow, offset, rank);
}

class HandMade {
 public:
  // `count` elements of 4 bytes.
  HandMade(Collective collective, int ranks, uint64_t count)
      : schedules(static_cast<size_t>(ranks)) {
    problem.collective = collective;
    problem.ranks = ranks;
    problem.count = problem.stride = count;
    problem.element_bytes = 4;
    problem.limits = {{256}, 1024, 512};
    for (Schedule& schedule : schedules) builders_.emplace_back(schedule);
  }

  // The builders know where the schedules lie, which a move does not change.
  HandMade(HandMade&&) = default;
  HandMade& operator=(HandMade&&) = default;

  Builder& operator[](int rank) { return builders_[static_cast<size_t>(rank)]; }

  [[nodiscard]] Status proof(bool rank_order = false) const {
    return verify(schedules, problem, {"by hand", rank_order});
  }

  Problem problem;
  std::vector<Schedule> schedules;

 private:
  std::vector<Builder> builders_;
};

// Every rank stages its 8 elements in its slot and reduces all slots.
inline HandMade one_shot(int ranks) {
  HandMade made(Collective::kAllreduce, ranks, 8);
  std::vector<Ref> slots;
  for (int rank = 0; rank < ranks; ++rank) slots.push_back(slot_at(rank));
  for (int rank = 0; rank < ranks; ++rank) {
    made[rank].copy(slot_at(rank), send_at(0), 32);
    made[rank].publish(1);
    made[rank].await_all(1);
    made[rank].reduce(recv_at(0), slots, 32, true);
  }
  return made;
}

// Two ranks swap their 8 elements, each into block `peer` of its receive buffer.
inline HandMade swap_messages() {
  HandMade made(Collective::kAllgather, 2, 8);
  made.problem.limits = {};
  for (const int rank : {0, 1}) {
    made[rank].send(1 - rank, send_at(0), 32);
    made[rank].copy(recv_at(static_cast<uint64_t>(rank) * 32), send_at(0), 32);
    made[rank].recv(1 - rank, recv_at(static_cast<uint64_t>(1 - rank) * 32), 32);
  }
  return made;
}

inline void expect_proof(const HandMade& made, bool rank_order = false) {
  const Status status = made.proof(rank_order);
  EXPECT_TRUE(status.ok()) << status.message();
}

// The whole sentence behind the description of the problem.
inline void expect_fault(const HandMade& made, const std::string& sentence,
                         bool rank_order = false) {
  const Status status = made.proof(rank_order);
  ASSERT_FALSE(status.ok()) << "expected: " << sentence;
  const std::string message(status.message());
  EXPECT_EQ(message.substr(message.find(": ") + 2), sentence);
}

}  // namespace tutti
