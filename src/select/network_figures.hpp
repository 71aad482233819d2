// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The cost model's figures of the network between hosts. All ranks of a communicator have the same
// figures, bit for bit, or they would choose different algorithms.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tutti {

struct NetworkFigures {
  // alpha, from the start of a short message to its arrival: TCP on an idle local network.
  double message_s = 20e-6;
  // Per byte of all that a host sends, or receives, beta: 10 Gbit/s.
  double line_byte_s = 1 / 1.2e9;
  // Per byte that a host sends to another group of hosts, while all of its group do so. 0: not
  // known.
  double group_byte_s = 0;
  std::string origin = "defaults";  // where they come from, for people
};

// "20.0 us per message, 1200 MB/s per host (defaults)"; "..., 300 MB/s between groups (...)".
inline std::string to_string(const NetworkFigures& network) {
  std::string between_groups;
  if (network.group_byte_s > 0) {
    between_groups = fmt::format(", {:.4g} MB/s between groups", 1e-6 / network.group_byte_s);
  }
  return fmt::format("{:.1f} us per message, {:.4g} MB/s per host{} ({})", network.message_s * 1e6,
                     1e-6 / network.line_byte_s, between_groups, network.origin);
}

}  // namespace tutti
