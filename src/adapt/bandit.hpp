// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A multi-armed bandit. It chooses between a few arms, ways to do the same work, and times them
// while the program runs. Figures behind the rules: docs/notes/02 and 03.
//
// - An arm is tried for some calls in a row. Its estimate is the median of the last three, or the
//   lower of two: caches are cold after a change, and other work disturbs now and then.
// - The cheapest arm is used. Its estimate follows its calls by a step, up or down. So it comes to
//   their median, and a few that are held up change little.
// - An arm that took over twice as long as the one in use, and begins so again, is left at once.
// - An unused arm is tried again once its trial costs little beyond the arm in use. That is at most
//   kTrialShare of the time since its last call. The slower it was, the later that is, but a ratio
//   beyond kMostSlower counts as that: a trial may have been disturbed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

enum class Arm : uint8_t { kFirst, kSecond, kThird };

// An estimate is the median of so many.
inline constexpr uint64_t kTrialCalls = 3;
// Calls of more than a third of it leave no cache as it was: two suffice.
inline constexpr uint64_t kTrialBytes = 8 << 20;

// The calls of a trial. The longer they are, the less it matters what the caches had.
constexpr size_t trial_calls(uint64_t bytes) {
  return std::clamp<uint64_t>(kTrialBytes / std::max<uint64_t>(bytes, 1), 2, kTrialCalls);
}

class Bandit {
 public:
  static constexpr size_t kMostArms = 3;
  Bandit() = default;
  Bandit(size_t count, size_t trial) : count_(count), trial_(trial) {}

  // The arm to use or to try, from `from` on.
  [[nodiscard]] Arm better(Arm from = Arm::kFirst) const {
    auto best = static_cast<size_t>(from);
    for (size_t i = best + 1; i < count_; ++i) {
      if (counted(i) < counted(best)) best = i;
    }
    return static_cast<Arm>(best);
  }
  // Whether it has been taken once; often enough for an estimate.
  [[nodiscard]] bool tried(Arm arm) const { return of(arm).last_taken > 0; }
  [[nodiscard]] bool knows(Arm arm) const { return of(arm).known; }
  // What it costs now, if known; else 0.
  [[nodiscard]] double cost(Arm arm) const { return of(arm).cost; }
  // To be called after each call, with its arm and what it cost: seconds, or seconds per byte; more
  // than 0. Adds it to the arm's estimate. Another arm than that of the call before begins a trial.
  // An arm that is used beyond its trial is the arm in use, by which others become due.
  void took(Arm arm, double cost) {
    Estimate& estimate = of(arm);
    if (arm != last_) estimate.begin_trial();
    last_ = arm;
    estimate.last_taken = ++calls_;
    const double far = kFarBehind * estimates_[used_].cost;
    const bool hopeless = far > 0 && estimate.cost > far && cost > far;
    estimate.add(cost, hopeless ? 1 : trial_);
    // One call of an arm may follow its trial, where the next arm is chosen before a call has
    // ended.
    if (estimate.times > trial_ + 1) used_ = static_cast<size_t>(arm);
    if (estimate.known && used_ == static_cast<size_t>(arm)) {
      for (Estimate& other : estimates_) other.due |= is_due(other, estimate.cost);
    }
  }

 private:
  static constexpr double kTrialShare = 1.0 / 256;  // less than times vary from run to run
  static constexpr double kEstimateStep = 1.1;      // ratio by which times of equal calls vary
  static constexpr double kFarBehind = 2;
  static constexpr double kMostSlower = 8;  // a greater ratio is rather a disturbance

  struct Estimate {
    double cost = 0;
    bool known = false;
    bool due = false;         // for another trial
    size_t times = 0;         // calls in a row, up to the last
    uint64_t last_taken = 0;  // the number of that call; 0: never
    std::array<double, 3> latest{};
    void begin_trial() {
      known = due = false;
      times = 0;
    }
    void add(double newest, size_t trial) {
      latest[times++ % latest.size()] = newest;
      if (known) cost = newest > cost ? cost * kEstimateStep : cost / kEstimateStep;
      if (known || times < trial) return;
      known = true;
      const size_t there = std::min(times, latest.size());
      const auto middle = latest.begin() + static_cast<ptrdiff_t>((there - 1) / 2);
      std::nth_element(latest.begin(), middle, latest.begin() + static_cast<ptrdiff_t>(there));
      cost = *middle;
    }
    [[nodiscard]] bool in_trial() const { return !known && times > 0; }
  };
  // The cost by which arms compare. One that is on trial comes first, then those that are not known
  // or due for a trial. The arm in use has to be beaten by a step, or equals would take turns.
  [[nodiscard]] double counted(size_t i) const {
    const Estimate& estimate = estimates_[i];
    if (estimate.in_trial()) return -1;
    if (!estimate.known || estimate.due) return 0;
    return i == used_ ? estimate.cost / kEstimateStep : estimate.cost;
  }
  // Whether an arm is to be tried again, while the one in use costs so much.
  [[nodiscard]] bool is_due(const Estimate& estimate, double used_cost) const {
    if (!estimate.known || estimate.last_taken == calls_) return false;
    const double loss = std::clamp(estimate.cost / used_cost, kEstimateStep, kMostSlower) - 1;
    const auto idle = static_cast<double>(calls_ - estimate.last_taken);
    return idle * kTrialShare >= static_cast<double>(trial_) * loss;
  }
  [[nodiscard]] const Estimate& of(Arm arm) const { return estimates_[static_cast<size_t>(arm)]; }
  Estimate& of(Arm arm) { return estimates_[static_cast<size_t>(arm)]; }

  size_t count_ = 2;               // number of arms
  size_t trial_ = trial_calls(0);  // calls of a trial
  uint64_t calls_ = 0;             // so far, of all arms
  Arm last_ = Arm::kFirst;         // the last call's arm
  size_t used_ = 0;                // the arm in use
  std::array<Estimate, kMostArms> estimates_;
};

}  // namespace tutti
