// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A connection of a hub, without the socket: where it comes from, and what is yet to be written to
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/session.hpp"
#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"
#include "core/fd.hpp"

namespace tutti::bootstrap {

// The time for a client to say hello, or to read the last frame that is sent to it.
inline constexpr int64_t kHandshakeMs = 5000;

struct Attendee;

// The origin of a connection.
struct Origin {
  std::string from = "this host";  // where the client runs, for texts
  bool network = false;
  int pid = 0;          // process number as the system says; 0: only the client knows
  bool welcome = true;  // not another user of this host
  bool own = false;     // the client is this process
};

// A kind of message from one member to another: its frame and its longest length. If the receiver
// has left more than `most_unsent` bytes unread, the message is dropped.
struct Passage {
  MeetingFrameKind kind;
  size_t most_bytes;
  size_t most_unsent;
};
inline constexpr Passage kNews{MeetingFrameKind::kTold, kMostNewsBytes, 64 << 10};
// Pages: room for the answers of many ranks to one question.
inline constexpr Passage kPages{MeetingFrameKind::kPage, kMostPageBytes, 16 << 20};

struct Link {
  Link(Session::Side side, Origin where, const UniqueId& id, int64_t now_ms)
      : origin(std::move(where)),
        session(side, id.name, id.secret),
        since_ms(now_ms),
        give_up_ms(now_ms + kHandshakeMs) {}

  // A frame of what all get. It is encrypted only when the one before has been sent: encrypted
  // copies for all at once would take too much memory.
  struct Shared {
    MeetingFrameKind kind;
    std::shared_ptr<const std::vector<std::byte>> body;
  };

  Fd socket;  // of the service
  const Origin origin;
  Session session;
  const int64_t since_ms;
  int64_t give_up_ms;        // deadline after which it is dropped
  bool stranger = true;      // has not said what it comes for
  bool ending = false;       // closes once all is sent
  bool gone = false;         // is to be forgotten
  std::deque<Shared> queue;  // goes after what is in the session
  // At the meeting: those who come over it, by their numbers at the relay. Without one there is
  // one, number 0.
  bool relays = false;
  std::map<uint32_t, Attendee*> attendees;
  size_t knows_left = 0;  // how many that have left it was told of
  // At a relay: the client's number, 0 before its hello, and whether the meeting has admitted it.
  uint32_t number = 0;
  bool admitted = false;
};

}  // namespace tutti::bootstrap
