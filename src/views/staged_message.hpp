// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A message on a view: as a whole copied to the host and sent, or received there and copied back.
#pragma once

#include <optional>

#include "views/staged.hpp"

namespace tutti {

class StagedMessage : public Staged {
 public:
  StagedMessage(ViewQueue& queue, Stage* stage, const MessageArguments& arguments)
      : Staged(queue, stage), arguments_(arguments) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] std::string what() const override;
  [[nodiscard]] const tutti_recv_info* received() const override {
    return arguments_.sends || !done() || !status().ok() ? nullptr : &message_->received();
  }

 protected:
  Result<Waits> push() override;
  bool wind_up(bool late) override;
  [[nodiscard]] bool unsent() const override { return arguments_.sends && !message_.has_value(); }

 private:
  Status prepare();
  Status post();
  Status copy_out();

  const MessageArguments arguments_;
  bool on_device_ = false;  // its buffer
  Stage::Memory memory_;
  std::optional<Message> message_;           // once it has been posted
  devices::DeviceEngine* engine_ = nullptr;  // of the submission
  uint64_t submission_ = 0;                  // 0: none
  bool copies_out_ = false;
};

}  // namespace tutti
