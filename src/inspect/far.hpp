// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks on other hosts: asks for them (inspect/inquiry.hpp), and puts what is answered into what is
// known of a job. Times of another host become those of this one.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
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

// The packets that come after a question, until nothing is missing.
class Answers {
 public:
  // False: nonsense.
  bool take(std::span<const std::byte> packet);
  // All that are asked have said that they are done, or are said to be unable to.
  [[nodiscard]] bool complete() const { return roster_is_complete_ && silent_.empty(); }
  FarAnswers give() { return std::move(answers_); }

 private:
  bool take_roster(std::span<const std::byte> rest);
  bool take_page(const InquiryHead& head, std::span<const std::byte> rest);

  FarAnswers answers_;
  std::set<std::pair<uint64_t, int64_t>> silent_;  // ranks, by the keys of their communicators
  bool roster_is_complete_ = false;
};

// Asks by way of a process of this host, until all have answered or the deadline.
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

// Adds the ranks that answers tell of, and those that have not answered.
void add_answers(Job& job, const FarAnswers& answers);
// Asks through the processes of the job that reach its ranks elsewhere, and adds these.
void add_far_ranks(Job& job, const Reach& reach);

}  // namespace tutti::inspect
