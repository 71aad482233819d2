// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A message whose bytes lie in memory of a device that the receiver may reach: announced
// (comm/announced.hpp), described if the receiver asks for that, and copied by the receiver's
// device. Who cannot read them asks for the bytes, which then pass through the host, in pieces if
// the receiver is a device's.
#pragma once

#include <optional>

#include "comm/announced.hpp"
#include "comm/communicator.hpp"
#include "views/stage.hpp"

namespace tutti {

// What the sender describes.
struct ShownBytes {
  ShownBuffer buffer;  // allocation 0: nobody can read them
  FdAddress address;   // where to ask for the descriptor of its handle
  devices::DeviceUuid device{};
  uint64_t bytes = 0;
  GoneAllocations gone{};  // of the sender: to be closed
};

// Of the sender: once what the application has enqueued before it is done.
class ShownSend {
 public:
  ShownSend(Messages& messages, const MessageArguments& arguments, const ShownBytes& shown);
  Status start();

  enum class State { kForPeer, kDone, kSendsBytes, kSendsPieces };
  // After an error, or one that sends, nothing is left to push.
  Result<State> push();
  // Whether no message of it is under way.
  [[nodiscard]] bool at_rest() const;
  // Of the message that brings the bytes, if they are asked for.
  [[nodiscard]] int tag_of_bytes() const { return hidden_tag(Hidden::kBytes, number_); }

 private:
  Status await_answer();
  Status describe();

  Messages& messages_;
  const MessageArguments arguments_;
  const ShownBytes shown_;
  const uint32_t number_;
  Answer answer_ = Answer::kDone;
  std::optional<Message> announcement_;
  std::optional<Message> description_;
  std::optional<Message> answers_;
};

// Of the receiver, which has met an announcement.
class ShownReceive {
 public:
  ShownReceive(Messages& messages, const Transfer& met);
  // Asks for the description.
  Status start();
  // Whether it is there.
  Result<bool> described();
  [[nodiscard]] const ShownBytes& shown() const { return shown_; }
  [[nodiscard]] int source() const { return source_; }
  [[nodiscard]] int tag_of_bytes() const { return hidden_tag(Hidden::kBytes, number_); }
  // Once described: the bytes are here, or are to be sent.
  Status answer(Answer answer);
  // Whether no message of it is under way; an error if one has failed.
  Result<bool> told();
  [[nodiscard]] bool at_rest() const;

 private:
  Messages& messages_;
  const int source_;
  const uint32_t number_;
  ShownBytes shown_;
  Answer first_ = Answer::kDescribe;
  Answer last_ = Answer::kDone;
  std::optional<Message> asks_;
  std::optional<Message> description_;
  std::optional<Message> answers_;
};

}  // namespace tutti
