// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that the thread which makes them sees to their end, without allocation or clock unless
// they take long.
#pragma once

#include <span>

#include "comm/message_endpoint.hpp"

namespace tutti {

class Fetches;

// One of the blocking messages, or the only one, that a thread makes at once.
struct BlockingMessage {
  // A constructor, because GCC clears an aggregate first, with an instruction that is slow (rep
  // stos).
  explicit BlockingMessage(const MessageArguments& arguments, tutti_recv_info* info = nullptr)
      : arguments(arguments), info(info) {}

  MessageArguments arguments;
  tutti_recv_info* info;  // facts of a receive; may be null
  Transfer transfer;
  // Once all have ended.
  [[nodiscard]] const Status& status() const { return transfer.status; }
};

class BlockingMessages {
 public:
  // Both outlive it. `fetches` gets what receives meet as announcements.
  BlockingMessages(MessageEndpoint& endpoint, Fetches& fetches)
      : endpoint_(endpoint), fetches_(fetches) {}

  // Returns when all of them have ended, each with its own status. Any thread.
  void run(std::span<BlockingMessage> messages);

 private:
  void wait(std::span<BlockingMessage> pending, std::span<BlockingMessage> all);
  bool poll(std::span<BlockingMessage>& pending);
  bool advance(std::span<BlockingMessage>& pending, int blocked);
  bool poll_once(BlockingMessage& message, bool& moved);

  MessageEndpoint& endpoint_;
  Fetches& fetches_;
};

}  // namespace tutti
