// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A service without its sockets: bytes in, bytes out. This is what a meeting and a relay have in
// common. Clients prove that they know the secret, or are refused, and are written to in turn.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/link.hpp"
#include "bootstrap/refused.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {

// Used by one thread.
class Hub {
 public:
  using Clock = int64_t (*)();  // milliseconds, as now_ms() gives them

  Hub(const UniqueId& id, Clock clock) : id_(id), clock_(clock), refused_(id.describe()) {}
  virtual ~Hub() = default;
  Hub(const Hub&) = delete;

  Link& enter(Origin origin);
  void hear(Link& link, std::span<const std::byte> bytes);
  // The connection broke; `error` is the system's number, 0 if it was closed.
  void lost(Link& link, int error);
  // Drops a stranger, to make room for another client.
  void evict(Link& link);
  virtual void check_deadlines();
  // Forgets links that are gone, or have been sent the last.
  virtual void forget_gone();
  // Whether ranks may come back, over the network, once no more are expected.
  [[nodiscard]] virtual bool expects_returns() const { return false; }
  // Notes the address at which they come back.
  virtual void take_returns_at(const NetAddress&) {}
  // Notes what the service lacks to take further clients, for the text of a timeout; empty:
  // nothing.
  void lacks(std::string what) { lack_ = std::move(what); }

  [[nodiscard]] std::list<Link>& links() { return links_; }
  [[nodiscard]] int64_t now() const { return clock_(); }
  // The time of the next call of check_deadlines().
  [[nodiscard]] virtual int64_t next_deadline_ms() const;
  [[nodiscard]] virtual bool finished() const = 0;
  // Ranks may still come, or be told why it is too late.
  [[nodiscard]] virtual bool expects_more() const = 0;
  // Whether it is this one's turn to be written to.
  [[nodiscard]] virtual bool may_write(const Link& link) const = 0;
  // The bytes to be written to it next; the writer erases what it has written.
  std::vector<std::byte>& to_write(Link& link);

 protected:
  virtual void handle(Link& link, const MeetingFrame& frame) = 0;
  // A connection broke on which somebody was known, or that was to tell something.
  virtual void broke(Link& link, int error) = 0;
  // Called when all that was said on a link so far has been handled.
  virtual void heard(Link&) {}
  // Counts a client of another version.
  virtual void refuse_version(const Link& link);
  // Called when all of the link's session has been written, before `queue` is. May put one more
  // frame into the session, which then goes first.
  virtual void put_more(Link&) {}
  [[nodiscard]] virtual bool has_more(const Link& link) const {
    return !link.session.out().empty() || !link.queue.empty();
  }
  // Marks those that have been sent the last.
  void hang_up();
  // Says why not, at once, and hangs up.
  void turn_away(Link& link, Code code, std::string_view text, int64_t give_up_ms);

  // Says so and hangs up, if a client is of another user.
  bool refuse_other_user(Link& link);

  const UniqueId id_;
  const Clock clock_;
  std::list<Link> links_;  // a list: handlers keep references
  Refused refused_;
  std::string lack_;

 private:
  void refuse_session(Link& link);
};

}  // namespace tutti::bootstrap
