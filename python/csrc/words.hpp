// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The words that programs and tests written for other backends look for in the text of an error:
// elastic training, PyTorch's own suites. They depend on the kind of error, and on nothing else;
// each stands before what this backend has to say.
#pragma once

#include <tutti/tutti.h>

#include <chrono>
#include <string>

namespace tutti_torch::words {

using Milliseconds = std::chrono::milliseconds;

inline std::string in_ms(Milliseconds limit) { return std::to_string(limit.count()) + "ms"; }

// A wait was over before its call.
inline std::string timed_out(Milliseconds limit) { return "Timed out waiting " + in_ms(limit); }

// Not all ranks came to the store in time.
inline std::string nobody_came(Milliseconds limit) {
  return "Socket Timeout (timed out after " + in_ms(limit) + ")";
}

// A rank's time was over before it heard of any other.
inline std::string late_in_barrier(int rank, Milliseconds limit) {
  return "Rank " + std::to_string(rank) + " timed out in monitoredBarrier after " +
         std::to_string(limit.count()) + " ms";
}

// "" if none are known. `limit` is how long the call was to wait, 0 if that is not known.
inline std::string of(tutti_status status, Milliseconds limit) {
  switch (status) {
    case TUTTI_ERR_TIMEOUT: return limit.count() > 0 ? timed_out(limit) : "Timed out waiting";
    case TUTTI_ERR_PEER_FAILED: return "Connection closed by peer";
    default: return "";
  }
}

}  // namespace tutti_torch::words
