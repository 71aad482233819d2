// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace tutti {

// Monotonic seconds, for the differences between two of them.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The seconds since it was made; 0 if it does not run.
class Stopwatch {
 public:
  explicit Stopwatch(bool runs) : begun_s_(runs ? now_s() : 0), runs_(runs) {}
  [[nodiscard]] double seconds() const { return runs_ ? now_s() - begun_s_ : 0; }

 private:
  double begun_s_;
  bool runs_;
};

}  // namespace tutti
