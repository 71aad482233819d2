// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the pieces of a call in shares (views/shares.hpp), once all ranks reach the buffers of those
// of their hosts. Several pieces are under way at a time: one on the wire, others on the device.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "comm/communicator.hpp"
#include "exec/operation.hpp"
#include "views/device_work.hpp"
#include "views/shares.hpp"
#include "views/stage.hpp"

namespace tutti {

class ShareRun {
 public:
  // Where the buffers of a rank of this host are mapped; of this rank, its own.
  using Address = std::function<std::byte*(int rank, Space space)>;

  // All outlive it.
  ShareRun(Communicator& comm, Stage& stage, const Call& call, const Shares& shares,
           Address address)
      : comm_(comm), stage_(stage), call_(call), shares_(shares), address_(std::move(address)) {}

  // Whether all is done, after what can be done now.
  Result<bool> push();
  // As of Staged.
  bool wind_up(bool late);
  // Whether nothing of it waits for peers.
  [[nodiscard]] bool waits_for_device() const;
  // As of DirectCall.
  [[nodiscard]] bool failed_on_host() const { return failed_on_host_; }

 private:
  // kReads and kWaitsToCross: the share is on its way to the stage, and there; and so on.
  enum class State { kReads, kMayCross, kCrosses, kWrites, kMayJoin, kJoins, kPulls, kDone };
  struct Slot {
    State state = State::kReads;
    SharePiece piece;
    Stage::PieceMemory memory;
    DeviceWork work;
    std::unique_ptr<Operation> operation{};  // under way, or null
  };

  Slot& slot(uint64_t piece) { return slots_[static_cast<size_t>(piece - popped_)]; }
  Result<bool> begin_pieces();
  Result<bool> take_turn();
  Result<bool> advance(Slot& slot);
  Result<bool> ended(std::unique_ptr<Operation>& operation);
  Result<std::unique_ptr<Operation>> start(Call call);
  Result<std::unique_ptr<Operation>> start_join();
  Status begin(Slot& slot);
  Status take_between();
  Status reduce(Slot& slot);
  Status copy(Slot& slot);
  Status write(Slot& slot);
  Status pull(Slot& slot);

  Communicator& comm_;
  Stage& stage_;
  const Call& call_;
  const Shares& shares_;
  const Address address_;
  std::deque<Slot> slots_;  // in the order of the pieces
  uint64_t popped_ = 0;     // pieces that are done
  // Calls of the host, which all ranks make in one order: how many pieces have begun theirs along
  // the column, and within the host.
  uint64_t crossed_ = 0;
  uint64_t joined_ = 0;
  std::unique_ptr<Operation> last_;  // by which ranks tell that they read no buffer any more
  Stage::Memory between_;            // of reductions in several parts
  size_t bytes_between_ = 0;
  bool failed_on_host_ = false;
};

}  // namespace tutti
