// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The steps of a lane that work: arithmetic, pulls, messages.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/log.hpp"
#include "exec/lane.hpp"

namespace tutti {
namespace {

// A user's function is called on pieces of this size, which stay in the first-level cache.
constexpr size_t kAccumulatorBytes = 16 << 10;

// Messages of a call carry its number, to match by, and the chain of signatures up to it, to
// compare.
Tag tag_of(uint32_t call, uint32_t chain) { return Tag{call} << 32 | chain; }
constexpr Tag kCallMask = ~Tag{0} << 32;

// Posted at once by a lane.
constexpr size_t kMostReceives = 8;

}  // namespace

// ---- arithmetic --------------------------------------------------------------------------------

void Lane::reduce(const Step& step) {
  const Ref* refs = part_->schedule.sources.data() + step.first_source;
  for (uint32_t i = 0; i < step.source_count; ++i) sources_[i] = address(refs[i]);
  const size_t count = step.bytes / plan_->element_bytes;
  if (plan_->kernel == nullptr) {
    return reduce_with_user_function(address(step.dst), step.source_count, count);
  }
  ReduceOptions options{.divisor = step.finishes ? plan_->divisor : 0,
                        .stream = goes_past_caches(step)};
  if (step.with_next) {
    const Step& copy = part_->schedule.steps[++next_];
    options.copy = address(copy.dst);
    options.stream_copy = goes_past_caches(copy);
  }
  plan_->kernel(address(step.dst), sources_.data(), step.source_count, count, options);
}

// Through a small accumulator, because dst may be any of the sources.
void Lane::reduce_with_user_function(void* dst, size_t k, size_t count) {
  const size_t size = plan_->element_bytes;
  const size_t most = kAccumulatorBytes / size;
  accumulator_.resize(kAccumulatorBytes);
  for (size_t done = 0; done < count;) {
    const size_t now = std::min(most, count - done);
    const auto piece = [&](const void* buffer) {
      return static_cast<const std::byte*>(buffer) + done * size;
    };
    std::memcpy(accumulator_.data(), piece(sources_[0]), now * size);
    for (size_t i = 1; i < k; ++i) {
      arguments_->binding->function(piece(sources_[i]), accumulator_.data(), now,
                                    static_cast<tutti_type>(arguments_->type),
                                    arguments_->binding->context);
    }
    std::memcpy(static_cast<std::byte*>(dst) + done * size, accumulator_.data(), now * size);
    done += now;
  }
}

CopyWay Lane::way_of(const Step& step) const {
  if (goes_past_caches(step)) return CopyWay::kPastCaches;
  if (step.src.base < kPrivateSpaces) {
    return part_->trades_slots ? CopyWay::kToRing : CopyWay::kToOthers;
  }
  // Peers are as far from this rank as it is from them, so most of them write their staging alike.
  if (peers_stage_past_caches()) return CopyWay::kFromMemory;
  return part_->is_long ? CopyWay::kLongFromOthers : CopyWay::kFromOthers;
}

void Lane::copy(const Step& step, const std::byte* src) {
  if (!step.with_next) return copy_bytes(address(step.dst), src, step.bytes, way_of(step));
  const Step& next = part_->schedule.steps[++next_];
  copy_twice(address(step.dst), way_of(step), address(next.dst), way_of(next), src, step.bytes);
}

// ---- what peers show ---------------------------------------------------------------------------

// `src` is an address of the peer's process.
bool Lane::pull(const Step& step, const std::byte* src) {
  const auto from = reinterpret_cast<uint64_t>(src);
  if (asking_) return ask_for(step, from);
  if (const std::byte* seen = window_->view(step.peer, from, step.bytes)) {
    copy(step, seen);
    return true;
  }
  const Status status = window_->pull(step.peer, address(step.dst), from, step.bytes);
  if (status.ok()) [[likely]]
    return true;
  if (status.code() == Code::kPeerFailed) {
    return fail({Code::kPeerFailed, name_of(step.peer) + " has died"});
  }
  // Of a communicator that was stopped, peers may have given up their buffers.
  const bool stopped = transport_.shared_state()->stop.load(std::memory_order_acquire) != 0;
  if (!said_asking_ && !stopped) {
    said_asking_ = true;
    log::warn("a buffer of {} cannot be read directly ({}): it is handed over, which is slower",
              name_of(step.peer), status.message());
  }
  asking_ = true;
  return ask_for(step, from);
}

// What cannot be pulled, step by step; the peer waits in the same call.
bool Lane::ask_for(const Step& step, uint64_t from) {
  const Result<bool> done = window_->ask_for(step.peer, address(step.dst), from, step.bytes);
  asking_ = done.ok() && !*done;
  if (done.ok()) return *done;
  return fail(done.status().with_context(
      fmt::format("the buffer of {} cannot be read to its end", name_of(step.peer))));
}

void Lane::show(const Step& step) {
  const BlockHead head{step.bytes};
  std::memcpy(address(step.dst), &head, sizeof head);
}

bool Lane::expect(const Step& step) {
  BlockHead head;
  std::memcpy(&head, address(step.src), sizeof head);
  if (head.bytes == step.bytes) [[likely]]
    return true;
  return fail_of_size(step.peer, step.bytes, fmt::format("{} bytes", head.bytes));
}

// ---- messages ----------------------------------------------------------------------------------

void Lane::send(const Step& step) {
  Sent& sent = sends_.emplace_back();
  sent.peer = step.peer;
  sent.bytes = step.bytes;
  endpoint_->send(step.peer, tag_of(call_, chained(chain_, plan_->signature)), address(step.src),
                  step.bytes, sent.transfer);
}

// Of the step that comes next, at least, and of later ones whose memory is free already.
void Lane::post_receives() {
  const std::vector<ReceiveStep>& all = part_->receives;
  for (; next_receive_ < all.size() && receives_.size() < kMostReceives; ++next_receive_) {
    if (all[next_receive_].from > next_) return;
    const Step& step = part_->schedule.steps[all[next_receive_].step];
    endpoint_->recv(step.peer, tag_of(call_, 0), kCallMask, address(step.dst), step.bytes,
                    receives_.emplace_back());
  }
}

bool Lane::receive(const Step& step) {
  post_receives();
  Transfer& receive = receives_.front();
  if (!receive.done) poll();
  if (!receive.done && (!endpoint_->has_left(step.peer) || !came_before_leaving(step.peer))) {
    return false;
  }
  const bool longer = receive.status.code() == Code::kTruncated;
  if (!receive.status.ok() && !longer) return fail(receive.status);
  const bool same_call = receive.tag == tag_of(call_, chained(chain_, plan_->signature));
  // Where a rank knows its own sizes only, this is where they meet.
  if (same_call && (longer || receive.bytes != step.bytes)) {
    return fail_of_size(step.peer, step.bytes,
                        longer ? "more" : fmt::format("{} bytes", receive.bytes));
  }
  if (!same_call) {
    stranger_ = number_of(step.peer);
    return fail(Status::format(
        Code::kMismatch,
        "{} in {} got a message of {} that belongs to a different call, or a call before it "
        "differed",
        short_name_of(rank_), describe(record_), short_name_of(step.peer)));
  }
  receives_.pop_front();
  return true;
}

// What a peer that has left has sent is here; false, and a failure, if what is waited for is not.
bool Lane::came_before_leaving(int peer) {
  while (endpoint_->poll()) {
  }
  if (receives_.front().done) return true;
  return fail({Code::kPeerFailed, name_of(peer) + " has destroyed its communicator"});
}

bool Lane::sends_done() {
  if (sends_.empty()) return true;
  poll();
  while (!sends_.empty()) {
    const Transfer& oldest = sends_.front().transfer;
    if (!oldest.done) return false;
    if (!oldest.status.ok()) return fail(oldest.status);
    sends_.pop_front();
  }
  return true;
}

}  // namespace tutti
