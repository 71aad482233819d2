// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/device_figures.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>

#include "core/clock.hpp"
#include "devices/device.hpp"
#include "tools/bench/device.hpp"

namespace tutti::bench {
namespace {

using devices::DeviceContext;
using devices::DeviceEngine;
using devices::EngineKind;
using devices::MemoryKind;

constexpr size_t kLongBytes = 16 << 20;
constexpr size_t kShortBytes = 64;
constexpr int kInOneGo = 17;  // short ones
constexpr int kTimes = 6;
// The least figures: work too short for the clock still costs something.
constexpr double kLeastSeconds = 1e-9;
constexpr double kLeastSecondsPerByte = 1e-14;

struct Freed {
  DeviceContext* context;
  void operator()(void* memory) const { (void)context->free(memory); }
};
using Memory = std::unique_ptr<void, Freed>;

class Measurement {
 public:
  explicit Measurement(DeviceContext& context) : context_(context) {}
  Status prepare();
  Result<DeviceFigures> run();

 private:
  // Gives the engine one command of so many bytes.
  using Give = std::function<Status(size_t bytes)>;
  // The time of so many of them, at best, from the first one's begin until the last one's end is
  // seen.
  Result<double> time(DeviceEngine& engine, const Give& give, int count, size_t bytes) const;
  // The costs of an engine's command: until it begins, until its end is seen, and per byte.
  struct Costs {
    double launch_s = 0;
    double tick_s = 0;
    double byte_s = 0;
  };
  Result<Costs> costs(DeviceEngine& engine, const Give& give) const;
  [[nodiscard]] Status reduce(size_t bytes) const;

  DeviceContext& context_;
  // The engines end first: they may be at work there.
  std::array<Memory, 3> on_device_;
  Memory pinned_;
  std::unique_ptr<DeviceEngine> compute_;
  std::unique_ptr<DeviceEngine> copies_;
};

Status Measurement::prepare() {
  const auto take = [&](MemoryKind kind, Memory& memory) -> Status {
    const Result<void*> taken = context_.allocate(kind, kLongBytes);
    if (taken.ok()) memory = Memory(*taken, Freed{&context_});
    return taken.status();
  };
  for (Memory& memory : on_device_) TUTTI_RETURN_IF_ERROR(take(MemoryKind::kDevice, memory));
  TUTTI_RETURN_IF_ERROR(take(MemoryKind::kPinned, pinned_));
  const auto make = [&](EngineKind kind, std::unique_ptr<DeviceEngine>& engine) -> Status {
    auto made = context_.make_engine(kind);
    if (made.ok()) engine = std::move(*made);
    return made.status();
  };
  TUTTI_RETURN_IF_ERROR(make(EngineKind::kCopy, copies_));
  TUTTI_RETURN_IF_ERROR(make(EngineKind::kCompute, compute_));
  TUTTI_RETURN_IF_ERROR(compute_->prepare(ReduceOp::kSum, DataType::kFloat32));
  std::memset(pinned_.get(), 0, kLongBytes);  // no NaN or subnormal numbers, which may be slower
  for (const Memory& memory : on_device_) {
    TUTTI_RETURN_IF_ERROR(copies_->copy(memory.get(), pinned_.get(), kLongBytes));
  }
  return finish(*copies_, context_);
}

Status Measurement::reduce(size_t bytes) const {
  const std::array<const void*, 2> sources = {on_device_[0].get(), on_device_[1].get()};
  return compute_->reduce({.op = ReduceOp::kSum,
                           .type = DataType::kFloat32,
                           .dst = on_device_[2].get(),
                           .sources = sources,
                           .count = bytes / sizeof(float)});
}

Result<double> Measurement::time(DeviceEngine& engine, const Give& give, int count,
                                 size_t bytes) const {
  double least = 0;
  for (int i = 0; i <= kTimes; ++i) {  // the first warms up
    const double begun = now_s();
    for (int k = 0; k < count; ++k) TUTTI_RETURN_IF_ERROR(give(bytes));
    TUTTI_RETURN_IF_ERROR(finish(engine, context_));
    const double seconds = now_s() - begun;
    least = i <= 1 ? seconds : std::min(least, seconds);
  }
  return least;
}

Result<Measurement::Costs> Measurement::costs(DeviceEngine& engine, const Give& give) const {
  TUTTI_ASSIGN_OR_RETURN(const double one, time(engine, give, 1, kShortBytes));
  TUTTI_ASSIGN_OR_RETURN(const double several, time(engine, give, kInOneGo, kShortBytes));
  TUTTI_ASSIGN_OR_RETURN(const double long_one, time(engine, give, 1, kLongBytes));
  Costs costs;
  costs.launch_s = std::max(kLeastSeconds, (several - one) / (kInOneGo - 1));
  costs.tick_s = std::max(kLeastSeconds, one - costs.launch_s);
  costs.byte_s = std::max(kLeastSecondsPerByte, (long_one - one) / (kLongBytes - kShortBytes));
  return costs;
}

Result<DeviceFigures> Measurement::run() {
  const Result<Costs> reduction = costs(*compute_, [this](size_t bytes) { return reduce(bytes); });
  if (!reduction.ok()) return reduction.status();
  const auto copy = [this](const Memory& to, const Memory& from) {
    return costs(*copies_,
                 [&](size_t bytes) { return copies_->copy(to.get(), from.get(), bytes); });
  };
  TUTTI_ASSIGN_OR_RETURN(const Costs inside, copy(on_device_[1], on_device_[0]));
  TUTTI_ASSIGN_OR_RETURN(const Costs out, copy(pinned_, on_device_[0]));
  TUTTI_ASSIGN_OR_RETURN(const Costs in, copy(on_device_[0], pinned_));
  return DeviceFigures{.launch_s = std::max(reduction->launch_s, inside.launch_s),
                       .tick_s = std::max(reduction->tick_s, inside.tick_s),
                       .copy_s = inside.byte_s,
                       .reduce_s = reduction->byte_s / 2,
                       .host_copy_s = std::max(out.byte_s, in.byte_s)};
}

}  // namespace

Result<DeviceFigures> measure_device(DeviceContext& context) {
  Measurement measurement(context);
  Status prepared = measurement.prepare();
  if (!prepared.ok()) return prepared.with_context(context.name());
  Result<DeviceFigures> figures = measurement.run();
  if (!figures.ok()) return figures.status().with_context(context.name());
  return figures;
}

}  // namespace tutti::bench
