// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// When a measurement has enough, and what it then knows.
#include "comm/network_measurement.hpp"

#include <algorithm>

#include "core/median.hpp"

namespace tutti {
namespace {

constexpr size_t kWarmUps = 2;  // round trips that do not count
constexpr size_t kMostTrips = 15;
constexpr double kTripsEndSeconds = 5e-3;

// Limits in bytes, per host. Shaped links let some 100 KB pass at once, at each end: what comes
// before kSkipped does not count. Messages grow slowly at first, so that little is under way on a
// slow link once its rate is known.
constexpr uint64_t kMostAsked = 4 << 20;
constexpr uint64_t kSkipped = 512 << 10;
constexpr uint64_t kFirstMessage = 32 << 10;
constexpr uint64_t kLongestMessage = 512 << 10;
constexpr int kMessagesPerLength = 4;
constexpr double kQuickSeconds = 0.3e-3;  // messages that take no longer may become longer
constexpr double kStreamEndSeconds = 30e-3;
constexpr uint64_t kLeastMessage = 4 << 10;

constexpr size_t kSegments = 5;  // segments of a stream, for the median

}  // namespace

std::optional<double> byte_seconds(std::span<const Arrival> arrivals, uint64_t skipped) {
  if (arrivals.size() < 2) return std::nullopt;
  const double half = (arrivals.front().at_s + arrivals.back().at_s) / 2;
  const auto counts = [&](const Arrival& arrival) {
    return arrival.bytes >= skipped || arrival.at_s >= half;
  };
  auto from = std::ranges::find_if(arrivals, counts);
  if (from == arrivals.end() - 1) --from;  // one message alone: from the one before
  const uint64_t segment = (arrivals.back().bytes - from->bytes) / kSegments;
  std::vector<double> rates;
  for (auto at = from + 1; at != arrivals.end(); ++at) {
    const uint64_t bytes = at->bytes - from->bytes;
    if (bytes == 0 || bytes < segment) continue;
    rates.push_back((at->at_s - from->at_s) / static_cast<double>(bytes));
    from = at;
  }
  if (rates.empty()) return std::nullopt;
  return median(std::move(rates));
}

uint64_t LatencyMeasurement::next(double now) {
  if (trips_.empty() && warm_ups_ == 0) begun_ = now;
  const bool late = now - begun_ >= kTripsEndSeconds && !trips_.empty();
  if (trips_.size() == kMostTrips || late) return 0;
  asked_ = now;
  return sizeof(uint64_t);
}

void LatencyMeasurement::arrived(uint64_t /*bytes*/, double now) {
  if (warm_ups_++ >= kWarmUps) trips_.push_back(now - asked_);
}

double LatencyMeasurement::figure() const {
  return trips_.empty() ? 0 : *std::ranges::min_element(trips_) / 2;
}

RateMeasurement::RateMeasurement(int sharing)
    : sharing_(static_cast<uint64_t>(sharing)),
      longest_(share_of(kLongestMessage)),
      length_(share_of(kFirstMessage)) {}

uint64_t RateMeasurement::share_of(uint64_t bytes) const {
  return std::max(bytes / sharing_, kLeastMessage);
}

uint64_t RateMeasurement::next(double now) {
  if (arrivals_.empty()) arrivals_.push_back({now, 0});
  const bool late = now - arrivals_.front().at_s >= kStreamEndSeconds;
  if (late || asked_ >= share_of(kMostAsked)) return 0;
  asked_ += length_;
  return length_;
}

void RateMeasurement::arrived(uint64_t bytes, double now) {
  const Arrival last = arrivals_.back();
  arrivals_.push_back({now, last.bytes + bytes});
  if (now - last.at_s <= kQuickSeconds && ++quick_ % kMessagesPerLength == 0) {
    length_ = std::min(2 * length_, longest_);
  }
}

double RateMeasurement::figure() const {
  return byte_seconds(arrivals_, share_of(kSkipped)).value_or(0);
}

}  // namespace tutti
