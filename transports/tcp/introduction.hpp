// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A handshake (core/handshake.hpp) over a connection, without waiting.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/fd.hpp"
#include "core/handshake.hpp"

namespace tutti::tcp {

class Introduction {
 public:
  enum class Outcome : uint8_t {
    kNotYet,
    kProved,   // the other end knows the secret
    kClosed,   // error() says why
    kRefused,  // it does not know it, or is none of ours
  };

  // Makes the end that is called.
  static Introduction answer(Fd socket, const Rendezvous& where);
  // Makes the end that calls, over a connection that may still be in the making.
  static Introduction call(Fd socket, const Rendezvous& where, int rank);

  // Says and reads what it can.
  Outcome go_on();
  // The end that is called tells the other its verdict, so far kept back. False: it is gone.
  [[nodiscard]] bool answer_call() { return say() == 0; }

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] Fd take_socket() { return std::move(socket_); }
  [[nodiscard]] int error() const { return error_; }
  // The other end has said something.
  [[nodiscard]] bool was_answered() const { return answered_; }
  [[nodiscard]] const Handshake& handshake() const { return handshake_; }

 private:
  Introduction(Fd socket, Handshake handshake, Handshake::Message first);
  int say();

  Fd socket_;
  Handshake handshake_;
  Handshake::Message unsaid_;
  std::array<std::byte, 128> heard_{};  // longer than any message
  size_t heard_bytes_ = 0;
  bool answered_ = false;
  int error_ = 0;
};

}  // namespace tutti::tcp
