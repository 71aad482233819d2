// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that are announced: their sender, whose bytes lie in memory of a device, sends none at
// first. Whoever receives answers how it wants them: read where they lie, by who can, or sent. The
// announcement takes the message's place among the others; what follows it is hidden from receives
// of the user.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/messages.hpp"

namespace tutti {

inline constexpr uint32_t kMostAnnounced = 0xffffff;

enum class Hidden : uint8_t {
  kAnswer,       // receiver's Answer
  kDescription,  // sender's word where the bytes lie
  kBytes,        // sender's bytes
};
enum class Answer : uint8_t {
  kDone,      // the bytes are there, or not wanted: the buffer is the sender's again
  kDescribe,  // the receiver may read them where they lie
  kSend,      // the sender sends all as one message
  kSendPieces,
};

// The MessageArguments::tag of a hidden message.
constexpr int hidden_tag(Hidden kind, uint32_t number) {
  return static_cast<int>(0x80000000U | static_cast<uint32_t>(kind) << 24 | number);
}
// The number of the announcement that a completed receive has met; 0 if it has met none.
constexpr uint32_t number_announced(const Transfer& transfer) {
  const bool hidden = (transfer.tag & kHiddenTag) != 0;
  return hidden ? 0 : static_cast<uint32_t>(transfer.tag >> kAnnouncedShift);
}

// The outcome of a receive that met an announcement, if it ends well.
inline tutti_recv_info received_by(const Transfer& met, size_t count) {
  return {.source = met.source, .tag = static_cast<int>(met.tag & kUserTag), .count = count};
}

// Receives that have met an announcement and are not for devices: they ask for the bytes, which
// come to the receive's buffer.
class Fetches {
 public:
  // Both outlive it.
  Fetches(Messages& messages, Health& health) : messages_(messages), health_(health) {}

  // Asks for those of blocking messages that are done.
  void begin_announced(std::span<BlockingMessage> messages);
  // The final status of a blocking message whose transfer ended with that error.
  Status settled(BlockingMessage& message, Status error);
  // Whether a started receive, whose outcome is that error, goes on. If not, the error is final.
  bool go_on_as_fetch(Message& message, Status& error);

 private:
  // A fetch stays in place until its messages are done.
  struct Fetch {
    Fetch(Fetches& all, const MessageArguments& receive, const Transfer& met);

    Fetches& all;
    const Transfer& met;
    Message* receive = nullptr;      // the one that completes with it, if it was started
    std::atomic<bool> begun{false};  // both messages have begun
    std::atomic<bool> over{false};   // the receive may be active anew
    Answer answer;
    std::optional<Message> gets;  // the receive of the bytes; none: the type is another one
    Message asks;
  };

  Fetch* begin(const MessageArguments& receive, const Transfer& met, Message* started);
  void start_or_fail(Message& message);
  void forget(const Transfer* met);
  static void end(tutti_status status, const char* error, void* fetch);

  Messages& messages_;
  Health& health_;
  BriefLock lock_;                             // held for a moment only
  std::vector<std::unique_ptr<Fetch>> begun_;  // guarded by lock_
};

}  // namespace tutti
