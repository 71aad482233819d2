// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs schedules on numbers, ranks interleaved at random, several calls in a row: what the verifier
// says of all orders can be tried here for some, by code that shares nothing with it.
#pragma once

#include <array>
#include <random>
#include <span>
#include <vector>

#include "sched/problem.hpp"
#include "sched/schedule.hpp"

namespace tutti {

class RandomRun {
 public:
  RandomRun(std::span<const Schedule> schedules, const Problem& problem, uint64_t seed);

  // False: the ranks got stuck.
  bool run();

  // A byte of memory is a number that tells what was reduced into it.
  using Bytes = std::vector<uint64_t>;
  // The memory of each rank's receive buffer after each call.
  [[nodiscard]] const std::vector<Bytes>& results() const { return results_; }

 private:
  struct Send {
    int peer;
    Ref src;
    uint64_t bytes;
    bool eager;  // the transport has taken a copy
    bool received;
    Bytes copy;
  };
  struct Rank {
    uint32_t call = 0;
    uint32_t tick = 0;  // counted over all calls
    size_t at = 0;      // the next step
    bool begun = false;
    std::vector<Send> sends;
    std::array<Bytes, 3> own;                         // send, recv, scratch
    std::array<std::array<Bytes, 2>, 2> alternating;  // line, slot
    Bytes window;
  };

  bool advance(int rank);
  void begin(int rank);
  bool end(int rank);
  bool execute(int rank, const Step& step);
  void reduce(int rank, const Step& step);
  void send(int rank, const Step& step);
  bool recv(int rank, const Step& step);
  bool sends_complete(int rank);
  bool reached(int rank, int peer, uint32_t tick);
  uint64_t* at(int rank, const Ref& ref);
  Rank& rank_of(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  [[nodiscard]] const Schedule& schedule(int rank) const {
    return schedules_[static_cast<size_t>(rank)];
  }

  std::span<const Schedule> schedules_;
  const Problem& problem_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<Bytes> results_;
};

}  // namespace tutti
