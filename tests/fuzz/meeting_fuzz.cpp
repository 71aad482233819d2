// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever bytes come, neither end of a session takes them for a proof, and whatever members say
// that have proved themselves, a meeting goes on or ends.
#include <algorithm>
#include <cstdlib>

#include "bootstrap/contributions.hpp"
#include "bootstrap/meeting_state.hpp"
#include "bootstrap/relay.hpp"
#include "fuzz/fuzz.hpp"
#include "transports/tcp/records.hpp"

namespace tutti::bootstrap {
namespace {

using tutti_test::fuzz::Input;

const UniqueId& id() {
  static const UniqueId made = derive_unique_id("fuzz");
  return made;
}

// In pieces, as a network delivers.
void garble(Session session, Input input) {
  MeetingFrame frame{};
  while (!input.empty()) {
    const size_t piece = 1u + input.number();
    session.append(input.take(piece));
    while (session.next(frame) == Session::Got::kFrame) {
    }
    if (session.established()) std::abort();
  }
}

// A member that knows the secret, and the connection it is heard on.
struct Visitor {
  Visitor(Hub& hub, bool own)
      : session(Session::Side::kMember, id().name, id().secret),
        link(&hub.enter({.from = "fuzz", .network = !own, .own = own})) {
    for (int turn = 0; turn < 2; ++turn) {
      hub.hear(*link, std::exchange(session.out(), {}));
      session.append(std::exchange(link->session.out(), {}));
      MeetingFrame frame{};
      (void)session.next(frame);
    }
    if (!session.established()) std::abort();
  }
  Session session;
  Link* link;
};

// Three members whose frames are the input's: who, kind, length, body.
void debate(Input input) {
  Meeting meeting(id());
  Visitor visitors[] = {{meeting, true}, {meeting, false}, {meeting, false}};
  while (!input.empty()) {
    const uint8_t what = input.number();
    Visitor& visitor = visitors[(what & 1) + ((what & 32) != 0 ? 1 : 0)];
    if (visitor.link->gone) continue;
    if ((what & 0xf0) == 0xf0) {
      meeting.lost(*visitor.link, 0);
    } else if ((what & 2) != 0) {  // a hello that may well make sense
      const Hello hello{input.number() % 4, input.number() % 4, (what & 8) != 0 ? 1 : 0, 1, -1,
                        host_field("fuzz")};
      visitor.session.put(MeetingFrameKind::kHello, {bytes_of(hello)});
    } else {
      const auto kind = static_cast<MeetingFrameKind>(input.number() % 32);
      const size_t length = static_cast<size_t>(input.number()) * ((what & 4) != 0 ? 20 : 1);
      visitor.session.put(kind, {input.take(length)});
    }
    meeting.hear(*visitor.link, std::exchange(visitor.session.out(), {}));
    meeting.check_deadlines();
    for (Visitor& one : visitors) {
      if (!one.link->gone && meeting.may_write(*one.link)) {
        meeting.to_write(*one.link).clear();
      }
    }
    (void)meeting.finished();
  }
}

// A relay between two members and a service whose frames are the input's.
void relay(Input input) {
  Relay relay(id());
  Link& to_service = *relay.meeting();
  Session service(Session::Side::kService, id().name, id().secret);
  const auto pass_up = [&] {
    MeetingFrame frame{};
    while (!to_service.gone && relay.may_write(to_service)) {
      service.append(std::exchange(relay.to_write(to_service), {}));
      while (service.next(frame) == Session::Got::kFrame) {
      }
    }
  };
  for (int turn = 0; turn < 2; ++turn) {
    pass_up();
    relay.hear(to_service, std::exchange(service.out(), {}));
  }
  if (!to_service.session.established()) std::abort();
  Visitor visitors[] = {{relay, true}, {relay, false}};
  while (!input.empty()) {
    const uint8_t what = input.number();
    const auto kind = static_cast<MeetingFrameKind>(input.number() % 32);
    const Addressed to{input.number() % 4u, input.number() % 32};
    const size_t length = static_cast<size_t>(input.number()) * ((what & 4) != 0 ? 20 : 1);
    if ((what & 1) != 0 && !to_service.gone) {
      service.put(kind, {bytes_of(to), input.take(length)});
      relay.hear(to_service, std::exchange(service.out(), {}));
    } else if (Visitor& visitor = visitors[(what & 2) / 2]; !visitor.link->gone) {
      const Hello hello{input.number() % 4, 4, 0, 1, -1, host_field("fuzz")};
      if ((what & 8) != 0) visitor.session.put(MeetingFrameKind::kHello, {bytes_of(hello)});
      if ((what & 8) == 0) visitor.session.put(kind, {input.take(length)});
      relay.hear(*visitor.link, std::exchange(visitor.session.out(), {}));
      if ((what & 0xf0) == 0xf0) relay.lost(*visitor.link, 0);
    }
    relay.check_deadlines();
    pass_up();
    for (Visitor& one : visitors) {
      if (!one.link->gone && relay.may_write(*one.link)) relay.to_write(*one.link).clear();
    }
    (void)relay.finished();
  }
}

// A line of encrypted records, changed at some places: what opens is the beginning of what was
// sent.
void tamper(Input input) {
  using tcp::Records;
  const SecretKey there = {std::byte{1}};
  const SecretKey back = {std::byte{2}};
  std::vector<std::byte> line;
  std::vector<std::byte> sent;
  Records sender{Sealing(back), Sealing(there)};
  for (uint8_t records = input.number() % 8; records > 0; --records) {
    const auto text = input.take(1u + input.number());
    if (text.empty()) continue;
    sender.seal(text);
    sent.insert(sent.end(), text.begin(), text.end());
    line.insert(line.end(), sender.unsent().begin(), sender.unsent().end());
  }
  while (input.rest().size() >= 2 && !line.empty()) {
    const size_t at = input.number() * line.size() / 256;
    line[at] ^= static_cast<std::byte>(input.number());
  }
  Records receiver{Sealing(there), Sealing(back)};
  const auto space = receiver.space();
  const size_t bytes = std::min(space.size(), line.size());
  std::copy_n(line.begin(), bytes, space.begin());
  receiver.received(bytes);
  std::vector<std::byte> text(tcp::kRecordBytes);
  for (size_t at = 0; receiver.has_whole();) {
    const size_t next = receiver.next_text();
    if (!receiver.open(text.data())) return;
    if (next > sent.size() - at ||
        !std::equal(text.begin(), text.begin() + static_cast<ptrdiff_t>(next),
                    sent.begin() + static_cast<ptrdiff_t>(at))) {
      std::abort();
    }
    at += next;
  }
}

void read_id(Input input) {
  tutti_unique_id bytes = encode(id());
  for (unsigned char& byte : bytes.bytes) byte ^= input.number();
  const auto read = decode(bytes);
  if (read.ok()) (void)read->describe();
}

// What is taken for contributions is the same after it was packed again.
void read_contributions(Input input) {
  constexpr size_t kMost = 64;
  Contributions contributions;
  if (!take_contributions(input.rest(), kMost, contributions)) return;
  if (contributions.size() > kMost) std::abort();
  Contributions again;
  for (const std::vector<std::byte>& body : pack_contributions(contributions)) {
    if (!take_contributions(body, kMost, again)) std::abort();
  }
  if (again != contributions) std::abort();
}

FUZZ_TARGET(meeting) {
  switch (input.number() % 7) {
    case 0: garble(Session(Session::Side::kService, id().name, id().secret), input); break;
    case 1: garble(Session(Session::Side::kMember, id().name, id().secret), input); break;
    case 2: debate(input); break;
    case 3: tamper(input); break;
    case 4: read_contributions(input); break;
    case 5: relay(input); break;
    default: read_id(input); break;
  }
}

}  // namespace
}  // namespace tutti::bootstrap
