// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What happens at a meeting, without its sockets: who is let in, what is wrong with the set of
// ranks that arrived, rounds of gathering, and, for ranks that stay, telling each what happened to
// others.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/refused.hpp"
#include "bootstrap/session.hpp"
#include "bootstrap/unique_id.hpp"
#include "core/fd.hpp"
#include "core/wait.hpp"

namespace tutti::bootstrap {

// Where a connection comes from.
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

  Fd socket;  // the service's
  const Origin origin;
  Session session;
  const int64_t since_ms;
  int64_t give_up_ms;  // when to drop it
  int rank = -1;       // -1: a stranger; of a newcomer its number, until all ranks are known
  bool newcomer = false;
  int pid = 0;
  std::string host;
  bool ending = false;                             // closes once all is sent
  bool gone = false;                               // to be forgotten
  bool staying = false;                            // has asked to
  std::optional<std::vector<std::byte>> gathered;  // its part of the round under way
  std::optional<std::vector<std::byte>> regroups;  // the same, of those who are left
  bool withdrew = false;                           // from the last of these
};

class Meeting {
 public:
  explicit Meeting(const UniqueId& id);

  Client& enter(Origin origin);
  void hear(Client& client, std::span<const std::byte> bytes);
  // The connection broke; `error` is the system's number, 0 if it was closed.
  void lost(Client& client, int error);
  // A stranger that has to make room.
  void evict(Client& client);
  void check_deadlines();
  void forget_gone();

  [[nodiscard]] std::list<Client>& clients() { return clients_; }
  // When to call check_deadlines() again.
  [[nodiscard]] int64_t next_deadline_ms() const;
  [[nodiscard]] bool finished() const;
  // Ranks may still come, or be told why it is too late.
  [[nodiscard]] bool expects_more() const { return phase_ == Phase::kArriving || failed(); }
  // Whether it is this client's turn to be written to.
  [[nodiscard]] bool may_write(const Client& client) const;

 private:
  enum class Phase : uint8_t { kArriving, kComplete, kTogether, kFailed };

  void handle(Client& client, const Frame& frame);
  void turn_away(Client& client);
  void greet(Client& client, std::span<const std::byte> body);
  void admit(Client& client, const Hello& hello);
  void learn_ranks(const Hello& hello);
  [[nodiscard]] std::string objection(const Hello& hello) const;
  [[nodiscard]] std::string who(const Client& client) const;
  void finish_round();
  void stay(Client& client);
  void leave(Client& client);
  void pass_on_failure(Client& client, std::span<const std::byte> body);
  void pass_on_note(Client& client, std::span<const std::byte> body);
  void regroup(Client& client, std::span<const std::byte> body);
  void withdraw(Client& client);
  void finish_regrouping();
  static bool may_regroup(const Client& client);
  void tell_others(const Client& about, FrameKind kind, std::span<const std::byte> body);
  void fail(Code code, const std::string& text);
  void refuse(Client& client, Code code, const std::string& text);

  [[nodiscard]] bool failed() const { return phase_ == Phase::kFailed; }
  [[nodiscard]] Client* member(int rank);
  [[nodiscard]] std::string missing() const;

  const UniqueId id_;
  std::list<Client> clients_;  // a list: handlers keep references
  Refused refused_;
  Phase phase_ = Phase::kArriving;
  int ranks_ = 0;      // as the first member said who knows
  int newcomers_ = 0;  // as the first member said
  std::string first_;  // that member: "rank 2"
  std::string knows_;  // the one who said how many ranks there are
  int arrived_ = 0;
  int failures_told_ = 0;
  std::string leaver_;  // who left without staying
  int64_t first_arrival_ms_ = 0;
  int64_t deadline_ms_ = kNever;
  Code failure_code_ = Code::kInternal;
  std::string failure_;
  int64_t linger_ms_ = 0;  // failed: until when late members are told why
};

}  // namespace tutti::bootstrap
