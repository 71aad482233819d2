// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The schedule of a collective that devices run.
#include "views/peer_to_peer.hpp"
#include "views/view_queue.hpp"

namespace tutti {

// Copies go to the engine that copies, reductions to the one that computes; each begins when the
// other has ended what it was given. Each tick is a barrier, so all ranks go through all of them.
Task PeerToPeerCall::run_steps() {
  std::deque<HostCall> ticks;  // 2, 3, ... as far as this rank has come
  Step last{};
  last.kind = StepKind::kAwait;
  last.tick = schedule().ticks;
  for (size_t next = 0; next <= schedule().steps.size(); ++next) {
    const bool ends = next == schedule().steps.size();
    const Step& step = ends ? last : schedule().steps[next];
    if (step.kind != StepKind::kPublish && step.kind != StepKind::kAwait) {
      Result<devices::DeviceEngine*> engine = engine_for(step);
      TUTTI_OR_FAIL(engine.status());
      if (work_.engine() != *engine) co_await work_;
      TUTTI_OR_FAIL(give(step, **engine));
      continue;
    }
    TUTTI_OR_FAIL(work_.submit());  // the device goes on meanwhile
    if (ends || ticks.size() + 1 < step.tick) co_await work_;
    while (ticks.size() + 1 < step.tick) {
      ticks.emplace_back(device_call_.activity, device_call_.comm);
      TUTTI_OR_FAIL(ticks.back().start(Call{.collective = Collective::kBarrier}));
    }
    if (step.kind == StepKind::kPublish) continue;
    for (size_t i = 0; i + 1 < step.tick; ++i) {
      HostCall& tick = ticks[i];
      co_await tick;
    }
  }
}

Result<devices::DeviceEngine*> PeerToPeerCall::engine_for(const Step& step) {
  return step.kind == StepKind::kReduce ? device_call_.side.compute()
                                        : &device_call_.side.from_device();
}

Status PeerToPeerCall::give(const Step& step, devices::DeviceEngine& engine) {
  const Call& call = device_call_.call;
  work_.begin(engine);
  if (step.kind != StepKind::kReduce) {
    return engine.copy(address(step.dst), address(step.src), step.bytes);
  }
  std::vector<const void*> sources;
  const Ref* const refs = schedule().sources.data() + step.first_source;
  for (uint32_t i = 0; i < step.source_count; ++i) sources.push_back(address(refs[i]));
  const bool divides = call.op == ReduceOp::kAvg && step.finishes;
  return engine.reduce({
      .op = call.op,
      .type = call.type,
      .dst = address(step.dst),
      .sources = sources,
      .count = step.bytes / type_size(call.type),
      .divisor = divides ? static_cast<uint32_t>(device_call_.comm.ranks()) : 0,
      .between = {reduce_scratch_.data(), reduce_scratch_bytes_},
  });
}

}  // namespace tutti
