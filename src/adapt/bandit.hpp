// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A multi-armed bandit: chooses between up to three arms, ways to do the same work, by timing them
// while the program runs. docs/notes/02 and 03 have the figures behind the rules.
//
// - Each arm is tried some times in a row, until it gets no faster: caches are cold after a change.
//   Its estimate is the median of the last calls, for other work disturbs now and then.
// - The cheapest arm is used.
// - The estimate of an unused arm decays a little with every call, so that it is tried again: the
//   slower it was, the later. A first trial meets new memory, so the second comes soon, and each
//   further one after four times as many calls, up to a bound.
// - An arm that takes twice as long as another is tried more seldom, and left after one call if it
//   begins so again.
// - Where caches do not hold the data anyway, any arm that begins clearly slower is left after one
//   call. Such trials cost little, so there are more of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/tuned.hpp"

namespace tutti {

enum class Arm : uint8_t { kFirst, kSecond, kThird };

// Bytes from which on caches count for nothing in a trial.
inline constexpr uint64_t kLeastLeftAtOnce = tuned::kLeastLeftAtOnce;

class Bandit {
 public:
  static constexpr size_t kMost = 3;
  static constexpr size_t kTrial =
      tuned::kTrialCalls;  // times in a row, at least, the last two clearly no faster
  static constexpr size_t kMostOfTrial = tuned::kLongestTrial;
  Bandit() = default;
  // `leaves_at_once`: what begins far slower than another is not tried to the end.
  explicit Bandit(size_t count, bool leaves_at_once = false, size_t most_of_trial = kMostOfTrial)
      : count_(count), most_of_trial_(most_of_trial), leaves_at_once_(leaves_at_once) {}

  // The cheapest arm from `from` on. An arm that is not known yet counts as cheaper than any that
  // is.
  [[nodiscard]] Arm better(Arm from = Arm::kFirst) const {
    auto best = static_cast<size_t>(from);
    for (size_t i = best + 1; i < count_; ++i) {
      if (counted(i) < counted(best)) best = i;
    }
    return static_cast<Arm>(best);
  }
  // Chooses like better(), for a caller that learns the cost of a choice only after the next one:
  // stays with each arm for a trial at least.
  Arm choose() {
    if (stay_ > 0) {
      --stay_;
    } else if (const Arm chosen = better(); chosen != chosen_) {
      chosen_ = chosen;
      stay_ = kTrial;
    }
    return chosen_;
  }
  // Whether it has been taken once; often enough for an estimate.
  [[nodiscard]] bool tried(Arm arm) const { return of(arm).times > 0; }
  [[nodiscard]] bool knows(Arm arm) const { return of(arm).known(); }
  // What it costs now, if known; else 0.
  [[nodiscard]] double cost(Arm arm) const { return of(arm).cost; }
  // What it has cost this time: seconds, or seconds per byte; more than 0.
  void took(Arm arm, double cost) {
    Estimate& estimate = of(arm);
    if (arm != last_ && estimate.known()) estimate.try_again(last_loss());
    last_ = arm;
    estimate.add(cost, most_of_trial_);
    if (cost > clearly_worse(estimate) * least_known()) leave(arm, cost);
    for (Estimate& other : estimates_) {
      if (&other != &estimate) other.idle(estimate, last_loss());
    }
  }

 private:
  // By what part the estimate of an unused arm falls with each call: after the arm's first trial,
  // and at last. From trial to trial the part is a quarter of the one before.
  static constexpr double kFirstLoss = tuned::kFirstDecay;
  static constexpr double kLastLoss = tuned::kLastDecay;
  static constexpr double kLastLossAtOnce =
      tuned::kLastDecayAtOnce;  // where what is slower is left at once
  static constexpr double kClearly = tuned::kClearlyFaster;
  static constexpr double kStep =
      tuned::kEstimateStep;  // of the estimate, towards what is seen later
  static constexpr double kClearlyWorse = tuned::kClearlyWorse;  // times the fastest
  static constexpr double kFarBehind = tuned::kFarBehind;        // times the fastest

  struct Estimate {
    double cost = 0;
    double decay = 1;  // what part of that it may have become since
    double loss = kFirstLoss;
    bool ended = false;      // the trial
    bool settled = false;    // it has been taken since
    size_t times = 0;        // of the trial
    size_t since_least = 0;  // less than kTrial until its end
    std::array<double, kTrial> latest{};
    [[nodiscard]] bool known() const { return ended; }
    [[nodiscard]] double decayed() const { return known() ? cost * decay : 0; }
    void idle(const Estimate& taken, double last_loss) {
      const bool far_behind = taken.known() && cost > kFarBehind * taken.cost;
      decay *= 1 - (far_behind && loss < kFirstLoss ? less_often(last_loss) : loss);
    }
    void try_again(double last_loss) {
      times = 0;
      ended = settled = false;
      loss = less_often(last_loss);
    }
    [[nodiscard]] double less_often(double last_loss) const {
      return std::max(loss / 4, last_loss);
    }
    void add(double newest, size_t most_of_trial) {
      decay = 1;
      if (known()) {
        settled = true;
        cost = newest > cost ? cost * kStep : cost / kStep;
        return;
      }
      const bool clearly_less = times == 0 || newest < kClearly * least();
      since_least = clearly_less ? 0 : since_least + 1;
      latest[times++ % kTrial] = newest;
      if (times < most_of_trial && since_least + 1 < kTrial) return;
      std::ranges::sort(latest);
      end(latest[kTrial / 2]);
    }
    [[nodiscard]] double least() const { return latest[(times - 1 - since_least) % kTrial]; }
    void end(double found) {
      cost = found;
      ended = true;
    }
  };
  // The cost that the arm is thought to have. The estimate of the arm in use goes up and down by a
  // step without having changed. Of two equally fast arms one would be tried all the time.
  [[nodiscard]] double counted(size_t i) const {
    const Estimate& estimate = estimates_[i];
    const bool varies = i == static_cast<size_t>(last_) && estimate.settled;
    return varies ? estimate.decayed() / kStep : estimate.decayed();
  }
  [[nodiscard]] const Estimate& of(Arm arm) const { return estimates_[static_cast<size_t>(arm)]; }
  Estimate& of(Arm arm) { return estimates_[static_cast<size_t>(arm)]; }
  [[nodiscard]] double least_known() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Estimate& each : estimates_) {
      if (each.known()) least = std::min(least, each.cost);
    }
    return least;
  }
  [[nodiscard]] double last_loss() const { return leaves_at_once_ ? kLastLossAtOnce : kLastLoss; }
  // How much more than the fastest ends a trial at its first call. Until its end, the cost is that
  // of the trial before; 0 if there was none.
  [[nodiscard]] double clearly_worse(const Estimate& estimate) const {
    if (leaves_at_once_) return kClearlyWorse;
    const bool was_far_behind = estimate.cost > kFarBehind * least_known();
    return was_far_behind ? kFarBehind : std::numeric_limits<double>::infinity();
  }
  // Ends a trial.
  void leave(Arm arm, double cost) {
    Estimate& estimate = of(arm);
    if (estimate.known()) return;
    estimate.end(cost);
    if (arm == chosen_) stay_ = 0;
  }

  size_t count_ = 2;
  size_t most_of_trial_ = kMostOfTrial;
  bool leaves_at_once_ = false;
  Arm last_ = Arm::kFirst;
  Arm chosen_ = Arm::kFirst;
  size_t stay_ = 0;
  std::array<Estimate, kMost> estimates_;
};

}  // namespace tutti
