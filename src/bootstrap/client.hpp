// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A connection to the meeting service, without the socket: where it comes from, which rank it is,
// and what it is still to get.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap/parts.hpp"
#include "bootstrap/session.hpp"
#include "bootstrap/unique_id.hpp"
#include "core/fd.hpp"

namespace tutti::bootstrap {

// How long a client may take to say hello, or to read the last frame that is sent to it.
inline constexpr int64_t kHandshakeMs = 5000;

// The origin of a connection.
struct Origin {
  std::string from = "this host";  // for texts
  bool network = false;
  int pid = 0;          // as the system says; 0: only the client knows
  bool welcome = true;  // not another user of this host
  bool own = false;     // this process
};

// A connection.
struct Client {
  Client(Origin where, const UniqueId& id);
  // The outcome of a round is to go to it.
  void give(std::shared_ptr<const Bodies> outcome) {
    parts = std::move(outcome);
    next_part = 0;
  }

  Fd socket;  // the service's
  const Origin origin;
  Session session;
  const int64_t since_ms;
  int64_t give_up_ms;  // when to drop it
  // -1: not admitted yet (a stranger). A newcomer has its number among the newcomers here until all
  // ranks are known.
  int rank = -1;
  bool newcomer = false;
  int pid = 0;
  std::string host;
  bool ending = false;                             // closes once all is sent
  bool gone = false;                               // to be forgotten
  bool staying = false;                            // has asked to
  std::optional<std::vector<std::byte>> gathered;  // its part of the round under way
  // The frames with the outcome of the last round, or of the last round of regrouping; null if
  // there is none. Those from `next_part` on are yet to be sent. All members share them. Each is
  // encrypted only when the one before has been sent: encrypted copies for all members at once
  // would take too much memory.
  std::shared_ptr<const Bodies> parts;
  size_t next_part = 0;
  std::optional<std::vector<std::byte>> regroups;  // its part of the round of regrouping
  bool withdrew = false;                           // from the last such round
  size_t knows_left = 0;                           // how many that have left it was told of
};

}  // namespace tutti::bootstrap
