// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Texts about a call in which a peer is late, has left, or makes another call.
#pragma once

#include <string>
#include <string_view>

#include "core/status.hpp"
#include "exec/call_log.hpp"
#include "exec/rank_names.hpp"

namespace tutti {

// Makes texts about one rank of a lane and the call in which it is.
struct CallFaults {
  int rank;
  const CallLog& log;
  const RankNames& names;
  const CallRecord& record;

  // The fault that the log has found (CallLog::fault()).
  [[nodiscard]] Status of_log() const;
  // The peer left after call `last`, and this rank leaves after another number of calls.
  [[nodiscard]] Status left_before(int peer, uint32_t last) const;
  // A block or message from a peer is not of the size that this rank expects.
  [[nodiscard]] Status of_size(int peer, uint64_t expected, std::string_view sent) const;
  // A message from a peer belongs to another call.
  [[nodiscard]] Status of_mismatched_message(int peer) const;
  // Why this rank waits for a peer that has not entered call `wanted`. `begun`: `wanted` is the
  // call of `record`; else it is an earlier one, which must be over first.
  [[nodiscard]] std::string lateness(int peer, uint32_t wanted, bool begun) const;

 private:
  [[nodiscard]] uint32_t first_difference(int peer, uint32_t call) const;
  [[nodiscard]] const CallRecord& own_record(uint32_t call) const;
};

}  // namespace tutti
