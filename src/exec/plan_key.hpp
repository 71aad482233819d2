// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How calls are compared to find out whether they share a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "exec/call.hpp"

namespace tutti {

// A quick comparison of two calls of a rank: equal kinds share a plan, as long as the layouts live.
// It has the distance of the buffers instead of whether they are in place, so some calls that share
// a plan have different kinds.
struct CallKind {
  explicit CallKind(const Call& call)
      : bits(static_cast<uint64_t>(call.collective) | static_cast<uint64_t>(call.type) << 8 |
             static_cast<uint64_t>(call.op) << 16 | static_cast<uint64_t>(call.purpose) << 24 |
             static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 32),
        count(call.count),
        apart(reinterpret_cast<uintptr_t>(call.recv) - reinterpret_cast<uintptr_t>(call.send)),
        layouts(call.layouts.get()) {}
  uint64_t bits;
  uint64_t count;
  uint64_t apart;
  const Layouts* layouts;
  friend bool operator==(const CallKind&, const CallKind&) = default;
};

// Calls with equal keys share a plan.
struct PlanKey {
  Collective collective;
  DataType type;
  ReduceOp op;
  Purpose purpose;
  bool in_place;
  int root;
  uint64_t count;
  std::shared_ptr<const Layouts> layouts;
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
