// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of a lane that work: copies, reductions, reads of peers, messages.
#include <fmt/format.h>

#include <cstring>

#include "exec/lane.hpp"

namespace tutti {

void Lane::copy(const Step& step, const std::byte* src) {
  const CopyHint hint = staging_.hint_of(step, *part_);
  if (!step.with_next) return engine_.copy(addresses_.of(step.dst), src, step.bytes, hint);
  const Step& next = part_->schedule.steps[++next_];
  engine_.copy(addresses_.of(step.dst), hint, addresses_.of(next.dst),
               staging_.hint_of(next, *part_), src, step.bytes);
}

void Lane::reduce(const Step& step) {
  const Ref* refs = part_->schedule.sources.data() + step.first_source;
  const std::span<const void*> sources = engine_.sources();
  for (uint32_t i = 0; i < step.source_count; ++i) sources[i] = addresses_.of(refs[i]);
  ReduceOptions options{.divisor = step.finishes ? plan_->divisor : 0,
                        .stream = staging_.is_non_temporal(step, *part_)};
  if (step.with_next) {
    const Step& copy = part_->schedule.steps[++next_];
    options.copy = addresses_.of(copy.dst);
    options.stream_copy = staging_.is_non_temporal(copy, *part_);
  }
  std::byte* const dst = addresses_.of(step.dst);
  const size_t count = step.bytes / plan_->element_bytes;
  if (plan_->kernel != nullptr) [[likely]]
    return plan_->kernel(dst, sources.data(), step.source_count, count, options);
  engine_.reduce_by_function(*arguments_, plan_->element_bytes, dst, step.source_count, count,
                             options, function_note_, record_);
}

// The source is an address of the peer's process.
bool Lane::pull(const Step& step) {
  const auto from = reinterpret_cast<uint64_t>(addresses_.of(step.src));
  if (!reader_.asks()) {
    if (const std::byte* seen = window_->view(step.peer, from, step.bytes)) {
      copy(step, seen);
      return true;
    }
  }
  const Result<bool> read = reader_.read(step.peer, addresses_.of(step.dst), from, step.bytes);
  return read.ok() ? *read : fail(read.status());
}

void Lane::show(const Step& step) {
  const BlockHead head{step.bytes};
  std::memcpy(addresses_.of(step.dst), &head, sizeof head);
}

bool Lane::expect(const Step& step) {
  BlockHead head;
  std::memcpy(&head, addresses_.of(step.src), sizeof head);
  if (head.bytes == step.bytes) [[likely]]
    return true;
  return fail(faults().of_size(step.peer, step.bytes, fmt::format("{} bytes", head.bytes)));
}

bool Lane::receive(const Step& step) {
  messages_.post(part_->schedule, part_->receives, next_,
                 [this](const Ref& ref) { return addresses_.of(ref); });
  switch (messages_.receive(step.peer, step.bytes)) {
    case StepMessages::Received::kDone: return true;
    case StepMessages::Received::kNotYet: return false;
    case StepMessages::Received::kFailed: return fail(messages_.failed());
    case StepMessages::Received::kLeft: return fail(faults().has_destroyed(step.peer));
    case StepMessages::Received::kOtherSize:
      return fail(faults().of_size(step.peer, step.bytes, messages_.received()));
    case StepMessages::Received::kOtherCall:
      stranger_ = names_.number_of(step.peer);
      return fail(faults().of_stranger(step.peer));
  }
  return false;
}

bool Lane::sends_done() {
  if (messages_.sends_done()) return true;
  return messages_.failed().ok() ? false : fail(messages_.failed());
}

}  // namespace tutti
