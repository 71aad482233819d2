// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions that are not one call of a kernel.
#include "exec/host_engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "algorithms/messages.hpp"
#include "core/tuned.hpp"

namespace tutti {
namespace {

// A user's function is called on pieces of this size, which stay in the first-level cache.
constexpr size_t kAccumulatorBytes = 16 << 10;

// The longest private memory of a schedule that is kept from call to call: the segments of one
// algorithm, and some lines.
constexpr size_t kMostKeptBytes = kSegmentPlaces * tuned::kSegmentBytes + (64 << 10);

// The note, while it lives, that this rank runs a function of the user in a call
// (transports/notes.hpp). The thread may have said there that it waits in that call: it will again.
class FunctionNote {
 public:
  // `note` may be null.
  FunctionNote(WaitNote* note, const CallRecord& record) : note_(note) {
    if (note_ == nullptr) return;
    before_ = note_->read().value_or(Wait{});
    Wait wait;
    wait.kind = WaitKind::kFunction;
    wait.thread = gettid();
    wait.since_ms = rough_host_ms();
    wait.record = record;
    note_->post(wait);
  }
  ~FunctionNote() {
    if (note_ != nullptr) note_->post(before_);
  }
  FunctionNote(const FunctionNote&) = delete;
  FunctionNote& operator=(const FunctionNote&) = delete;

 private:
  WaitNote* const note_;
  Wait before_;
};

}  // namespace

void HostEngine::grow_scratch(size_t lines) {
  scratch_lines_ = 0;
  scratch_ = nullptr;  // before there is more
  scratch_ = std::make_unique_for_overwrite<CacheLine[]>(lines);
  scratch_lines_ = lines;
  frees_ |= lines * kCacheLine > kMostKeptBytes;
}

void HostEngine::free_memory() {
  scaled_ = {};
  if (scratch_lines_ * kCacheLine > kMostKeptBytes) {
    scratch_ = nullptr;
    scratch_lines_ = 0;
  }
  frees_ = false;
}

std::byte* HostEngine::scaled(const Call& call, int ranks, uint32_t element_bytes) {
  const uint64_t count = elements_sent(call, ranks);
  scaled_.resize(count * element_bytes);
  frees_ = true;
  scale_kernel(call.type)(scaled_.data(), call.send, call.binding->scalar.data(), count);
  return scaled_.data();
}

// Reduces through a small accumulator, because dst may be any of the sources.
void HostEngine::reduce_by_function(const Call& call, size_t element_bytes, std::byte* dst,
                                    size_t k, size_t count, const ReduceOptions& options,
                                    const CallRecord& record) {
  const FunctionNote running(note_, record);
  const size_t most = kAccumulatorBytes / element_bytes;
  accumulator_.resize(kAccumulatorBytes);
  for (size_t done = 0; done < count;) {
    const size_t now = std::min(most, count - done);
    const auto piece = [&](const void* buffer) {
      return static_cast<const std::byte*>(buffer) + done * element_bytes;
    };
    std::memcpy(accumulator_.data(), piece(sources_[0]), now * element_bytes);
    for (size_t i = 1; i < k; ++i) {
      call.binding->function(piece(sources_[i]), accumulator_.data(), now,
                             static_cast<tutti_type>(call.type), call.binding->context);
    }
    std::memcpy(dst + done * element_bytes, accumulator_.data(), now * element_bytes);
    done += now;
  }
  if (options.copy != nullptr) std::memcpy(options.copy, dst, count * element_bytes);
}

}  // namespace tutti
