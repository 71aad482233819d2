// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of which is known who has written and read each part last, and when by the clocks of the
// ranks. A clock has a number for each rank: how far its owner knows that rank to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

using Clock = std::vector<uint32_t>;

class WatchedMemory {
 public:
  // `name` says in texts what it is.
  WatchedMemory(std::string name, uint64_t bytes, size_t ranks);

  // By `rank`, which knows so much, in its call `call`. Returns what is wrong; empty: nothing is.
  std::string write(uint64_t offset, uint64_t bytes, size_t rank, uint32_t call,
                    const Clock& clock);
  std::string read(uint64_t offset, uint64_t bytes, size_t rank, uint32_t call, const Clock& clock);
  [[nodiscard]] uint64_t bytes() const { return units_.size() * kUnit; }

 private:
  static constexpr uint64_t kUnit = 4;  // bytes that are always written and read together
  struct Unit {
    uint32_t call = 0;  // in which it was written
    uint32_t writer = 0;
    uint32_t written = 0;  // when; 0: never
  };
  std::string name_;
  std::vector<Unit> units_;
  std::vector<Clock> read_;  // by rank, by unit: when; 0: never since it was written
};

}  // namespace tutti
