// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The answers of this process to commands that look from another host, and the questions that it
// passes on for those of this host (inspect/inquiry.hpp). All of it runs in the monitor's thread:
// no rank does anything for it, and none waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "comm/monitor.hpp"
#include "core/exchange.hpp"
#include "core/fd.hpp"
#include "inspect/inquiry.hpp"
#include "transports/transport.hpp"

namespace tutti {

class Inquiries {
 public:
  explicit Inquiries(Monitor& monitor) : monitor_(monitor) {}
  ~Inquiries();
  Inquiries(const Inquiries&) = delete;

  // The first call begins to listen on a socket that processes of this user and host may connect
  // to. Returns its number; 0: it may not.
  uint64_t open();

  struct Entry {
    uint64_t key = 0;  // of the communicator; 0: nobody asks for it
    int rank = 0;
    int ranks = 1;
    Transport* transport = nullptr;
    Control* control = nullptr;  // null: all of it is on this host
    std::function<bool(int rank)> has_left = {};
  };
  using Token = uint64_t;
  // The objects that the entry points to live until it is removed.
  Token add(const Entry& entry);
  void remove(Token token);
  // News of the control connection of that entry.
  void heard(Token token, const ControlNews& news);

 private:
  struct Known : Entry {
    std::vector<int64_t> heard_ms = {};  // time of the last answer, by rank
    std::vector<int> unanswered = {};    // questions since the last answer, by rank
  };
  struct Client {
    Fd socket;
    std::map<uint64_t, int64_t> asked_ns = {};  // times of questions, by token
    bool gone = false;
  };

  void serve();
  void accept_clients();
  void read(Client& client);
  void ask(Client& client, uint64_t calls);
  void send_roster(Client& client);
  void ask_over(Known& entry, const inspect::InquiryHead& question);
  void pass_on(const Known& entry, int rank, std::span<const std::byte> rest,
               inspect::InquiryHead head);
  void answer(const Known& entry, int rank, const inspect::InquiryHead& question);
  void send_pages(const Entry& about, Control& to, int rank, const inspect::InquiryHead& question);

  Monitor& monitor_;
  std::once_flag opened_;
  uint64_t number_ = 0;
  Monitor::Token watch_ = 0;
  Fd epoll_;
  Fd listener_;
  std::mutex mutex_;
  std::map<Token, Known> entries_;  // guarded by mutex_, as all that follows
  Token next_ = 1;
  std::list<Client> clients_;
  std::deque<uint64_t> answered_;  // last questions that were answered
};

}  // namespace tutti
