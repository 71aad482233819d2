// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A meeting from its first client to its last: what a client may say and when, what is written to
// it, and the rounds. Arrivals, waits and what comes after the meeting are in meeting_arrivals.cpp,
// meeting_waits.cpp and meeting_control.cpp.
#include "bootstrap/meeting_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "bootstrap/service.hpp"

namespace tutti::bootstrap {
namespace {

bool is_to_know(const Link& link, const std::vector<int32_t>& left) {
  return !link.stranger && !link.ending && link.knows_left < left.size();
}

// The time for a rank whose relay has ended to notice that and to come back over a connection of
// its own. After that it counts as dead.
constexpr int64_t kReturnMs = 10'000;
// The most ranks that have left in one frame.
constexpr size_t kMostLeftInAFrame = kMostFrameBytes / sizeof(int32_t) / 2;

Addressed to(uint32_t number, MeetingFrameKind kind) {
  return {number, static_cast<int32_t>(kind)};
}

}  // namespace

Meeting::Meeting(const UniqueId& id, int64_t warn_after_ms, int64_t lifetime_ms, Clock clock)
    : Hub(id, clock),
      deadline_ms_(lifetime_ms == kNever ? kNever : now() + lifetime_ms),
      warn_after_ms_(warn_after_ms == 0 ? kNever : warn_after_ms) {}

Meeting::Meeting(const UniqueId& id, int rank, int ranks, const Status& why, int64_t until_ms)
    : Meeting(id) {
  ranks_ = ranks;
  arrived_ = 1;
  fail(why.code(),
       fmt::format("rank {} (pid {} on host {}): {}", rank, getpid(), host_name(), why.message()));
  linger_ms_ = until_ms;
}

bool Meeting::finished() const {
  switch (phase_) {
    case Phase::kArriving: return false;
    case Phase::kComplete:
    case Phase::kTogether:
      return attendees_.empty() &&
             std::ranges::none_of(links_, [](auto& link) { return link.relays && !link.gone; });
    case Phase::kFailed:
      return links_.empty() && ((ranks_ > 0 && arrived_ >= ranks_) || now() >= linger_ms_);
  }
  return true;
}

int64_t Meeting::next_deadline_ms() const {
  int64_t next_ms = deadline_ms_;
  if (phase_ == Phase::kFailed) next_ms = now() < linger_ms_ ? linger_ms_ : kNever;
  if (now() < tell_until_ms_) next_ms = std::min(next_ms, tell_until_ms_);
  if (warn_after_ms_ != kNever && anybody_waits()) {
    next_ms = std::min(next_ms, first_arrival_ms_ + warn_after_ms_);
  }
  for (const Attendee* one : away_) next_ms = std::min(next_ms, one->return_until_ms);
  return std::min(next_ms, Hub::next_deadline_ms());
}

void Meeting::forget_gone() {
  hang_up();
  bool any = false;
  for (Link& link : links_) {
    if (!link.gone) continue;
    any = true;
    for (auto& [number, attendee] : link.attendees) attendee->gone = true;
  }
  if (!any && !dropped_) return;
  dropped_ = false;
  attendees_.remove_if([this](const Attendee& attendee) {
    if (!attendee.gone) return false;
    if (attendee.link != nullptr) attendee.link->attendees.erase(attendee.number);
    const auto found = by_rank_.find(attendee.rank);
    if (found != by_rank_.end() && found->second == &attendee) by_rank_.erase(found);
    return true;
  });
  Hub::forget_gone();
}

// ---- what is written ---------------------------------------------------------------------------

bool Meeting::has_more(const Link& link) const {
  return Hub::has_more(link) || is_to_know(link, left_);
}

// A rank in this process comes last. Once it has its answer it may end the process, and the service
// with it, so the others must have theirs by then. After a failure this includes those that are yet
// to come, and when it leaves those whose relay has ended.
bool Meeting::may_write(const Link& link) const {
  if (link.gone || !has_more(link)) return false;
  if (!link.origin.own) return true;
  const bool all_are_to_know = now() < tell_until_ms_;
  if (link.ending && all_are_to_know && arrived_ < ranks_) return false;
  if (link.ending && !away_.empty()) return false;
  return std::ranges::all_of(links_, [&](const Link& other) {
    const bool counts = !other.stranger || (all_are_to_know && other.ending);
    return !counts || other.gone || other.origin.own || !has_more(other);
  });
}

void Meeting::put_more(Link& link) {
  if (!is_to_know(link, left_)) return;
  const auto news = std::span(left_).subspan(link.knows_left);
  const auto told = std::as_bytes(news.first(std::min(news.size(), kMostLeftInAFrame)));
  if (link.relays) {
    link.session.put(MeetingFrameKind::kToAll, {bytes_of(to(0, MeetingFrameKind::kLeft)), told});
  } else {
    link.session.put(MeetingFrameKind::kLeft, {told});
  }
  link.knows_left += told.size() / sizeof(int32_t);
}

void Meeting::say(Link& link, uint32_t number, MeetingFrameKind kind, Body body) {
  if (!link.relays) return link.session.put(kind, body);
  std::vector<std::byte> whole;
  for (const auto& part : body) whole.insert(whole.end(), part.begin(), part.end());
  link.session.put(MeetingFrameKind::kTo, {bytes_of(to(number, kind)), whole});
}

void Meeting::say(Attendee& attendee, MeetingFrameKind kind, Body body) {
  if (attendee.link != nullptr) say(*attendee.link, attendee.number, kind, body);
}

void Meeting::say_to_all(MeetingFrameKind kind, std::span<const std::byte> body,
                         const Attendee* but) {
  for (Link& link : links_) {
    if (link.stranger || link.ending || link.gone) continue;
    const bool is_excepted = but != nullptr && but->link == &link;
    if (link.relays) {
      link.session.put(MeetingFrameKind::kToAll,
                       {bytes_of(to(is_excepted ? but->number : 0, kind)), body});
    } else if (!is_excepted) {
      link.session.put(kind, {body});
    }
  }
}

std::vector<std::byte> Meeting::of_rank(const Attendee& attendee, std::span<const std::byte> body) {
  const auto rank = bytes_of(attendee.rank);
  std::vector<std::byte> whole(rank.begin(), rank.end());
  whole.insert(whole.end(), body.begin(), body.end());
  return whole;
}

void Meeting::give_to_all(MeetingFrameKind kind, Bodies&& outcome) {
  for (std::vector<std::byte>& frame : outcome) {
    const auto body = std::make_shared<const std::vector<std::byte>>(std::move(frame));
    for (Link& link : links_) {
      if (!link.stranger && !link.ending && !link.gone) link.queue.push_back({kind, body});
    }
  }
}

void Meeting::end(Attendee& attendee, int64_t give_up_ms) {
  attendee.ending = true;
  if (attendee.link == nullptr) return;
  Link& link = *attendee.link;
  if (link.relays)
    return link.session.put(MeetingFrameKind::kHangUp, {bytes_of(Addressed{attendee.number, 0})});
  link.ending = true;
  link.give_up_ms = give_up_ms;
}

void Meeting::refuse(Link& link, uint32_t number, Code code, const std::string& text) {
  const int64_t give_up_ms = std::max(now(), tell_until_ms_) + kHandshakeMs;
  if (!link.relays) return turn_away(link, code, text, give_up_ms);
  say(link, number, MeetingFrameKind::kError, {failure_bytes({code, text})});
  link.session.put(MeetingFrameKind::kHangUp, {bytes_of(Addressed{number, 0})});
}

// ---- what is said ------------------------------------------------------------------------------

void Meeting::handle(Link& link, const MeetingFrame& frame) {
  if (link.stranger) return greet(link, frame);
  if (link.relays) return hear_relay(link, frame);
  const auto here = link.attendees.find(0);
  if (here != link.attendees.end()) handle(*here->second, frame);
}

void Meeting::hear_relay(Link& link, const MeetingFrame& frame) {
  if (frame.kind == MeetingFrameKind::kRefused) {
    return refused_.count_version(text_in(frame.body), link.origin.from);
  }
  MeetingFrame inner = frame;
  Addressed from{};
  if (!take(inner.body, from)) return lost(link, 0);
  const auto found = link.attendees.find(from.client);
  Attendee* const attendee =
      found == link.attendees.end() || found->second->gone ? nullptr : found->second;
  if (frame.kind == MeetingFrameKind::kHungUp) {
    if (attendee != nullptr) lose(*attendee, from.what);
    return;
  }
  if (frame.kind != MeetingFrameKind::kFrom || from.client == 0) return lost(link, 0);
  inner.kind = static_cast<MeetingFrameKind>(from.what);
  if (attendee != nullptr) {
    if (!attendee->ending) handle(*attendee, inner);
  } else if (Hello hello{}; inner.kind == MeetingFrameKind::kHello &&
                            inner.body.size() == sizeof hello && take(inner.body, hello)) {
    greet(link, from.client, hello);
  }  // attendees that have been refused are not heard
}

void Meeting::handle(Attendee& attendee, const MeetingFrame& frame) {
  if (frame.kind == MeetingFrameKind::kLeave) return leave(attendee);
  if (phase_ == Phase::kTogether) return handle_together(attendee, frame);
  if (frame.kind == MeetingFrameKind::kFail) return fail_by(attendee, frame.body);
  if (phase_ != Phase::kComplete) return lose(attendee, 0);
  const bool ready =
      !attendee.gathered.has_value() && attendee.link->queue.empty() && !attendee.staying;
  if (!ready) return lose(attendee, 0);
  if (frame.kind == MeetingFrameKind::kStay) return stay(attendee);
  if (frame.kind == MeetingFrameKind::kGather) return gather(attendee, frame.body);
  lose(attendee, 0);
}

// ---- gathering ---------------------------------------------------------------------------------

void Meeting::gather(Attendee& attendee, std::span<const std::byte> contribution) {
  if (contribution.size() > kMostGatherBytes) return lose(attendee, 0);
  attendee.gathered.emplace(contribution.begin(), contribution.end());
  ++gathered_;
  finish_round();
}

void Meeting::finish_round() {
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  if (gathered_ < ranks_) return;
  gathered_ = 0;
  Contributions contributions(static_cast<size_t>(ranks_));
  for (Attendee& attendee : attendees_) {
    if (!attendee.gathered.has_value()) continue;
    contributions[static_cast<size_t>(attendee.rank)] = *std::move(attendee.gathered);
    attendee.gathered.reset();
  }
  give_to_all(MeetingFrameKind::kContributions, pack_contributions(contributions));
}

// ---- the end -----------------------------------------------------------------------------------

// Marks an attendee, which forget_gone() then removes.
void Meeting::forget(Attendee& attendee) {
  attendee.gone = true;
  dropped_ = true;
  std::erase(away_, &attendee);
  if (attendee.link != nullptr && !attendee.link->relays) attendee.link->gone = true;
}

// The rank in a relay's process ends with it. The others of its host may come back once all stay.
void Meeting::broke(Link& link, int error) {
  std::vector<Attendee*> all;
  for (auto& [number, attendee] : link.attendees) all.push_back(attendee);
  std::stable_partition(all.begin(), all.end(),
                        [](const Attendee* attendee) { return attendee->beside_relay; });
  for (Attendee* attendee : all) {
    const bool may_return = phase_ == Phase::kTogether && link.relays && !attendee->ending &&
                            !attendee->beside_relay && returns_.known();
    if (!may_return) {
      lose(*attendee, error);
      continue;
    }
    attendee->link = nullptr;
    attendee->return_until_ms = now() + kReturnMs;
    link.attendees.erase(attendee->number);
    away_.push_back(attendee);
  }
}

// The connection broke, or the client spoke nonsense.
void Meeting::lose(Attendee& attendee, int error) {
  if (attendee.gone) return;
  const bool ending = attendee.ending;
  forget(attendee);
  Link* const link = attendee.link;
  if (link != nullptr && link->relays && !link->gone) {
    link->session.put(MeetingFrameKind::kHangUp, {bytes_of(Addressed{attendee.number, 0})});
  }
  if (ending) return;
  if (phase_ != Phase::kTogether) {
    const std::string what = error == EPROTO ? connection_broke(error) : " ended";
    return fail(Code::kPeerFailed, who(attendee) + what + " while the communicator was being made");
  }
  const std::string text = who(attendee) + connection_broke(error);
  tell_failure(attendee, failure_bytes({Code::kPeerFailed, text}));
  finish_regrouping();
}

void Meeting::tell_failure(const Attendee& attendee, std::span<const std::byte> body) {
  const auto& [rank, told] = failures_.emplace_back(attendee.rank, of_rank(attendee, body));
  say_to_all(MeetingFrameKind::kFailed, told, &attendee);
}

// Tells every member but one, now and later, and ends the meeting.
void Meeting::fail(Code code, const std::string& text, const Attendee* but) {
  if (phase_ == Phase::kFailed) return;
  phase_ = Phase::kFailed;
  failure_code_ = code;
  failure_ = text;
  linger_ms_ =
      deadline_ms_ == kNever ? now() + kHandshakeMs : std::max(deadline_ms_, now() + kHandshakeMs);
  const auto body = failure_bytes({code, text});
  const int64_t give_up_ms = std::max(now(), tell_until_ms_) + kHandshakeMs;
  for (Link& link : links_) {
    link.queue.clear();
    if (link.relays) link.give_up_ms = end_of_relays_ms();
  }
  say_to_all(MeetingFrameKind::kError, body, but);
  for (Attendee& attendee : attendees_) {
    if (&attendee == but || attendee.ending || attendee.gone) continue;
    attendee.ending = true;
    if (attendee.link == nullptr || attendee.link->relays)
      continue;  // end() hangs up on whoever it tells of an error
    attendee.link->ending = true;
    attendee.link->give_up_ms = give_up_ms;
  }
}

// A member cannot go on, and says why. The others come first: with a relay's rank its process may
// end.
void Meeting::fail_by(Attendee& attendee, std::span<const std::byte> body) {
  if (body.size() > sizeof(int32_t) + kMostTextBytes) return lose(attendee, 0);
  const Status why = failure_in(body);
  tell_until_ms_ = std::min(deadline_ms_, now() + kTellMs);
  fail(why.code(), fmt::format("{}: {}", who(attendee), why.message()), &attendee);
  say(attendee, MeetingFrameKind::kGoodbye, {});
  end(attendee, tell_until_ms_ + kHandshakeMs);
}

}  // namespace tutti::bootstrap
