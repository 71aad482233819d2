// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A message on a view. A long one from memory of a device is announced (comm/announced.hpp),
// described if the receiver asks for that, and copied by the receiver's device. Who cannot read it
// asks for the bytes, which then pass through the host, in pieces if the receiver is a device's.
// Any other message is as a whole copied to the host and sent, or received there and copied back.
#pragma once

#include "comm/announced.hpp"
#include "views/device_operation.hpp"
#include "views/device_work.hpp"
#include "views/host_work.hpp"
#include "views/pipeline.hpp"

namespace tutti {

// The sender's description of an announced message.
struct DescribedBytes {
  ExportedBuffer buffer;  // allocation 0: nobody can read them
  FdAddress address;      // where to ask for the descriptor of its handle
  devices::DeviceUuid device{};
  uint64_t bytes = 0;
  GoneAllocations gone{};  // allocations of the sender that are to be closed
};

class DeviceMessage : public DeviceOperation {
 public:
  DeviceMessage(ViewQueue& queue, DeviceSide* side, const MessageArguments& arguments)
      : DeviceOperation(queue, side), arguments_(arguments) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] std::string what() const override;
  [[nodiscard]] const tutti_recv_info* received() const override {
    return arguments_.sends || !done() || !status().ok() ? nullptr : &info_;
  }
  [[nodiscard]] bool is_message() const override { return true; }
  [[nodiscard]] bool unsent() const override { return arguments_.sends && !handed_over_; }

 protected:
  Task carry_out() override { return arguments_.sends ? send() : receive(); }

 private:
  Task send();
  Task announce(const DescribedBytes& described, uint32_t number, Answer& answer);
  Status describe(DescribedBytes& described);
  Task receive();
  Task ask(int sender, uint32_t number, DescribedBytes& described);
  Task answer(int sender, uint32_t number, Answer answer);
  Task get(int sender, uint32_t number, const DescribedBytes& described);
  // Long bytes through the host, of which the other end has the same pieces.
  Task pass_pieces(int peer, uint32_t number, uint64_t bytes);
  Task send_piece(MessageArguments piece, uint64_t index);
  Task receive_piece(MessageArguments piece);

  Status copy(DeviceWork& work, devices::DeviceEngine& engine, void* dst, const void* source,
              uint64_t bytes);
  [[nodiscard]] uint64_t bytes() const { return arguments_.count * type_size(arguments_.type); }
  [[nodiscard]] bool is_announced() const;
  [[nodiscard]] bool is_memory_of_device() const;

  const MessageArguments arguments_;
  bool on_device_ = false;  // its buffer is on the device
  devices::MemoryPlace place_;
  bool handed_over_ = false;  // a send: others may be handed over after it
  Turns turns_;               // in which its pieces are sent
  tutti_recv_info info_{};
};

}  // namespace tutti
