// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs sequences of calls on the lanes of all ranks (watched_lane.hpp), step by step in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/fake_transport.hpp"
#include "exec/plan.hpp"
#include "proof/watched_lane.hpp"

namespace tutti {

struct ModelOptions {
  int ranks = 2;
  bool oversubscribed = false;
  Limits limits;
  Omission omission = Omission::kNothing;
};

// A call of one rank.
struct ModelCall {
  Call call;
  std::shared_ptr<const Plan> plan;
};

class SequenceModel {
 public:
  // All ranks make these calls in this order, `calls[rank]`.
  using Calls = std::vector<std::vector<ModelCall>>;
  SequenceModel(const ModelOptions& options, Calls calls);

  // Runs all to the end, in an order that follows from the seed. Returns what went wrong; empty:
  // nothing did.
  std::string run(uint32_t seed);

 private:
  struct Rank {
    std::unique_ptr<WatchedLane> lane;
    size_t ended = 0;  // calls
    bool runs = false;
  };
  bool advance(int number);
  [[nodiscard]] bool is_through(const Rank& rank) const { return rank.ended == calls_[0].size(); }

  const Calls calls_;
  SharedState state_{};
  FakeTransport transport_{state_};
  Witness witness_;
  std::vector<Rank> ranks_;
};

}  // namespace tutti
