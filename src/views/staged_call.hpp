// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective on a view. Devices run it where all ranks reach all buffers (views/direct_call.hpp).
// Else pieces are copied to the host, run there as any call, and copied back; several are under way
// at a time.
#pragma once

#include <deque>

#include "views/device_work.hpp"
#include "views/direct_call.hpp"
#include "views/pieces.hpp"
#include "views/staged.hpp"

namespace tutti {

class StagedCall : public Staged {
 public:
  StagedCall(ViewQueue& queue, Stage* stage, Call call)
      : Staged(queue, stage), call_(std::move(call)) {}

  Status start(StartedFor whom) override;
  [[nodiscard]] std::string what() const override;

 protected:
  Result<Waits> push() override;
  bool wind_up(bool late) override;
  // What the host's call reports has done so already, where it does.
  [[nodiscard]] bool breaks() const override {
    if (direct_ != nullptr) return !direct_->failed_on_host();
    return !failed_on_host_ || pieces_ > 1;
  }

 private:
  enum class State { kCopiedIn, kRuns, kCopiedOut };
  struct Slot {
    State state = State::kCopiedIn;
    StagedPiece piece;
    Stage::PieceMemory memory;
    std::unique_ptr<Operation> operation{};  // null until it has begun
    DeviceWork work{};
  };

  [[nodiscard]] int rank() const { return comm().rank(); }
  Status begin_piece();
  Result<bool> copied(Slot& slot);
  Status copy_in(Slot& slot);
  Status copy_out(Slot& slot);
  Status run_on_host(Slot& slot);
  // Whether another rank may have more of them.
  [[nodiscard]] bool pieces_are_own() const {
    return stage_ != nullptr && sizes_are_own(call_.collective);
  }
  Result<bool> advance(Slot& slot, bool in_turn);
  Result<bool> agreed();
  void begin_direct();
  Result<Waits> push_direct();
  Result<Waits> push_pieces();
  [[nodiscard]] Status compare() const;

  const Call call_;
  std::unique_ptr<DirectCall> direct_;  // while the devices are to run it; null: staged
  bool begun_ = false;
  bool on_device_ = false;  // its buffers
  bool copies_ = false;     // pieces pass through memory of their own
  Stage::Buffers buffers_;
  bool failed_on_host_ = false;
  uint64_t pieces_ = 1;
  uint64_t next_ = 0;       // piece to begin
  std::deque<Slot> slots_;  // in the order of the pieces
  // Of several pieces: that all ranks have the same, told one another before the first.
  struct Agreement {
    CallRecord record{};
    uint64_t pieces = 1;
  };
  bool agreed_ = false;
  std::unique_ptr<Operation> agreement_;
  Agreement own_;
  std::vector<Agreement> all_;
};

}  // namespace tutti
