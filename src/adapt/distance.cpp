// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "adapt/distance.hpp"

#include <algorithm>
#include <vector>

#ifdef __x86_64__

#include <x86intrin.h>

namespace tutti {
namespace {

void evict(const void* line) {
  _mm_clflush(line);
  _mm_mfence();
}

}  // namespace

uint32_t load_cycles(const void* line) {
  _mm_lfence();
  const uint64_t begun = __rdtsc();
  _mm_lfence();
  // Not a load of the language's, which the peer's writing would make a race.
  uint8_t byte;
  asm volatile("movb %1, %0" : "=q"(byte) : "m"(*static_cast<const uint8_t*>(line)));
  _mm_lfence();
  return static_cast<uint32_t>(std::clamp<uint64_t>(__rdtsc() - begun, 1, UINT32_MAX));
}

}  // namespace tutti

#else

namespace tutti {
namespace {

void evict(const void*) {}

}  // namespace

uint32_t load_cycles(const void*) { return 0; }

}  // namespace tutti

#endif

namespace tutti {
namespace {

uint32_t measure_memory() {
  constexpr size_t kTimes = 33;
  constexpr size_t kApart = 4096 + 64;  // other pages, other sets
  std::vector<std::byte> memory(kTimes * kApart, std::byte{1});
  std::array<uint32_t, kTimes> cycles{};
  for (size_t i = 0; i < kTimes; ++i) {
    const std::byte* line = memory.data() + i * kApart;
    evict(line);
    cycles[i] = load_cycles(line);
  }
  // Whoever measures at the same moment makes some of them longer.
  std::ranges::sort(cycles);
  return cycles[kTimes / 4];
}

}  // namespace

uint32_t memory_cycles() {
  static const uint32_t cycles = measure_memory();
  return cycles;
}

void Distance::saw_new(uint32_t cycles) {
  if (cycles < memory_ / 4) return;
  last_[next_] = cycles;
  next_ = (next_ + 1) % kDistanceProbes;
  if (probes_ < kDistanceProbes) ++probes_;
  far_ = this->cycles() > memory_ / 6 * 5;
}

uint32_t Distance::cycles() const {
  if (probes_ < kDistanceProbes) return 0;
  auto sorted = last_;
  std::ranges::sort(sorted);
  return sorted[kDistanceProbes - 2];
}

}  // namespace tutti
