// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Arrivals at a meeting: whether a client belongs there, and whether the ranks make sense together.

#include "bootstrap/meeting_state.hpp"

#include "core/types.hpp"

namespace tutti::bootstrap {
namespace {

bool is_newcomer(const Hello& hello) { return hello.ranks == 0 && hello.newcomers > 0; }

std::string name_of(const Hello& hello) {
  return fmt::format("{} {}", is_newcomer(hello) ? "newcomer" : "rank", hello.rank);
}

std::string with_process(const std::string& name, int pid, const std::string& host) {
  return fmt::format("{} (pid {} on host {})", name, pid, host);
}

std::string with_process(const Hello& hello) {
  return with_process(name_of(hello), hello.pid, text_of(hello.host));
}

}  // namespace

// Decides whether the client belongs here at all.
void Meeting::greet(Link& link, const MeetingFrame& frame) {
  std::span<const std::byte> body = frame.body;
  if (refuse_other_user(link)) return;
  if (frame.kind == MeetingFrameKind::kRelay) {
    if (!body.empty()) return lost(link, 0);
    link.relays = true;
    link.stranger = false;
    link.give_up_ms = phase_ == Phase::kFailed ? end_of_relays_ms() : kNever;
    return;
  }
  if (frame.kind == MeetingFrameKind::kReturn) return take_back(link, body);
  Hello hello{};
  const bool releases = frame.kind == MeetingFrameKind::kRelease;
  const bool says_hello =
      frame.kind == MeetingFrameKind::kHello && body.size() == sizeof hello && take(body, hello);
  if (!releases && !says_hello) return lost(link, 0);
  if (link.origin.pid > 0) hello.pid = link.origin.pid;
  if (releases) return release(link);
  greet(link, 0, hello);
}

void Meeting::greet(Link& link, uint32_t number, const Hello& hello) {
  if (phase_ == Phase::kFailed) {
    ++arrived_;
    return refuse(link, number, failure_code_, failure_);
  }
  if (phase_ != Phase::kArriving) {
    return refuse(link, number, Code::kInvalidUsage,
                  fmt::format("{} comes after all {} ranks have met: an id is good for one "
                              "communicator, once per rank",
                              with_process(hello), ranks_));
  }
  admit(link, number, hello);
}

// Ends the meeting, unless all have met: nobody is to meet here.
void Meeting::release(Link& link) {
  link.session.put(MeetingFrameKind::kGoodbye, {});
  link.ending = true;
  link.give_up_ms = now() + kHandshakeMs;
  if (phase_ != Phase::kArriving) return;
  fail(Code::kAborted,
       fmt::format("the id ({}) was given back before all ranks had met", id_.describe()));
  linger_ms_ = now();
}

// Decides whether the ranks so far make sense together.
void Meeting::admit(Link& link, uint32_t number, const Hello& hello) {
  if (arrived_++ == 0) {
    deadline_ms_ = kNever;
    newcomers_ = hello.newcomers;
    first_ = name_of(hello);
    first_arrival_ms_ = now();
  }
  const std::string wrong = objection(hello);
  if (wrong.empty() && ranks_ == 0 && !is_newcomer(hello)) learn_ranks(hello);
  const int before = is_newcomer(hello) && ranks_ > 0 ? ranks_ - newcomers_ : 0;
  const int rank = wrong.empty() ? before + hello.rank : 0;
  const Attendee* twin = wrong.empty() ? member(rank) : nullptr;
  Attendee& attendee = attendees_.emplace_back(Attendee{.link = &link,
                                                        .number = number,
                                                        .rank = rank,
                                                        .newcomer = is_newcomer(hello),
                                                        .pid = hello.pid,
                                                        .beside_relay = hello.beside_relay != 0,
                                                        .host = text_of(hello.host)});
  link.attendees[number] = &attendee;
  link.stranger = false;
  if (!link.relays) link.give_up_ms = kNever;
  say(attendee, MeetingFrameKind::kAdmitted, {});
  if (hello.timeout_ms >= 0) deadline_ms_ = std::min(deadline_ms_, now() + hello.timeout_ms);
  if (!wrong.empty()) {
    return fail(Code::kInvalidArgument, with_process(hello) + " " + wrong);
  }
  if (twin != nullptr) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} arrived twice: pid {} on host {}, and pid {} on host {}",
                            name_of(hello), twin->pid, twin->host, attendee.pid, attendee.host));
  }
  by_rank_[rank] = &attendee;
  if (ranks_ == 0 || arrived_ < ranks_) return;
  phase_ = Phase::kComplete;
  for (Attendee& other : attendees_) {
    say(other, MeetingFrameKind::kWelcome, {bytes_of(Seat{other.rank, ranks_})});
  }
}

// The objection to a rank, given those that have arrived; empty if there is none.
std::string Meeting::objection(const Hello& hello) const {
  if (hello.newcomers != newcomers_ || hello.newcomers < 0 || hello.newcomers >= kMostRanks) {
    return fmt::format("said that {} ranks are new, {} said {}", hello.newcomers, first_,
                       newcomers_);
  }
  if (is_newcomer(hello)) {
    if (hello.rank >= 0 && hello.rank < newcomers_) return {};
    return fmt::format("is out of range: there are {} newcomers, 0 to {}", newcomers_,
                       newcomers_ - 1);
  }
  if (hello.ranks < 1 || hello.ranks > kMostRanks) {
    return fmt::format("said there are {} ranks, expected 1 to {}", hello.ranks, kMostRanks);
  }
  if (ranks_ != 0 && hello.ranks != ranks_) {
    return fmt::format("said there are {} ranks, {} said {}", hello.ranks, knows_, ranks_);
  }
  const int known = hello.ranks - newcomers_;
  if (hello.rank >= 0 && hello.rank < known) return {};
  return fmt::format("is out of range: there are {} {}ranks, 0 to {}", known,
                     newcomers_ > 0 ? "old " : "", known - 1);
}

// Newcomers that came before get their ranks.
void Meeting::learn_ranks(const Hello& hello) {
  ranks_ = hello.ranks;
  knows_ = name_of(hello);
  by_rank_.clear();
  for (Attendee& attendee : attendees_) {
    if (attendee.newcomer) attendee.rank += ranks_ - newcomers_;
    by_rank_[attendee.rank] = &attendee;
  }
}

std::string Meeting::who(const Attendee& attendee) const {
  const bool numbered = ranks_ > 0 || !attendee.newcomer;
  return with_process(fmt::format("{} {}", numbered ? "rank" : "newcomer", attendee.rank),
                      attendee.pid, attendee.host);
}

Attendee* Meeting::member(int rank) {
  const auto found = by_rank_.find(rank);
  if (found == by_rank_.end() || found->second->gone) return nullptr;
  const Link* const link = found->second->link;
  return link != nullptr && link->gone ? nullptr : found->second;
}

}  // namespace tutti::bootstrap
