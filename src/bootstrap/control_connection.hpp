// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A rank's side of the connection that stays open after the meeting.
#pragma once

#include <memory>

#include "bootstrap/session.hpp"
#include "bootstrap/unique_id.hpp"
#include "core/exchange.hpp"
#include "core/fd.hpp"

namespace tutti::bootstrap {

// A way to the service for a rank whose connection leads to a relay, which may end.
struct WayBack {
  UniqueId id;
  int rank;
  bool by_relay;  // the only way is by a relay
};

// Takes over a connection on which the service has said kStayed, and nothing was read after that.
Result<std::unique_ptr<Control>> make_control_connection(Fd socket, Session session,
                                                         const Keeper& keeper, const WayBack& back);

}  // namespace tutti::bootstrap
