// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "sched/builder.hpp"

namespace tutti {
namespace {

Step step_of(StepKind kind, uint64_t bytes = 0) {
  Step step{};
  step.kind = kind;
  step.bytes = bytes;
  return step;
}

}  // namespace

void Builder::copy(Ref dst, Ref src, uint64_t bytes, bool non_temporal) {
  if (bytes == 0 || dst == src) return;
  Step step = step_of(StepKind::kCopy, bytes);
  step.non_temporal = non_temporal;
  step.dst = dst;
  step.src = src;
  schedule_.steps.push_back(step);
}

void Builder::pull(Ref dst, Ref src, uint64_t bytes, bool non_temporal) {
  if (bytes == 0) return;
  Step step = step_of(StepKind::kPull, bytes);
  step.non_temporal = non_temporal;
  step.peer = src.peer();
  step.dst = dst;
  step.src = src;
  schedule_.steps.push_back(step);
}

void Builder::write_head(Ref head, Ref src, uint64_t bytes) {
  Step step = step_of(StepKind::kWriteHead, bytes);
  step.dst = head;
  step.src = src;
  schedule_.steps.push_back(step);
}

void Builder::expect(Ref head, uint64_t bytes) {
  Step step = step_of(StepKind::kExpect, bytes);
  step.peer = head.peer();
  step.src = head;
  schedule_.steps.push_back(step);
}

void Builder::reduce(Ref dst, std::span<const Ref> sources, uint64_t bytes, bool finishes,
                     bool non_temporal) {
  if (bytes == 0 || sources.empty()) return;
  if (sources.size() == 1 && !finishes) return copy(dst, sources[0], bytes, non_temporal);
  Step step = step_of(StepKind::kReduce, bytes);
  step.finishes = finishes;
  step.non_temporal = non_temporal;
  step.dst = dst;
  step.first_source = static_cast<uint32_t>(schedule_.sources.size());
  step.source_count = static_cast<uint32_t>(sources.size());
  schedule_.sources.insert(schedule_.sources.end(), sources.begin(), sources.end());
  schedule_.steps.push_back(step);
}

void Builder::send(int peer, Ref src, uint64_t bytes) {
  if (bytes > 0) send_even_empty(peer, src, bytes);
}

void Builder::recv(int peer, Ref dst, uint64_t bytes) {
  if (bytes > 0) recv_even_empty(peer, dst, bytes);
}

void Builder::send_even_empty(int peer, Ref src, uint64_t bytes) {
  Step step = step_of(StepKind::kSend, bytes);
  step.peer = peer;
  step.src = src;
  schedule_.steps.push_back(step);
  sends_pending_ = true;
}

void Builder::recv_even_empty(int peer, Ref dst, uint64_t bytes) {
  Step step = step_of(StepKind::kRecv, bytes);
  step.peer = peer;
  step.dst = dst;
  schedule_.steps.push_back(step);
}

void Builder::fence() {
  if (!sends_pending_) return;
  schedule_.steps.push_back(step_of(StepKind::kFence));
  sends_pending_ = false;
}

void Builder::export_buffers() {
  schedule_.exports_buffers = true;
  publish(1);
}

void Builder::publish(uint32_t tick) {
  Step step = step_of(StepKind::kPublish);
  step.tick = tick;
  schedule_.steps.push_back(step);
  ticks(tick);
}

void Builder::await(int peer, uint32_t tick) {
  Step step = step_of(StepKind::kAwait);
  step.peer = peer;
  step.tick = tick;
  schedule_.steps.push_back(step);
}

Ref Builder::scratch(uint64_t bytes) {
  const Ref place = Ref::of(Space::kScratch, schedule_.scratch_bytes);
  schedule_.scratch_bytes += whole_lines(bytes);
  return place;
}

}  // namespace tutti
