// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/hub.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tutti::bootstrap {

Link& Hub::enter(Origin origin) {
  return links_.emplace_back(Session::Side::kService, std::move(origin), id_, now());
}

void Hub::hear(Link& link, std::span<const std::byte> bytes) {
  if (link.ending || link.gone) return;  // nothing it says matters any more
  link.session.append(bytes);
  MeetingFrame frame{};
  Session::Got got;
  while ((got = link.session.next(frame)) == Session::Got::kFrame && !link.ending && !link.gone) {
    handle(link, frame);
  }
  if (got == Session::Got::kRefused) return refuse_session(link);
  if (!link.ending && !link.gone) heard(link);
}

void Hub::refuse_version(const Link& link) {
  refused_.count_version(link.session.other(), link.origin.from);
}

// The session ended by what the client said.
void Hub::refuse_session(Link& link) {
  if (!link.stranger) return lost(link, EPROTO);
  // Two programs that follow one another at one port meet like this, for a moment.
  if (link.session.refusal() != Refusal::kElsewhere) {
    if (link.session.refusal() == Refusal::kProtocol) {
      refuse_version(link);
    } else {
      refused_.count(refusal_text(link.session.refusal()), link.origin.from);
    }
  }
  if (link.session.out().empty()) {
    link.gone = true;
  } else {
    link.ending = true;
  }
}

void Hub::lost(Link& link, int error) {
  if (link.gone) return;
  link.gone = true;
  if (link.stranger && !link.ending) return refused_.count("hanging up", link.origin.from);
  if (!link.ending) broke(link, error);
}

void Hub::evict(Link& link) {
  refused_.count("silence while others wait", link.origin.from);
  link.gone = true;
}

void Hub::turn_away(Link& link, Code code, std::string_view text, int64_t give_up_ms) {
  link.queue.clear();
  link.session.put(MeetingFrameKind::kError, {failure_bytes({code, std::string(text)})});
  link.ending = true;
  link.give_up_ms = give_up_ms;
}

bool Hub::refuse_other_user(Link& link) {
  if (link.origin.welcome) return false;
  refused_.count("being of another user", link.origin.from);
  turn_away(
      link, Code::kSystem,
      fmt::format("the service for the id runs as user {}: only that user may join it", geteuid()),
      now() + kHandshakeMs);
  return true;
}

void Hub::check_deadlines() {
  const int64_t at = now();
  for (Link& link : links_) {
    if (at < link.give_up_ms || link.gone) continue;
    if (!link.stranger && !link.ending) {
      lost(link, ETIMEDOUT);
      continue;
    }
    if (!link.ending) refused_.count("silence", link.origin.from);
    link.gone = true;
  }
}

int64_t Hub::next_deadline_ms() const {
  int64_t next_ms = kNever;
  for (const Link& link : links_) next_ms = std::min(next_ms, link.give_up_ms);
  return next_ms;
}

void Hub::hang_up() {
  for (Link& link : links_) {
    if (link.ending && !has_more(link)) link.gone = true;
  }
}

void Hub::forget_gone() {
  links_.remove_if([](const Link& link) { return link.gone; });
}

std::vector<std::byte>& Hub::to_write(Link& link) {
  if (link.session.out().empty()) put_more(link);
  if (link.session.out().empty() && !link.queue.empty()) {
    const Link::Shared next = std::move(link.queue.front());
    link.queue.pop_front();
    if (link.relays) {
      link.session.put(MeetingFrameKind::kToAll,
                       {bytes_of(Addressed{0, static_cast<int32_t>(next.kind)}), *next.body});
    } else {
      link.session.put(next.kind, {*next.body});
    }
  }
  return link.session.out();
}

}  // namespace tutti::bootstrap
