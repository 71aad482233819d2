// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The requests of an endpoint to its network: frames and pieces under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "transports/frames/port.hpp"
#include "transports/match/queue.hpp"

namespace tutti::frames {

class Requests {
 public:
  explicit Requests(std::unique_ptr<Port> port);

  [[nodiscard]] Port& port() { return *port_; }
  [[nodiscard]] const Port& port() const { return *port_; }
  // Posts the buffers for frames; once.
  Status open();

  // Takes an idle request. `operation` is the one that a piece is of, or the eager send that ends
  // with a frame; null if none does.
  PortRequest& take(PortRequest::Kind kind, int peer, PendingTransfer* operation);
  void give_back(PortRequest& request);
  // Whether the network takes another piece to receive besides the frames.
  [[nodiscard]] bool may_receive() const { return receiving_ < most_receiving_; }

  // Posts a receive again, now or later; false if the network refuses.
  bool repost(PortRequest& request);
  // Posts the receives that were put off. Returns one that the network refuses; null: it refused
  // none.
  PortRequest* repost_waiting();

  // Whether a piece of the operation is under way, be it to the sink; and whether the network may
  // still touch the operation's buffer.
  [[nodiscard]] bool under_way(const PendingTransfer& operation) const;
  [[nodiscard]] bool in_flight(const PendingTransfer& operation) const;
  // Asks the network to let go of the operation's buffer. It has done so once in_flight() is false.
  void withdraw(const PendingTransfer& operation);
  // Makes no request end an operation any more.
  void forget_operations();
  // Memory for pieces that nobody wants any more.
  std::byte* sink();

 private:
  std::unique_ptr<Port> port_;
  const uint64_t most_receiving_;
  uint64_t receiving_ = 0;            // pieces that are being received
  std::deque<PortRequest> requests_;  // grows only; a deque, for addresses must stay
  match::Queue<PortRequest> idle_frames_;
  match::Queue<PortRequest> idle_pieces_;
  match::Queue<PortRequest> later_;  // receives that the network had no room for
  std::unique_ptr<std::byte[]> sink_;
};

}  // namespace tutti::frames
