// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a wait that lasts says of itself: after a moment in shared memory, to those who look from
// outside (transports/notes.hpp), and after TUTTI_WARN_AFTER_MS in the log, then at intervals that
// grow. Of the ranks of a host that wait in one communicator the lowest says it for all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/wait.hpp"
#include "exec/journal.hpp"
#include "exec/lane_group.hpp"
#include "transports/transport.hpp"

namespace tutti {

// Of a rank of a communicator.
struct LatenessSettings {
  int rank = 0;
  int ranks = 1;
  Transport* transport = nullptr;
  int64_t warn_after_ms = 0;  // 0: never
  std::string communicator;   // its name
};

// What waits. Asked in the slow part of waiting only.
class Awaiting {
 public:
  // What is known at once; without allocation.
  virtual void fill(Wait& wait) const = 0;
  // For whom.
  virtual void look(Wait& wait) const = 0;
  // "allreduce #3 (8 float32, sum)"; and "rank 2 (pid 77 on h) has not entered the call; ...".
  [[nodiscard]] virtual std::string what() const = 0;
  [[nodiscard]] virtual std::string whom() const = 0;

 protected:
  ~Awaiting() = default;
};

// Of one thread at a time.
class Lateness {
 public:
  // `note` may be null; what is given outlives it.
  Lateness(const LatenessSettings& settings, WaitNote* note) : settings_(settings), note_(note) {}

  void lasts(const Awaiting& waiting);
  // Whether it had lasted; and once more, until the next ends.
  bool ends();
  [[nodiscard]] bool lasted() const { return lasted_; }

 private:
  void look(const Awaiting& waiting, int64_t now_ms);
  void warn(const Awaiting& waiting, int64_t now_ms) const;
  [[nodiscard]] bool another_says_it(int64_t now_ms) const;

  const LatenessSettings& settings_;
  WaitNote* const note_;
  Wait wait_;  // since_ms is 0: nothing waits
  bool lasted_ = false;
  int64_t next_look_ms_ = 0;
  int64_t next_warning_ms_ = 0;  // after the wait's begin; kNever: none
};

// A wait whose slow part is told of here.
class Lasting final : public SlowWait {
 public:
  Lasting(Lateness& lateness, const Awaiting& waiting) : lateness_(lateness), waiting_(waiting) {}
  ~Lasting() { lateness_.ends(); }
  Lasting(const Lasting&) = delete;
  void lasts() override { lateness_.lasts(waiting_); }

 private:
  Lateness& lateness_;
  const Awaiting& waiting_;
};

// A collective call on lanes.
class AwaitingCall final : public Awaiting {
 public:
  // `started`: no thread waits for it.
  AwaitingCall(const LaneGroup& lanes, const CallRecord& record, Transport& transport,
               const Journal* journal, bool started = false)
      : lanes_(lanes),
        record_(record),
        transport_(transport),
        journal_(journal),
        started_(started) {}
  void fill(Wait& wait) const override;
  void look(Wait& wait) const override;
  [[nodiscard]] std::string what() const override { return describe(record_); }
  [[nodiscard]] std::string whom() const override { return lanes_.blocked_on(); }

 private:
  const LaneGroup& lanes_;
  const CallRecord record_;
  Transport& transport_;
  const Journal* const journal_;  // null: all ranks are on this host
  const bool started_;
};

// Of one that is waited for on another host.
void set_place(Wait& wait, const PeerProcess& process);
// ", 14 s ago" of a call that began at that stamp; empty if it is not known or a moment only.
std::string ago(uint64_t stamp);
// "; it is stopped (state T)" of a rank of this host, or "; it waits in recv (...)".
std::string state_behind(Transport& transport, int rank);
// What waits, in words; empty if nothing does.
std::string describe(const Wait& wait);

}  // namespace tutti
