// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The TCP connections of processes of this host, as the system counts what they
// carry. Read only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::inspect {

struct Line {
  std::string peer = {};    // "10.1.0.2"
  uint64_t busy_us = 0;     // time with data that the other end has not acknowledged
  uint64_t bytes = 0;       // sent
  uint64_t segments = 0;    // sent
  uint64_t sent_again = 0;  // segments of `sent` that were sent again
  uint64_t needless = 0;    // segments sent again that the other end had already
  uint32_t round_trip_us = 0;

  [[nodiscard]] uint64_t lost() const { return sent_again - std::min(needless, sent_again); }
  // The share of the segments that were lost.
  [[nodiscard]] double loss() const;
};
// Lines by the inode of the socket; none where the system does not tell.
using Lines = std::map<uint64_t, Line>;

// All connections of this namespace of networks.
Lines lines_of_host();
// The sockets that a process has open.
std::vector<uint64_t> sockets_of(int pid);
// What the line of the process has done since that was busy the longest.
Line busiest_of(int pid, const Lines& before, const Lines& now);

}  // namespace tutti::inspect
