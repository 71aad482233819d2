// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The bytes of a long message on a device as several messages, so that one piece is copied between
// device and host while another is on its way.
#pragma once

#include <deque>
#include <optional>

#include "comm/messages.hpp"
#include "views/device_work.hpp"
#include "views/stage.hpp"

namespace tutti {

class MessagePieces {
 public:
  // `each` has direction, peer and tag of all pieces; `buffer` is memory of the device. The engine
  // copies to the host what is sent, and from it what is received.
  MessagePieces(Messages& messages, Stage& stage, devices::DeviceEngine& engine,
                const MessageArguments& each, std::byte* buffer, uint64_t bytes);

  enum class State { kForDevice, kForPeer, kDone };
  Result<State> push();
  // As of Staged.
  bool wind_up(bool late);

 private:
  struct Slot {
    Stage::Memory memory;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    DeviceWork work{};
    bool copies = false;  // that has begun
    std::optional<Message> message{};
  };

  Status begin_slot();
  Status copy(Slot& slot);
  Status post(Slot& slot);
  // Whether the slot has come to its end; `state_` says for what it waits.
  Result<bool> advance(Slot& slot);
  Result<bool> advance_sent(Slot& slot);
  Result<bool> advance_received(Slot& slot);

  Messages& messages_;
  Stage& stage_;
  devices::DeviceEngine& engine_;
  const MessageArguments each_;
  std::byte* const buffer_;
  const uint64_t bytes_;
  uint64_t next_ = 0;     // byte to begin with
  bool may_post_ = true;  // no earlier piece is yet to be sent
  State state_ = State::kForPeer;
  std::deque<Slot> slots_;  // in the order of the pieces
};

}  // namespace tutti
