// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The messages that a rank requests of another to measure the network, and what it learns from the
// replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

// How many bytes had come in all at some time.
struct Arrival {
  double at_s = 0;
  uint64_t bytes = 0;
};

// Seconds per byte, from what came after `skipped` bytes or half of the time, whichever was first.
// Links let so much pass at once before they slow down to their rate. The median of several parts,
// so that a pause in one of them does not count. None if too little came.
std::optional<double> byte_seconds(std::span<const Arrival> arrivals, uint64_t skipped);

// The most messages that a measurement has under way at once.
inline constexpr size_t kMostAhead = 2;

// The measurement by one rank.
class NetworkMeasurement {
 public:
  virtual ~NetworkMeasurement() = default;
  // Messages under way at once.
  [[nodiscard]] virtual size_t ahead() const = 0;
  // How long the next is to be; 0: it is enough.
  virtual uint64_t next(double now) = 0;
  virtual void arrived(uint64_t bytes, double now) = 0;
  // The longest message that it asks for.
  [[nodiscard]] virtual uint64_t longest() const = 0;
  // The result in seconds; 0 for nothing.
  [[nodiscard]] virtual double figure() const = 0;
};

// Short messages, one at a time.
class LatencyMeasurement final : public NetworkMeasurement {
 public:
  [[nodiscard]] size_t ahead() const override { return 1; }
  uint64_t next(double now) override;
  void arrived(uint64_t bytes, double now) override;
  [[nodiscard]] uint64_t longest() const override { return sizeof(uint64_t); }
  // The latency of the fastest message: other work on the cores makes many far slower.
  [[nodiscard]] double figure() const override;

 private:
  double begun_ = 0;
  double asked_ = 0;
  size_t warm_ups_ = 0;
  std::vector<double> trips_;
};

// Longer and longer messages, several at a time.
class RateMeasurement final : public NetworkMeasurement {
 public:
  // `sharing`: how many ranks share the link.
  explicit RateMeasurement(int sharing);
  [[nodiscard]] uint64_t longest() const override { return longest_; }
  [[nodiscard]] size_t ahead() const override { return kMostAhead; }
  uint64_t next(double now) override;
  void arrived(uint64_t bytes, double now) override;
  // Per byte.
  [[nodiscard]] double figure() const override;

 private:
  [[nodiscard]] uint64_t share_of(uint64_t bytes) const;

  const uint64_t sharing_;
  const uint64_t longest_;
  uint64_t length_;
  uint64_t asked_ = 0;
  int quick_ = 0;
  std::vector<Arrival> arrivals_;
};

}  // namespace tutti
