// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The ends of calls that do not succeed: the communicator breaks, and the error names the call. A
// rank that shares no memory with a peer learns from the journal what that peer did; nobody waits
// long for that.
#pragma once

#include <atomic>
#include <string>

#include "exec/executor_settings.hpp"
#include "exec/health.hpp"
#include "exec/lane_group.hpp"

namespace tutti {

class FailedCalls {
 public:
  // All references outlive it. `journal` is null if all ranks are on one host; `timeout_ms` is that
  // of calls.
  FailedCalls(const ExecutorSettings& settings, Transport& transport, Health& health,
              Journal* journal, const std::atomic<int64_t>& timeout_ms)
      : settings_(settings),
        rank_(settings.context.rank),
        ranks_(settings.context.ranks),
        transport_(transport),
        health_(health),
        journal_(journal),
        timeout_ms_(timeout_ms) {}

  // Ends a call on lanes that blocked or failed, by the end of its wait.
  Status give_up(LaneGroup& lanes, const Call& call, uint64_t sequence, Advance advance,
                 WaitEnd end);
  // Ends a call by the exception that is being handled, perhaps before it reached the lanes.
  Status broke_down(const Call& call, uint64_t sequence) noexcept;
  Status broke_down(LaneGroup& lanes, const Call& call, uint64_t sequence) noexcept;
  // The first cause, with the call that it ends before it.
  Status fail_stopped_call(const Call& call, uint64_t sequence);
  // Whether a call here has returned an error.
  [[nodiscard]] bool any() const { return any_.load(); }

 private:
  [[nodiscard]] Status why_failed(LaneGroup& lanes) const;
  void find_out_what_differs(const LaneGroup& lanes, uint64_t sequence);
  [[nodiscard]] std::string who_is_late(LaneGroup& lanes, uint64_t sequence);
  [[nodiscard]] std::string name_of(int rank) const;
  [[nodiscard]] Waiter waiter(int64_t timeout_ms) const;

  const ExecutorSettings& settings_;
  const int rank_;
  const int ranks_;
  Transport& transport_;
  Health& health_;
  Journal* const journal_;
  const std::atomic<int64_t>& timeout_ms_;
  std::atomic<bool> any_{false};
};

}  // namespace tutti
