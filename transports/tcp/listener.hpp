// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How two ranks come to a connection. Each port has a listener, a listening socket with a key that
// only the ranks know. Whoever first has something to send calls at the other's listener and says
// its key and who it is; the other answers with the caller's key. Nothing else is read before that.
// If both call at once the lower rank's call counts.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/network.hpp"
#include "core/socket.hpp"

namespace tutti::tcp {

// Where a port's listener is: what its peers must know, as it travels.
struct ListenerAddress {
  NetAddress address;
  Random128 key;
};

// What either side says first.
struct Opening {
  char mark[8];
  Random128 key;  // of the listener of the one to whom it is said
  uint32_t rank;  // who says it
  uint32_t reserved;
};
static_assert(sizeof(Opening) == 32);

Opening opening(const Random128& key, int rank);

// An opening on its way in.
class OpeningReader {
 public:
  enum class Outcome : uint8_t { kNotYet, kWhole, kClosed };
  Outcome read(int socket);
  // Whether it is one, with this key.
  [[nodiscard]] bool fits(const Random128& key) const;
  [[nodiscard]] uint32_t rank() const { return opening_.rank; }

 private:
  Opening opening_{};
  size_t bytes_ = 0;
};

// Says it whole, which a fresh connection has room for. 0 or the system's error number (EAGAIN: it
// is not connected yet).
int say(int socket, const Opening& opening);

// A rank that has knocked and shown the key; what it says is not proved to be a rank.
struct Caller {
  Fd socket;
  uint32_t rank = 0;
};

class Listener {
 public:
  // At this address; port 0: any.
  static Result<Listener> open(NetAddress address);
  [[nodiscard]] const ListenerAddress& address() const { return address_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  void close();

  // Whether somebody is still saying who it is.
  [[nodiscard]] bool has_visitors() const { return !visitors_.empty(); }
  // Those who have shown the key since. Whoever does not within some seconds, or shows another, is
  // sent away.
  std::vector<Caller> answer();

 private:
  struct Visitor {
    Fd socket;
    int64_t deadline_ms;
    OpeningReader reader;
  };
  void let_in();

  Fd socket_;
  ListenerAddress address_{};
  std::deque<Visitor> visitors_;  // the oldest first
};

}  // namespace tutti::tcp
