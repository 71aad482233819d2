// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How calls are compared to find out whether they share a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "exec/call.hpp"

namespace tutti {

// Calls with equal keys share a plan.
struct PlanKey {
  Collective collective;
  DataType type;
  ReduceOp op;
  Purpose purpose;
  bool in_place;
  int root;
  uint64_t count;
  std::shared_ptr<const BlockLayouts> layouts;
  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.collective == b.collective && a.type == b.type && a.op == b.op &&
           a.purpose == b.purpose && a.in_place == b.in_place && a.root == b.root &&
           a.count == b.count &&
           (a.layouts == b.layouts ||
            (a.layouts != nullptr && b.layouts != nullptr && *a.layouts == *b.layouts));
  }
};
struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const;
};

// Whether the buffers of the call coincide, as its collective allows.
bool is_in_place(const Call& call, int rank);
PlanKey plan_key(const Call& call, int rank);

}  // namespace tutti
