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

bool is_to_know(const Client& client, const std::vector<int32_t>& left) {
  return client.rank >= 0 && !client.ending && client.knows_left < left.size();
}

// The most ranks that have left in one frame.
constexpr size_t kMostTold = kMaxFrameBytes / sizeof(int32_t) / 2;

}  // namespace

Client::Client(Origin where, const UniqueId& id)
    : origin(std::move(where)),
      session(Session::Side::kService, id.name, id.secret),
      since_ms(now_ms()),
      give_up_ms(since_ms + kHandshakeMs) {}

Meeting::Meeting(const UniqueId& id, int64_t warn_after_ms, int64_t lifetime_ms)
    : id_(id),
      refused_(id.describe()),
      deadline_ms_(lifetime_ms == kNever ? kNever : now_ms() + lifetime_ms),
      warn_after_ms_(warn_after_ms == 0 ? kNever : warn_after_ms) {}

Meeting::Meeting(const UniqueId& id, int rank, int ranks, const Status& why, int64_t until_ms)
    : Meeting(id) {
  ranks_ = ranks;
  arrived_ = 1;
  fail(why.code(),
       fmt::format("rank {} (pid {} on host {}): {}", rank, getpid(), host_name(), why.message()));
  linger_ms_ = until_ms;
}

Client& Meeting::enter(Origin origin) { return clients_.emplace_back(std::move(origin), id_); }

bool Meeting::finished() const {
  switch (phase_) {
    case Phase::kArriving: return false;
    case Phase::kComplete:
    case Phase::kTogether:
      return std::none_of(clients_.begin(), clients_.end(), [](auto& c) { return c.rank >= 0; });
    case Phase::kFailed:
      return clients_.empty() && ((ranks_ > 0 && arrived_ >= ranks_) || now_ms() >= linger_ms_);
  }
  return true;
}

int64_t Meeting::next_deadline_ms() const {
  int64_t next_ms = phase_ == Phase::kFailed ? linger_ms_ : deadline_ms_;
  if (now_ms() < tell_until_ms_) next_ms = std::min(next_ms, tell_until_ms_);
  if (warn_after_ms_ != kNever && anybody_waits()) {
    next_ms = std::min(next_ms, first_arrival_ms_ + warn_after_ms_);
  }
  for (const Client& client : clients_) next_ms = std::min(next_ms, client.give_up_ms);
  return next_ms;
}

void Meeting::forget_gone() {
  clients_.remove_if([](const Client& client) { return client.gone; });
}

bool Meeting::has_more(const Client& client) const {
  return !client.session.out().empty() || is_to_know(client, left_) || client.parts != nullptr;
}

// A rank in this process comes last. Once it has its answer it may end the process, and the service
// with it, so the others must have theirs by then. After a failure this includes those that are yet
// to come.
bool Meeting::may_write(const Client& client) const {
  if (client.gone || !has_more(client)) return false;
  if (!client.origin.own) return true;
  const bool all_are_to_know = now_ms() < tell_until_ms_;
  if (client.ending && all_are_to_know && arrived_ < ranks_) return false;
  return std::ranges::all_of(clients_, [&](const Client& other) {
    const bool counts = other.rank >= 0 || (all_are_to_know && other.ending);
    return !counts || other.gone || other.origin.own || !has_more(other);
  });
}

std::vector<std::byte>& Meeting::to_write(Client& client) {
  if (!client.session.out().empty() || !has_more(client)) return client.session.out();
  if (is_to_know(client, left_)) {
    const auto news = std::span(left_).subspan(client.knows_left);
    const auto told = news.first(std::min(news.size(), kMostTold));
    client.session.put(FrameKind::kLeft, {std::as_bytes(told)});
    client.knows_left += told.size();
  } else {
    const FrameKind kind =
        phase_ == Phase::kTogether ? FrameKind::kRegroupParts : FrameKind::kParts;
    client.session.put(kind, {(*client.parts)[client.next_part++]});
    if (client.next_part == client.parts->size()) client.parts.reset();
  }
  return client.session.out();
}

// ---- unadmitted ---------------------------------------------------------------------------------

void Meeting::hear(Client& client, std::span<const std::byte> bytes) {
  if (client.ending || client.gone) return;  // nothing it says matters any more
  client.session.append(bytes);
  Frame frame{};
  Session::Got got;
  while ((got = client.session.next(frame)) == Session::Got::kFrame && !client.ending &&
         !client.gone) {
    handle(client, frame);
  }
  if (got == Session::Got::kRefused) turn_away(client);
}

