// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The pieces of a long call, several of them under way at a time, each a task. They begin in order,
// a further one when the oldest has ended.
#pragma once

#include <deque>
#include <functional>

#include "views/task.hpp"

namespace tutti {

class Pipeline final : public Awaited {
 public:
  Pipeline(uint64_t pieces, size_t at_a_time, std::function<Task(uint64_t piece)> run)
      : pieces_(pieces), at_a_time_(at_a_time), run_(std::move(run)) {}

  Result<bool> ready() override {
    while (next_ < pieces_ || !under_way_.empty()) {
      while (next_ < pieces_ && under_way_.size() < at_a_time_) {
        under_way_.push_back(run_(next_++));
      }
      for (Task& piece : under_way_) {
        const Result<bool> over = piece.poll();
        if (!over.ok()) return over;
      }
      if (!under_way_.front().over()) return false;
      while (!under_way_.empty() && under_way_.front().over()) under_way_.pop_front();
    }
    return true;
  }
  [[nodiscard]] Waits waits() const override {
    for (const Task& piece : under_way_) {
      if (piece.waits() == Waits::kForPeers) return Waits::kForPeers;
    }
    return Waits::kForDevice;
  }

 private:
  const uint64_t pieces_;
  const size_t at_a_time_;
  const std::function<Task(uint64_t)> run_;
  uint64_t next_ = 0;
  std::deque<Task> under_way_;
};

// The order in which pieces do what all ranks do in one order.
class Turns {
 public:
  // The turn of that number. The pieces before it wait for peers, if any does.
  [[nodiscard]] auto at(uint64_t turn) const {
    return Until(Waits::kForDevice, [this, turn]() -> Result<bool> { return next_ == turn; });
  }
  void next() { ++next_; }

 private:
  uint64_t next_ = 0;
};

}  // namespace tutti
