// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The shared memory of a lane whose ranks are objects of one process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transports/transport.hpp"

namespace tutti {

// Slots and windows have no memory: who needs to know what lies there keeps it beside.
class FakeLaneMemory : public LaneMemory {
 public:
  FakeLaneMemory(int ranks, LaneMemorySizes sizes)
      : sizes_(sizes), memory_(static_cast<size_t>(ranks)) {
    for (Memory& each : memory_) {
      ranks_.push_back({.calls = each.calls.data(),
                        .records = each.records.data(),
                        .progress = &each.progress,
                        .departure = &each.departure,
                        .slots = {},
                        .ping_pong = nullptr,
                        .window = nullptr});
    }
  }
  [[nodiscard]] std::span<const Rank> ranks() const override { return ranks_; }
  [[nodiscard]] LaneMemorySizes sizes() const override { return sizes_; }
  Status pull(int, void*, uint64_t, uint64_t) override { return {Code::kInternal, "no buffers"}; }
  Result<bool> ask_for(int, void*, uint64_t, uint64_t) override {
    return Status(Code::kInternal, "no buffers");
  }
  bool serve_fallback_copy() override { return false; }
  void leave(int rank) { memory_[static_cast<size_t>(rank)].departure.left = 1; }

 private:
  struct Memory {
    std::vector<CallLine> calls = std::vector<CallLine>(kCallLines);
    std::vector<RecordLine> records = std::vector<RecordLine>(kCallLines);
    ProgressLine progress{};
    Departure departure{};
  };
  const LaneMemorySizes sizes_;
  std::vector<Memory> memory_;
  std::vector<Rank> ranks_;
};

}  // namespace tutti
