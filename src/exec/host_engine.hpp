// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The engine that copies and reduces for a lane, with the processor. A lane gives it work in the
// order of its steps, and each piece is done on return. It is a member of its lane, not behind an
// interface. A step of a small call is a few instructions, and each would first load the engine's
// address. Calls on device buffers run their steps on engines of the device (devices/device.hpp,
// views/). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/wait.hpp"
#include "exec/call.hpp"
#include "exec/plan.hpp"
#include "kernels/copy.hpp"
#include "kernels/reduce_host.hpp"
#include "transports/notes.hpp"

namespace tutti {

// The unit of private memory.
struct alignas(kCacheLine) CacheLine {
  std::byte bytes[kCacheLine];
};

class HostEngine {
 public:
  // A call begins; its reductions have `most_sources` sources at most. Returns the send buffer to
  // use, which for a pre-multiplied sum is a scaled copy that the engine keeps.
  [[gnu::always_inline]] std::byte* start(const Call& call, uint32_t most_sources, int ranks,
                                          uint32_t element_bytes) {
    if (sources_.size() < most_sources) sources_.resize(most_sources);
    auto* send = static_cast<std::byte*>(const_cast<void*>(call.send));
    if (call.op == ReduceOp::kPremulSum && reduces(call.collective)) [[unlikely]]
      return scaled(call, ranks, element_bytes);
    return send;
  }
  void finish() {
    if (frees_) [[unlikely]]
      free_memory();
  }
  // Private memory of the call, at least `bytes` long.
  std::byte* scratch(uint64_t bytes) {
    const size_t lines = whole_lines(bytes) / kCacheLine;
    if (scratch_lines_ < lines) [[unlikely]]
      grow_scratch(lines);
    return reinterpret_cast<std::byte*>(scratch_.get());
  }

  void copy(std::byte* dst, const std::byte* source, uint64_t bytes, CopyHint hint) {
    copy_bytes(dst, source, bytes, hint);
  }
  // Copies to two places.
  void copy(std::byte* dst, CopyHint hint, std::byte* other, CopyHint other_hint,
            const std::byte* source, uint64_t bytes) {
    copy_twice(dst, hint, other, other_hint, source, bytes);
  }
  // The sources of the next reduce(), which the caller fills in.
  [[nodiscard]] std::span<const void*> sources() { return sources_; }
  // Reduces the first k sources in their order to `bytes` bytes. It uses the kernel of the plan, or
  // the user's function in the call of `record`.
  void reduce(const Plan& plan, const Call& call, const CallRecord& record, std::byte* dst,
              uint32_t k, uint64_t bytes, const ReduceOptions& options) {
    const size_t count = bytes / plan.element_bytes;
    if (plan.kernel != nullptr) [[likely]]
      return plan.kernel(dst, sources_.data(), k, count, options);
    reduce_by_function(call, plan.element_bytes, dst, k, count, options, record);
  }
  // The headers that a rank writes for its peers, and reads of them, besides the data.
  template <typename Value>
  static void put(std::byte* at, const Value& value) {
    std::memcpy(at, &value, sizeof value);
  }
  template <typename Value>
  [[nodiscard]] static Value get(const std::byte* at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  // Sets the note that says that a function of the user runs; it outlives the engine.
  void note_functions_in(WaitNote* note) { note_ = note; }

 private:
  [[gnu::noinline, gnu::cold]] void reduce_by_function(const Call& call, size_t element_bytes,
                                                       std::byte* dst, size_t k, size_t count,
                                                       const ReduceOptions& options,
                                                       const CallRecord& record);
  std::byte* scaled(const Call& call, int ranks, uint32_t element_bytes);
  void grow_scratch(size_t lines);
  void free_memory();

  std::vector<const void*> sources_;
  std::unique_ptr<CacheLine[]> scratch_;
  size_t scratch_lines_ = 0;
  bool frees_ = false;  // memory as large as the caller's buffers is freed after each call
  std::vector<std::byte> scaled_;       // the send buffer, multiplied beforehand
  std::vector<std::byte> accumulator_;  // of a user's reduction
  WaitNote* note_ = nullptr;
};

}  // namespace tutti
