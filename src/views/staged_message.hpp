// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A message on a view. A long one from device to device is copied by the receiver's, which reads it
// where it lies, or if it cannot, passes through the host in pieces. Any other is as a whole copied
// to the host and sent, or received there and copied back.
#pragma once

#include <optional>

#include "views/device_work.hpp"
#include "views/message_pieces.hpp"
#include "views/shown_message.hpp"
#include "views/staged.hpp"

namespace tutti {

class StagedMessage : public Staged {
 public:
  StagedMessage(ViewQueue& queue, Stage* stage, const MessageArguments& arguments)
      : Staged(queue, stage), arguments_(arguments) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] std::string what() const override;
  [[nodiscard]] const tutti_recv_info* received() const override {
    return arguments_.sends || !done() || !status().ok() ? nullptr : &info_;
  }

 protected:
  Result<Waits> push() override;
  bool wind_up(bool late) override;
  [[nodiscard]] bool unsent() const override {
    return arguments_.sends && !message_.has_value() && !shown_.has_value();
  }

 private:
  Status prepare();
  Status post(const MessageArguments& arguments);
  Status copy(devices::DeviceEngine& engine, void* dst, const void* source, uint64_t bytes);
  // Whether the device has done what it was given.
  Result<bool> copied();

  // Steps; null: that is over, and what comes next may begin.
  using Step = Result<std::optional<Waits>>;
  static Step waits(const Result<Waits>& what) {
    return what.ok() ? Step(std::optional(*what)) : Step(what.status());
  }
  Result<Waits> push_send();
  Result<Waits> push_receive();
  Step show();
  Step copy_in();
  Result<Waits> read_shown();
  Result<Waits> begin_to_read();
  Result<std::byte*> reach(const ShownBytes& shown);
  Result<Waits> read(const ShownBytes& shown, const std::byte* there);
  Result<Waits> push_pieces();
  void send_pieces();
  Status receive_pieces(uint64_t bytes);
  Result<ShownBytes> describe();
  void end_reading();
  Status let_send();

  [[nodiscard]] uint64_t bytes() const { return arguments_.count * type_size(arguments_.type); }
  // Whether it is a send that is announced.
  [[nodiscard]] bool may_be_shown() const;
  [[nodiscard]] bool is_memory_of_device() const;

  const MessageArguments arguments_;
  bool on_device_ = false;  // its buffer
  devices::Place place_;
  bool shows_ = false;  // a send: it is announced, until the bytes are asked for
  std::optional<ShownSend> shown_;
  std::optional<ShownReceive> reads_;  // a receive: what was announced to it
  WantedFds wanted_;                   // to read that
  std::optional<MessagePieces> pieces_;
  bool reading_ = false;
  bool told_ = false;  // the sender, that it has been read
  Stage::Memory memory_;
  std::optional<Message> message_;  // once it has been posted
  DeviceWork work_;
  bool copies_ = false;  // that has begun
  bool copies_out_ = false;
  tutti_recv_info info_{};
};

}  // namespace tutti
