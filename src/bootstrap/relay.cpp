// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/relay.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "bootstrap/member_state.hpp"

namespace tutti::bootstrap {
namespace {

// The most frames of a client that wait to be passed on: a hello, and why it cannot take part.
constexpr std::ptrdiff_t kMostHeld = 2;

bool hears(const Link& link) { return link.number != 0 && !link.ending && !link.gone; }

}  // namespace

Relay::Relay(const UniqueId& id, Clock clock)
    : Hub(id, clock),
      meeting_(
          &links_.emplace_back(Session::Side::kMember, Origin{.from = "the meeting"}, id, now())),
      first_until_ms_(now() + kProofMs) {
  meeting_->stranger = false;
  meeting_->give_up_ms = first_until_ms_;
}

int64_t Relay::next_deadline_ms() const {
  const int64_t next_ms = Hub::next_deadline_ms();
  return last_number_ == 0 ? std::min(next_ms, first_until_ms_) : next_ms;
}

bool Relay::finished() const {
  if (meeting_ == nullptr) return links_.empty();
  const bool deserted = last_number_ > 0 || now() >= first_until_ms_;
  return deserted && links_.size() == 1 && held_.empty() && !has_more(*meeting_);
}

// A rank in this process comes last: it may end the process then, and the relay with it. So what
// others say has been passed on by then, and one that leaves does so after the others.
bool Relay::may_write(const Link& link) const {
  if (link.gone || !has_more(link)) return false;
  return !link.origin.own || std::ranges::all_of(links_, [&](const Link& other) {
    if (&other == meeting_) return other.gone || !has_more(other);
    if (other.number == 0 || other.gone || other.origin.own) return true;
    return !has_more(other) && !(link.ending && together_);
  });
}

void Relay::forget_gone() {
  hang_up();
  for (const Link& link : links_) {
    if (link.gone && clients_.erase(link.number) > 0) {
      pass_up(MeetingFrameKind::kHungUp, {link.number, 0}, {});
    }
  }
  if (meeting_ != nullptr && meeting_->gone) meeting_ = nullptr;
  Hub::forget_gone();
}

// ---- to the meeting ----------------------------------------------------------------------------

void Relay::handle(Link& link, const MeetingFrame& frame) {
  if (&link == meeting_) return hear_meeting(frame);
  if (link.number == 0) return greet(link, frame);
  pass_up(MeetingFrameKind::kFrom, {link.number, static_cast<int32_t>(frame.kind)}, frame.body);
}

// The meeting learns the pid from the system's knowledge of it, as of its own clients. It cannot
// tell by a pid who is in this process: ranks of several containers may have the same one.
void Relay::greet(Link& link, MeetingFrame frame) {
  if (refuse_other_user(link)) return;
  Hello hello{};
  const bool says_hello = frame.kind == MeetingFrameKind::kHello &&
                          frame.body.size() == sizeof hello && take(frame.body, hello);
  if (!says_hello) return lost(link, 0);
  if (link.origin.pid > 0) hello.pid = link.origin.pid;
  hello.beside_relay = link.origin.own ? 1 : 0;
  link.number = ++last_number_;
  link.stranger = false;
  link.give_up_ms = kNever;
  clients_[link.number] = &link;
  pass_up(MeetingFrameKind::kFrom, {link.number, static_cast<int32_t>(MeetingFrameKind::kHello)},
          bytes_of(hello));
}

void Relay::pass_up(MeetingFrameKind kind, const Addressed& from, Body body) {
  if (meeting_ == nullptr || meeting_->gone) return;
  const auto client = clients_.find(from.client);
  const auto unwelcome = [&] {
    if (client != clients_.end()) lost(*client->second, 0);
  };
  if (body.size() > kMostBodyBytes) return unwelcome();
  if (introduced_) {
    const bool page = from.what == static_cast<int32_t>(MeetingFrameKind::kSendPage);
    if (page && meeting_->session.out().size() > kPages.most_unsent) return;
    return meeting_->session.put(kind, {bytes_of(from), body});
  }
  const auto held =
      std::ranges::count(held_, from.client, [](auto& one) { return one.from.client; });
  if (held >= kMostHeld && kind != MeetingFrameKind::kHungUp) return unwelcome();
  held_.push_back({kind, from, {body.begin(), body.end()}});
}

void Relay::heard(Link& link) {
  if (&link != meeting_ || introduced_ || !link.session.established()) return;
  introduced_ = true;
  link.give_up_ms = kNever;
  link.session.put(MeetingFrameKind::kRelay, {});
  for (const Held& one : std::exchange(held_, {})) pass_up(one.kind, one.from, one.body);
}

void Relay::broke(Link& link, int error) {
  if (&link == meeting_) return lose_meeting(error);
  pass_up(MeetingFrameKind::kHungUp, {link.number, error}, {});
  clients_.erase(link.number);
}

void Relay::refuse_version(const Link& link) {
  Hub::refuse_version(link);
  pass_up(MeetingFrameKind::kRefused, {0, 0}, bytes_of(std::string_view(link.session.other())));
}

// ---- from the meeting --------------------------------------------------------------------------

void Relay::hear_meeting(const MeetingFrame& frame) {
  Body body = frame.body;
  Addressed to{};
  if (!take(body, to)) return lost(*meeting_, EPROTO);
  const auto kind = static_cast<MeetingFrameKind>(to.what);
  if (frame.kind == MeetingFrameKind::kToAll) return pass_to_all(to.client, kind, body);
  const auto found = clients_.find(to.client);
  if (found == clients_.end() || !hears(*found->second)) return;  // it has gone meanwhile
  Link& link = *found->second;
  if (frame.kind == MeetingFrameKind::kTo) return pass_down(link, kind, body);
  if (frame.kind != MeetingFrameKind::kHangUp) return lost(*meeting_, EPROTO);
  link.ending = true;
  link.give_up_ms = now() + kHandshakeMs;
}

void Relay::pass_to_all(uint32_t but, MeetingFrameKind kind, Body body) {
  if (kind == MeetingFrameKind::kStayed) together_ = true;
  const bool in_turn =
      kind == MeetingFrameKind::kContributions || kind == MeetingFrameKind::kRegroupContributions;
  const auto shared = std::make_shared<const std::vector<std::byte>>(body.begin(), body.end());
  for (const auto& [number, link] : clients_) {
    if (number == but || !hears(*link)) continue;
    if (!link->admitted && kind != MeetingFrameKind::kError) continue;
    if (in_turn) {
      link->queue.push_back({kind, shared});
    } else {
      pass_down(*link, kind, *shared);
    }
  }
}

void Relay::pass_down(Link& link, MeetingFrameKind kind, Body body) {
  const size_t unsent = link.session.out().size();
  if (kind == kNews.kind && unsent > kNews.most_unsent) return;
  if (kind == kPages.kind && unsent > kPages.most_unsent) return;
  if (kind == MeetingFrameKind::kAdmitted) link.admitted = true;
  if (kind == MeetingFrameKind::kWelcome) expects_more_ = false;
  if (kind == MeetingFrameKind::kError) {
    link.queue.clear();
    link.ending = true;
    link.give_up_ms = now() + kHandshakeMs;
  }
  link.session.put(kind, {body});
}

// Ends the links to the ranks. Ranks that make a communicator see that nobody serves them any more.
// Ranks that have not been heard yet may try again.
void Relay::lose_meeting(int error) {
  expects_more_ = false;
  const Refusal refusal = meeting_->session.refusal();
  const bool refused = !introduced_ && refusal != Refusal::kNone && refusal != Refusal::kElsewhere;
  for (Link& link : links_) {
    if (&link == meeting_ || link.gone || link.ending) continue;
    const bool told = hears(link);
    if (told && refused) {
      link.session.put(MeetingFrameKind::kError,
                       {failure_bytes(refusal_by(meeting_->session, id_))});
    }
    if (told && together_) {
      link.session.put(MeetingFrameKind::kServiceLost, {bytes_of(int32_t{error})});
    }
    link.ending = true;
    link.give_up_ms = now() + kHandshakeMs;
  }
}

}  // namespace tutti::bootstrap
