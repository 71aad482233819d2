// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The time of a message between two hosts by its size, as it was measured. Real networks change
// protocols with the size, so alpha and beta alone are far off in between. The model is
// parametrised LogP (Kielmann et al., RTSPP 2000): the times are given at some sizes, and are
// linear between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.hpp"

namespace tutti::simulate {

struct MessageTime {
  uint64_t bytes;
  double seconds;  // time from the start of the send to the end of the receive
};

class MessageTimes {
 public:
  MessageTimes() = default;  // no times: alpha and beta are all there is
  // Two or more, in the order of their sizes; the last two say what a byte takes.
  explicit MessageTimes(std::vector<MessageTime> times) : times_(std::move(times)) {}

  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] double alpha_s() const { return times_.front().seconds; }
  [[nodiscard]] double byte_s() const;
  // The time of a message beyond alpha and its bytes' time on a link.
  [[nodiscard]] double beyond_s(uint64_t bytes, double line_byte_s) const;

 private:
  [[nodiscard]] double at(uint64_t bytes) const;
  std::vector<MessageTime> times_;
};

// Times from "8=1.15", "16kb=6.81": sizes and microseconds.
Result<MessageTimes> parse_message_times(const std::vector<std::string>& texts);

}  // namespace tutti::simulate
