// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks on other hosts: asks for them (inspect/inquiry.hpp), and puts what is answered into what is
// known of a job. Times of another host become those of this one.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/inquiry.hpp"
#include "inspect/job.hpp"
#include "inspect/page.hpp"

namespace tutti::inspect {

struct FarPage {
  Page page;
  int64_t asked_ns = 0;  // on this host's monotonic clock; the page was written between these
  int64_t came_ns = 0;
};

struct FarAnswers {
  std::vector<RosterEntry> roster;
  std::vector<FarPage> pages;
};

// By way of a process of this host, until all have answered or the deadline.
FarAnswers ask(uint64_t socket, uint64_t calls, int64_t deadline_ms);

// The values of another host's clocks when this host's monotonic clock is at 0. The host's time of
// day is believed if it fits between question and answer. Else the answer is taken to have been
// made half-way.
class FarClock {
 public:
  FarClock(const FarPage& page, const Moment& now);
  // On this host's monotonic clock.
  [[nodiscard]] int64_t monotonic_ns(int64_t far_ns) const { return far_ns + offset_ns_; }

 private:
  int64_t offset_ns_ = 0;
};

// Asks through the processes of the job that reach its ranks elsewhere, and adds these.
void add_far_ranks(Job& job, const Reach& reach);

}  // namespace tutti::inspect
