// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective on a view. Devices run it where all ranks reach all buffers
// (views/peer_to_peer.hpp). Else it is cut into pieces, which pass through memory of the host
// (views/staged.cpp).
#pragma once

#include "views/device_operation.hpp"
#include "views/pipeline.hpp"

namespace tutti {

class DeviceCollective : public DeviceOperation {
 public:
  DeviceCollective(ViewQueue& queue, DeviceSide* side, Call call)
      : DeviceOperation(queue, side), call_(std::move(call)) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] std::string what() const override;

 protected:
  Task carry_out() override;
  // If the host's call failed, it has broken the communicator already where that has to be.
  [[nodiscard]] bool breaks() const override { return !activity_.host_failed() || has_pieces(); }
  [[nodiscard]] bool is_named() const override {
    return activity_.host_failed() && !is_peer_to_peer_ && !has_pieces();
  }

 private:
  // `agreed`: all ranks are known to make the same call.
  Task stage(bool agreed);
  Task stage_piece(uint64_t index);
  Task agree_on_pieces();
  [[nodiscard]] bool has_pieces() const { return !is_peer_to_peer_ && pieces_ > 1; }
  // Whether another rank may have more of them.
  [[nodiscard]] bool pieces_are_own() const {
    return side_ != nullptr && sizes_are_own(call_.collective);
  }

  const Call call_;
  DeviceSide::Buffers buffers_;
  bool is_peer_to_peer_ = false;  // while devices are to run it
  uint64_t pieces_ = 1;
  Turns turns_;  // in which the host runs them
};

}  // namespace tutti
