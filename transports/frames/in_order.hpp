// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Frames from one peer in the order of their numbers: over several rails one may overtake another.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "transports/frames/frame.hpp"

namespace tutti::frames {

class InOrder {
 public:
  // Calls `handle(head, payload)` for a frame that has come if it is the next, and then for those
  // that came before their turn. One that has come already, over another rail, is left aside. False
  // if `handle` says so, or if the frame is too far ahead.
  bool take(const FrameHead& head, std::span<const std::byte> payload, const auto& handle) {
    if (expected_ - head.sequence - 1 < kMostAhead) return true;
    if (head.sequence != expected_) {
      if (head.sequence - expected_ > kMostAhead) return false;
      early_[head.sequence] = {head, {payload.begin(), payload.end()}};
      return true;
    }
    ++expected_;
    if (!handle(head, payload)) return false;
    for (auto next = early_.find(expected_); next != early_.end(); next = early_.find(expected_)) {
      const Early early = std::move(next->second);
      early_.erase(next);
      ++expected_;
      if (!handle(early.head, std::span<const std::byte>(early.payload))) return false;
    }
    return true;
  }
  // The number of the next.
  [[nodiscard]] uint32_t expected() const { return expected_; }
  void forget() { early_.clear(); }

 private:
  static constexpr uint32_t kMostAhead = 4096;
  struct Early {
    FrameHead head;
    std::vector<std::byte> payload;
  };

  uint32_t expected_ = 0;
  std::map<uint32_t, Early> early_;
};

}  // namespace tutti::frames