// The session ended by what the client said.
void Meeting::turn_away(Client& client) {
  if (client.rank >= 0) return lost(client, EPROTO);
  // Two programs that follow one another at one port meet like this, for a moment.
  if (client.session.refusal() != Refusal::kElsewhere) {
    if (client.session.refusal() == Refusal::kProtocol) {
      refused_.count_version(client.session.other(), client.origin.from);
    } else {
      refused_.count(refusal_text(client.session.refusal()), client.origin.from);
    }
  }
  if (client.session.out().empty()) {
    client.gone = true;
  } else {
    client.ending = true;
  }
}

void Meeting::evict(Client& client) {
  refused_.count("silence while others wait", client.origin.from);
  client.gone = true;
}

void Meeting::handle(Client& client, const Frame& frame) {
  if (client.rank < 0) return greet(client, frame);
  if (frame.kind == FrameKind::kLeave) return leave(client);
  if (phase_ == Phase::kTogether) return handle_together(client, frame);
  if (frame.kind == FrameKind::kFail) return fail_by(client, frame.body);
  if (phase_ != Phase::kComplete) return lost(client, 0);
  const bool ready = !client.gathered.has_value() && client.parts == nullptr && !client.staying;
  if (!ready) return lost(client, 0);
  if (frame.kind == FrameKind::kStay) return stay(client);
  if (frame.kind == FrameKind::kGather) return gather(client, frame.body);
  lost(client, 0);
}

// ---- gathering ---------------------------------------------------------------------------------

void Meeting::gather(Client& client, std::span<const std::byte> part) {
  if (part.size() > kMaxGatherBytes) return lost(client, 0);
  client.gathered.emplace(part.begin(), part.end());
  ++gathered_;
  finish_round();
}

void Meeting::finish_round() {
  if (!leaver_.empty()) {
    return fail(Code::kPeerFailed, leaver_ + " left while the communicator was being made");
  }
  if (gathered_ < ranks_) return;
  gathered_ = 0;
  Parts parts(static_cast<size_t>(ranks_));
  for (Client& client : clients_) {
    if (!client.gathered.has_value()) continue;
    parts[static_cast<size_t>(client.rank)] = *std::move(client.gathered);
    client.gathered.reset();
  }
  const auto packed = std::make_shared<const Bodies>(pack_parts(parts));
  for (Client& client : clients_) {
    if (client.rank >= 0 && !client.ending && !client.gone) client.give(packed);
  }
}

// ---- the end -----------------------------------------------------------------------------------

// The connection broke, or the client spoke nonsense.
void Meeting::lost(Client& client, int error) {
  if (client.gone) return;
  client.gone = true;
  if (client.ending) return;
  if (client.rank < 0) return refused_.count("hanging up", client.origin.from);
  if (phase_ != Phase::kTogether) {
    const std::string what = error == EPROTO ? connection_broke(error) : " ended";
    return fail(Code::kPeerFailed, who(client) + what + " while the communicator was being made");
  }
  const std::string text = who(client) + connection_broke(error);
  tell_others(client, FrameKind::kFailed, failure_bytes({Code::kPeerFailed, text}));
  finish_regrouping();
}

// Tells every member, now and later, and ends the meeting.
void Meeting::fail(Code code, const std::string& text) {
  if (phase_ == Phase::kFailed) return;
  phase_ = Phase::kFailed;
  failure_code_ = code;
  failure_ = text;
  linger_ms_ = deadline_ms_ == kNever ? now_ms() + kHandshakeMs
                                      : std::max(deadline_ms_, now_ms() + kHandshakeMs);
  for (Client& client : clients_) {
    if (client.rank >= 0 && !client.gone && !client.ending) refuse(client, code, text);
  }
}

// A member cannot go on, and says why.
void Meeting::fail_by(Client& client, std::span<const std::byte> body) {
  if (body.size() > sizeof(int32_t) + kMaxTextBytes) return lost(client, 0);
  const Status why = failure_in(body);
  client.parts.reset();
  client.session.put(FrameKind::kGoodbye, {});
  client.ending = true;
  tell_until_ms_ = std::min(deadline_ms_, now_ms() + kTellMs);
  client.give_up_ms = tell_until_ms_ + kHandshakeMs;
  fail(why.code(), fmt::format("{}: {}", who(client), why.message()));
}

void Meeting::refuse(Client& client, Code code, const std::string& text) {
  client.parts.reset();
  client.session.put(FrameKind::kError, {failure_bytes({code, text})});
  client.ending = true;
  client.give_up_ms = std::max(now_ms(), tell_until_ms_) + kHandshakeMs;
}

}  // namespace tutti::bootstrap
