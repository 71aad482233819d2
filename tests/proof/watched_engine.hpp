// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The engine of a lane in the proof. It moves no data, but tells the witness what the lane reads
// and writes. What ranks say to one another besides is there: the lane goes by it.
#pragma once

#include <vector>

#include "exec/host_engine.hpp"
#include "proof/witness.hpp"

namespace tutti {

class WatchedEngine {
 public:
  WatchedEngine(Witness& witness, int rank) : witness_(witness), rank_(rank) {}

  std::byte* start(const Call& call, uint32_t most_sources, int /*ranks*/,
                   uint32_t /*element_bytes*/) {
    sources_.resize(most_sources);
    return static_cast<std::byte*>(const_cast<void*>(call.send));
  }
  void finish() {}
  std::byte* scratch(uint64_t bytes) {
    scratch_.resize(bytes);
    return scratch_.data();
  }
  void copy(std::byte* dst, const std::byte* source, uint64_t bytes, CopyHint /*hint*/) {
    witness_.reads(rank_, source, bytes);
    witness_.writes(rank_, dst, bytes);
  }
  void copy(std::byte* dst, CopyHint hint, std::byte* other, CopyHint other_hint,
            const std::byte* source, uint64_t bytes) {
    copy(dst, source, bytes, hint);
    copy(other, source, bytes, other_hint);
  }
  [[nodiscard]] std::span<const void*> sources() { return sources_; }
  void reduce(const Plan& /*plan*/, const Call& /*call*/, const CallRecord& /*record*/,
              std::byte* dst, uint32_t k, uint64_t bytes, const ReduceOptions& options) {
    for (uint32_t i = 0; i < k; ++i) witness_.reads(rank_, sources_[i], bytes);
    witness_.writes(rank_, dst, bytes);
    if (options.copy != nullptr) witness_.writes(rank_, options.copy, bytes);
  }
  template <typename Value>
  void put(std::byte* at, const Value& value) {
    witness_.writes(rank_, at, sizeof value);
    HostEngine::put(at, value);
  }
  template <typename Value>
  [[nodiscard]] Value get(const std::byte* at) {
    witness_.reads(rank_, at, sizeof(Value));
    return HostEngine::get<Value>(at);
  }
  void note_functions_in(WaitNote* /*note*/) {}

 private:
  Witness& witness_;
  const int rank_;
  std::vector<const void*> sources_;
  std::vector<std::byte> scratch_;
};

}  // namespace tutti
