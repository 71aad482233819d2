// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The plans of a communicator's calls, or of those that devices run (views/view_queue.hpp), made
// when a call of their kind comes first. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "exec/plan.hpp"

namespace tutti {

// A quick comparison of two calls of a rank: equal kinds share a plan, as long as the layouts live.
// The distance of the buffers stands for whether they are in place, so some calls that share a plan
// have different kinds.
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
  const BlockLayouts* layouts;
  friend bool operator==(const CallKind&, const CallKind&) = default;
};

class PlanCache {
 public:
  // `choose` replaces the one of the context.
  PlanCache(const PlanContext& context, Choose choose);
  PlanCache(const PlanCache&) = delete;

  [[nodiscard]] const PlanContext& context() const { return context_; }
  // The plan of the last call; null if there was none.
  [[nodiscard]] const Plan* last() const { return last_plan_.get(); }
  // Null if no algorithm applies. The reference is good until the next call.
  const std::shared_ptr<const Plan>& find(const Call& call) {
    if (last_plan_ != nullptr && last_kind_ == CallKind(call)) [[likely]]
      return last_plan_;
    return find_another(call);
  }

 private:
  const std::shared_ptr<const Plan>& find_another(const Call& call);

  const Choose choose_;
  PlanContext context_;
  CallKind last_kind_{Call{}};
  PlanKey last_key_{};                     // keeps the layouts of last_kind_ alive
  std::shared_ptr<const Plan> last_plan_;  // the plan of last_kind_
  std::unordered_map<PlanKey, std::shared_ptr<const Plan>, PlanKeyHash> plans_;
  size_t steps_ = 0;  // of all plans
};

}  // namespace tutti
