// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The members of a meeting after it, as long as they stay in touch.
#include <algorithm>
#include <utility>

#include "bootstrap/meeting_state.hpp"

namespace tutti::bootstrap {

// ---- staying -----------------------------------------------------------------------------------

void Meeting::stay(Attendee& attendee) {
  attendee.staying = true;
  ++staying_;
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  if (staying_ < ranks_) return;
  Keeper keeper{-1, getpid(), host_field(host_name()), returns_};
  for (const Link& link : links_) {
    if (!link.origin.own || link.gone) continue;
    for (const auto& [number, own] : link.attendees) {
      if (keeper.rank < 0 || own->rank < keeper.rank) keeper.rank = own->rank;
    }
  }
  phase_ = Phase::kTogether;
  deadline_ms_ = kNever;
  say_to_all(MeetingFrameKind::kStayed, bytes_of(keeper));
}

void Meeting::leave(Attendee& attendee) {
  if (phase_ == Phase::kComplete) {
    leaver_ = who(attendee);
    staying_ -= attendee.staying ? 1 : 0;
    end(attendee, now());
    forget(attendee);
    if (gathered_ > 0 || staying_ > 0) finish_round();
    return;
  }
  if (phase_ != Phase::kTogether) return lose(attendee, 0);
  left_.push_back(attendee.rank);
  say(attendee, MeetingFrameKind::kGoodbye, {});
  end(attendee, now() + kHandshakeMs);
  finish_regrouping();
  // Once the last rank of the service's own process has left, that process may end. The other
  // members are told, so that the end of their connections does not count as a failure.
  const auto own = [](const Link& link) {
    return link.origin.own && !link.stranger && !link.ending && !link.gone;
  };
  if (attendee.link != nullptr && attendee.link->origin.own && std::ranges::none_of(links_, own)) {
    said_goodbye_ = true;
    say_to_all(MeetingFrameKind::kGoodbye, {});
  }
}

void Meeting::handle_together(Attendee& attendee, const MeetingFrame& frame) {
  switch (frame.kind) {
    case MeetingFrameKind::kFail: return pass_on_failure(attendee, frame.body);
    case MeetingFrameKind::kTell: return pass_on(attendee, frame.body, kNews);
    case MeetingFrameKind::kSendPage: return pass_on(attendee, frame.body, kPages);
    case MeetingFrameKind::kRegroup: return regroup(attendee, frame.body);
    case MeetingFrameKind::kWithdraw: return withdraw(attendee);
    default: return lose(attendee, 0);
  }
}

// After the first rank has failed all others do. Their failures say nothing new, and with p ranks
// they would be p * p messages.
void Meeting::pass_on_failure(Attendee& attendee, std::span<const std::byte> body) {
  constexpr int kMostFailuresTold = 16;
  if (body.size() > sizeof(int32_t) + kMostTextBytes) return lose(attendee, 0);
  if (++failures_told_ > kMostFailuresTold) return;
  tell_failure(attendee, body);
}

// A receiver that has gone, or reads nothing of what was sent to it before, does not get it.
void Meeting::pass_on(Attendee& attendee, std::span<const std::byte> body, const Passage& passage) {
  int32_t rank = -1;
  if (!take(body, rank) || body.size() > passage.most_bytes) return lose(attendee, 0);
  Attendee* const to = member(rank);
  if (to == nullptr || to->ending || to->link == nullptr) return;
  const Link& link = *to->link;
  if (link.session.out().size() > passage.most_unsent * link.attendees.size()) return;
  say(*to, passage.kind, {bytes_of(attendee.rank), body});
}

// ---- regrouping --------------------------------------------------------------------------------

namespace {

bool may_regroup(const Attendee& attendee) { return !attendee.ending && !attendee.gone; }

}  // namespace

void Meeting::regroup(Attendee& attendee, std::span<const std::byte> body) {
  if (body.size() > kMostNewsBytes || attendee.regroups.has_value()) return lose(attendee, 0);
  if (std::exchange(attendee.repeats, false)) return;
  attendee.regroups.emplace(body.begin(), body.end());
  attendee.withdrew = false;
  finish_regrouping();
}

// A withdrawal comes too late if the round has ended: its outcome is on its way to the attendee.
void Meeting::withdraw(Attendee& attendee) {
  if (!attendee.regroups.has_value()) return;
  attendee.regroups.reset();
  attendee.withdrew = true;
  const Attendee* first = nullptr;  // one for whom all waited, if there is any
  int32_t count = 0;
  for (const Attendee& other : attendees_) {
    if (&other == &attendee || !may_regroup(other) || other.regroups.has_value()) continue;
    ++count;
    const auto order = [](const Attendee& one) { return std::pair(one.withdrew, one.rank); };
    if (first == nullptr || order(other) < order(*first)) first = &other;
  }
  const int32_t rank = first == nullptr ? -1 : first->rank;
  say(attendee, MeetingFrameKind::kWithdrawn, {bytes_of(rank), bytes_of(count)});
}

// Ends the round of regrouping if all members that are left take part in it.
void Meeting::finish_regrouping() {
  std::vector<Attendee*> left;
  for (Attendee& attendee : attendees_) {
    if (!may_regroup(attendee)) continue;
    if (!attendee.regroups.has_value()) return;
    left.push_back(&attendee);
  }
  if (left.empty()) return;
  std::ranges::sort(left, {}, &Attendee::rank);
  Contributions contributions;
  for (Attendee* attendee : left) {
    contributions.push_back(of_rank(*attendee, *attendee->regroups));
    attendee->regroups.reset();
  }
  Bodies bodies = pack_contributions(contributions);
  bodies.emplace_back();
  regrouped_ = bodies;
  ++rounds_;
  give_to_all(MeetingFrameKind::kRegroupContributions, std::move(bodies));
}

// ---- coming back -------------------------------------------------------------------------------

bool Meeting::expects_returns() const {
  return phase_ == Phase::kComplete &&
         std::ranges::any_of(links_, [](const Link& link) { return link.relays; });
}

// Takes back a rank that goes around its relay. It is told what it missed. It says again what may
// have been lost: its contribution to a round, that it has failed, or that it leaves. A relay that
// goes on passes on what it said before under a number that nobody knows any more.
void Meeting::take_back(Link& link, std::span<const std::byte> body) {
  Return back{};
  Attendee* attendee = nullptr;
  const bool known = body.size() == sizeof back && take(body, back) && phase_ == Phase::kTogether &&
                     (attendee = member(back.rank)) != nullptr;
  if (!known || attendee->ending || back.left > left_.size()) return lost(link, 0);
  if (attendee->link != nullptr) {
    if (!attendee->link->relays || attendee->beside_relay) return lost(link, 0);
    if (back.relay_runs != 0) {
      attendee->link->session.put(MeetingFrameKind::kHangUp,
                                  {bytes_of(Addressed{attendee->number, 0})});
      attendee->link->attendees.erase(attendee->number);
    } else {
      // The relay's end may never be noticed: a child may hold the connection open.
      lost(*attendee->link, 0);
    }
  }
  std::erase(away_, attendee);
  attendee->link = &link;
  attendee->number = 0;
  // A round could not be over without a contribution of this rank, which gives it again.
  attendee->repeats = back.rounds != rounds_;
  attendee->regroups.reset();
  link.attendees[0] = attendee;
  link.stranger = false;
  link.give_up_ms = kNever;
  link.knows_left = back.left;
  if (said_goodbye_) link.session.put(MeetingFrameKind::kGoodbye, {});
  uint32_t skipped = 0;
  for (const auto& [rank, told] : failures_) {
    if (rank != back.rank && skipped++ >= back.failures)
      link.session.put(MeetingFrameKind::kFailed, {told});
  }
  if (!attendee->repeats) return;
  for (const std::vector<std::byte>& contribution : regrouped_) {
    link.session.put(MeetingFrameKind::kRegroupContributions, {contribution});
  }
}

}  // namespace tutti::bootstrap
