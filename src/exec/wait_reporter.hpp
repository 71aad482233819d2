// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reports of a long wait. After a moment they are in shared memory, for those who look from outside
// (transports/notes.hpp); after a second the ranks of other hosts that are waited for are told;
// after TUTTI_WARN_AFTER_MS they are in the log, and then at growing intervals. If
// several ranks of a host wait in one communicator, only the lowest of them logs it. If ranks of
// several hosts wait in one call, only one host does, that of rank 0 if it waits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/hosts.hpp"
#include "core/wait.hpp"
#include "exec/journal.hpp"
#include "exec/lane_group.hpp"
#include "transports/transport.hpp"

namespace tutti {

// The settings of all waits of a rank in a communicator.
struct WaitReportSettings {
  int rank = 0;
  int ranks = 1;
  Transport* transport = nullptr;
  const Hosts* hosts = nullptr;  // null: there is one host
  int64_t warn_after_ms = 0;     // 0: it never warns
  std::string communicator;      // name of the communicator
};

// A call or message that is waited for. It is asked in the slow part of waiting only.
class PendingWait {
 public:
  // Sets the fields that are known at once; without allocation.
  virtual void fill(Wait& wait) const = 0;
  // Sets the fields that say which ranks are waited for; may allocate.
  virtual void look(Wait& wait) const = 0;
  // Tells ranks of other hosts that they are waited for; called again and again.
  virtual void tell() const {}
  // Asks other hosts for what whom() will say; called a moment before whom().
  virtual void ask() const {}
  // Ranks of other hosts that wait in the same, and have asked since then.
  [[nodiscard]] virtual std::vector<int> askers([[maybe_unused]] int64_t since_ms) const {
    return {};
  }
  // "allreduce #3 (8 float32, sum)"; and "rank 2 (pid 77 on h) has not entered the call; ...".
  [[nodiscard]] virtual std::string what() const = 0;
  [[nodiscard]] virtual std::string whom() const = 0;

 protected:
  ~PendingWait() = default;
};

// The waits of one thread at a time.
class WaitReporter {
 public:
  // `note` may be null; what is given outlives it.
  WaitReporter(const WaitReportSettings& settings, WaitNote* note)
      : settings_(settings), note_(note) {}

  // Called again and again in the slow part of a wait.
  void report(const PendingWait& waiting);
  // The wait has ended. Returns whether it was long; was_reported() says so until the next wait
  // ends.
  bool end();
  [[nodiscard]] bool was_reported() const { return was_reported_; }

 private:
  void look(const PendingWait& waiting, int64_t now_ms);
  void warn(const PendingWait& waiting, int64_t now_ms) const;
  [[nodiscard]] bool is_beside_rank_0(int rank) const {
    return settings_.hosts == nullptr || settings_.hosts->host(rank) == settings_.hosts->host(0);
  }
  [[nodiscard]] bool another_says_it(const PendingWait& waiting, int64_t now_ms) const;
  [[nodiscard]] bool another_host_says_it(const PendingWait& waiting, int64_t now_ms) const;

  const WaitReportSettings& settings_;
  WaitNote* const note_;
  Wait wait_;  // since_ms is 0: nothing waits
  bool was_reported_ = false;
  int64_t next_look_ms_ = 0;
  int64_t next_warning_ms_ = 0;  // after the wait's begin; kNever: none
};

// Tells WaitReporter of the slow part of a wait, and of its end.
class ReportedWait final : public SlowWait {
 public:
  ReportedWait(WaitReporter& reporter, const PendingWait& waiting)
      : reporter_(reporter), waiting_(waiting) {}
  ~ReportedWait() { reporter_.end(); }
  ReportedWait(const ReportedWait&) = delete;
  void on_slow_round() override { reporter_.report(waiting_); }

 private:
  WaitReporter& reporter_;
  const PendingWait& waiting_;
};

// A collective call on lanes.
class PendingCall final : public PendingWait {
 public:
  // `started`: the call was started, and no thread waits for it.
  PendingCall(const LaneGroup& lanes, const CallRecord& record, Transport& transport,
              Journal* journal, bool started = false)
      : lanes_(lanes),
        record_(record),
        transport_(transport),
        journal_(journal),
        started_(started) {}
  void fill(Wait& wait) const override;
  void look(Wait& wait) const override;
  void tell() const override;
  void ask() const override;
  [[nodiscard]] std::vector<int> askers(int64_t since_ms) const override;
  [[nodiscard]] std::string what() const override { return describe(record_); }
  [[nodiscard]] std::string whom() const override;

 private:
  const LaneGroup& lanes_;
  const CallRecord record_;
  Transport& transport_;
  Journal* const journal_;  // null: all ranks are on this host
  const bool started_;
};

// The first that a rank of this host says that it waits for; none if it waits for nothing, or only
// since a moment.
std::optional<Wait> wait_of(Transport& transport, int rank);
// Says of the rank that is waited for on which host it is, as which process.
void set_place(Wait& wait, const PeerProcess& process);
// ", 14 s ago" of a call that began at that stamp; empty if it is not known or a moment only.
std::string ago(uint64_t stamp);
// "; it is stopped (state T)" of a rank of this host, or "; it waits in recv (...)".
std::string state_behind(Transport& transport, int rank);
// "; a message has come that no receive takes (4 float32 from rank 1, tag 8)", of Wait::last.
std::string describe_unexpected(const CallRecord& message);
// The wait in words; empty if there is none.
std::string describe(const Wait& wait);

}  // namespace tutti
