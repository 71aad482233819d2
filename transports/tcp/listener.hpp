// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The way in which two ranks come to a connection. Each port has a listener, a listening socket
// with a key that only the ranks know. Whoever first has something to send calls at the other's
// listener; both prove that they know its key (introduction.hpp). Nothing else is read before that.
// If both call at once the lower rank's call counts.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "core/network.hpp"
#include "core/socket.hpp"
#include "transports/tcp/introduction.hpp"

namespace tutti::tcp {

// The address of a port's listener, as it travels to its peers.
struct ListenerAddress {
  NetAddress address;
  Random128 key;
};

// The knowledge that both ends of a call at that listener must have.
Rendezvous rendezvous(const ListenerAddress& listener);

class Listener {
 public:
  // Listens at this address, at any port.
  static Result<Listener> open(NetAddress address);
  [[nodiscard]] const ListenerAddress& address() const { return address_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  void close();

  // Whether somebody is still saying who it is.
  [[nodiscard]] bool has_visitors() const { return !visitors_.empty(); }
  // The visitors who have proved since the last call that they know the key; what they say is not
  // proved to be a rank. A visitor who does not know it, or takes more than some seconds, is sent
  // away.
  std::vector<Introduction> answer();

 private:
  struct Visitor {
    Introduction introduction;
    int64_t deadline_ms;
  };
  void let_in();

  Fd socket_;
  ListenerAddress address_{};
  std::list<Visitor> visitors_;  // the oldest first
};

}  // namespace tutti::tcp
