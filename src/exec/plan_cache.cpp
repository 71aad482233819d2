// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Makes plans, and forgets all of them once they hold too much.
#include "exec/plan_cache.hpp"

#include <utility>

namespace tutti {
namespace {

// The cache is emptied when it holds more: about 6 MB.
constexpr size_t kMostSteps = 100'000;

}  // namespace

PlanCache::PlanCache(const PlanContext& context, Choose choose)
    : choose_(std::move(choose)), context_(context) {
  context_.choose = &choose_;
}

const std::shared_ptr<const Plan>& PlanCache::find_another(const Call& call) {
  const PlanKey key = plan_key(call, context_.rank);
  if (last_plan_ != nullptr && key == last_key_) {
    last_kind_ = CallKind(call);
    last_key_.layouts = call.layouts;
    return last_plan_;
  }
  std::shared_ptr<const Plan>& plan = plans_[key];
  if (plan == nullptr) {
    plan = make_plan(call, key, context_);
    if (plan == nullptr) {
      static const std::shared_ptr<const Plan> kNone;
      plans_.erase(key);
      return kNone;
    }
    steps_ += plan->steps();
  }
  last_kind_ = CallKind(call);
  last_key_ = key;
  last_plan_ = plan;
  if (steps_ > kMostSteps) {
    plans_.clear();
    steps_ = 0;
  }
  return last_plan_;
}

}  // namespace tutti
