// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of a call that devices run. Copies go to the engine that copies, reductions to the one
// that computes; each begins when the other has ended what it was given.
#include <algorithm>

#include "devices/reduce_in_parts.hpp"
#include "views/direct_call.hpp"

namespace tutti {

// Whether the device has done all that it was given.
Result<bool> DirectCall::at_rest(uint32_t microseconds) {
  Result<bool> done = work_.done(microseconds);
  if (done.ok() && !*done) waits_ = State::kForDevice;
  return done;
}

Status DirectCall::give(const Step& step, devices::DeviceEngine& engine) {
  work_.begin(engine);
  if (step.kind != StepKind::kReduce) {
    return engine.copy(address(step.dst), address(step.src), step.bytes);
  }
  std::vector<const void*> sources;
  const Ref* const refs = plan_->schedule.sources.data() + step.first_source;
  for (uint32_t i = 0; i < step.source_count; ++i) sources.push_back(address(refs[i]));
  const bool divides = call_.op == ReduceOp::kAvg && step.finishes;
  const bool sums = call_.op == ReduceOp::kPremulSum || (call_.op == ReduceOp::kAvg && !divides);
  const devices::Reduction reduction{.op = sums ? ReduceOp::kSum : call_.op,
                                     .type = call_.type,
                                     .dst = address(step.dst),
                                     .sources = sources,
                                     .count = step.bytes / type_size(call_.type),
                                     .divisor = divides ? static_cast<uint32_t>(comm_.ranks()) : 0};
  return reduce_in_parts(engine, reduction, {memory_.between.data(), memory_.bytes_between});
}

// Takes the memory that its reductions need besides.
Status DirectCall::take_between() {
  for (const Step& step : plan_->schedule.steps) {
    if (step.kind != StepKind::kReduce) continue;
    memory_.bytes_between = std::max(
        memory_.bytes_between, devices::bytes_between_parts(call_.op, call_.type, step.source_count,
                                                            step.bytes / type_size(call_.type)));
  }
  Result<Stage::Memory> taken = stage_.take(memory_.bytes_between, devices::MemoryKind::kDevice);
  if (taken.ok()) memory_.between = *std::move(taken);
  return taken.status();
}

// Tells all that this rank has come to the tick: what it was to do before is done. Each tick is a
// barrier, so all ranks go through all of them.
Result<bool> DirectCall::join(uint32_t tick, uint32_t microseconds) {
  if (ticks_.size() + 1 >= tick) return true;
  Result<bool> rests = at_rest(microseconds);
  if (!rests.ok() || !*rests) return rests;
  while (ticks_.size() + 1 < tick) {
    Result<std::unique_ptr<Operation>> begun = start(Call{});
    if (!begun.ok()) return begun.status();
    ticks_.push_back(*std::move(begun));
  }
  return true;
}

Result<bool> DirectCall::reached(uint32_t tick) {
  for (size_t i = 0; i + 1 < tick; ++i) {
    Result<bool> over = ended(ticks_[i]);
    if (!over.ok() || !*over) return over;
  }
  return true;
}

// Whether the next step may come.
Result<bool> DirectCall::run(const Step& step, uint32_t microseconds) {
  switch (step.kind) {
    case StepKind::kPublish: return join(step.tick, microseconds);
    case StepKind::kAwait: {
      TUTTI_RETURN_IF_ERROR(work_.submit());  // which goes on meanwhile
      Result<bool> joined = join(step.tick, microseconds);
      if (!joined.ok() || !*joined) return joined;
      return reached(step.tick);
    }
    default: break;
  }
  Result<devices::DeviceEngine*> engine = &stage_.in();
  if (step.kind == StepKind::kReduce) engine = stage_.compute();
  if (!engine.ok()) return engine.status();
  if (work_.engine() != nullptr && work_.engine() != *engine) {
    Result<bool> rests = at_rest(microseconds);
    if (!rests.ok() || !*rests) return rests;
  }
  if (Status given = give(step, **engine); !given.ok()) return given;
  return true;
}

Result<bool> DirectCall::run(uint32_t microseconds) {
  return plan_->shares ? run_shares() : run_steps(microseconds);
}

Result<bool> DirectCall::run_shares() {
  if (shares_ == nullptr) {
    const auto address_of = [this](int rank, Space space) {
      if (rank != comm_.rank())
        return base(space == Space::kSend ? Space::kPeerSend : Space::kPeerRecv, rank);
      return base(space, 0);
    };
    shares_ = std::make_unique<ShareRun>(comm_, stage_, call_, *plan_->shares, address_of);
  }
  const Result<bool> over = shares_->push();
  waits_ = shares_->waits_for_device() ? State::kForDevice : State::kForPeers;
  return over;
}

Result<bool> DirectCall::run_steps(uint32_t microseconds) {
  const std::vector<Step>& steps = plan_->schedule.steps;
  while (next_ < steps.size()) {
    Result<bool> over = run(steps[next_], microseconds);
    if (!over.ok() || !*over) return over;
    ++next_;
  }
  Result<bool> joined = join(plan_->schedule.ticks, microseconds);
  if (!joined.ok() || !*joined) return joined;
  Result<bool> rests = at_rest(microseconds);
  if (!rests.ok() || !*rests) return rests;
  return reached(plan_->schedule.ticks);
}

}  // namespace tutti
