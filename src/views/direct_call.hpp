// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective on a view that devices run: they copy and reduce, and read the buffers of peers
// where they lie. What ranks tell one another goes through calls of the host: first where their
// buffers lie, then whether each reaches what it has to read, then each tick of the schedule, once
// what comes before it is done on the device.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "exec/operation.hpp"
#include "views/device_work.hpp"
#include "views/direct_plan.hpp"
#include "views/peer_blocks.hpp"
#include "views/share_run.hpp"
#include "views/stage.hpp"

namespace tutti {

class DirectCall {
 public:
  enum class State {
    kForDevice,  // waits for the device
    kForPeers,
    kDone,
    kFallsBack,  // all ranks come to this: the call is to be staged in memory of the host
  };

  // Whether what the application has enqueued before the call is done; waits in the driver for so
  // many microseconds at most.
  using Marked = std::function<Result<bool>(uint32_t)>;

  // `buffers`: what Stage::find() said of them. `what` names the call in texts.
  DirectCall(Communicator& comm, Stage& stage, std::shared_ptr<const DirectPlan> plan,
             const Call& call, const Stage::Buffers& buffers, Marked marked, std::string what);

  // Does what can be done now; waits in the driver if it must, for so long at most.
  Result<State> push(uint32_t microseconds);
  // As of Staged.
  bool wind_up(bool late);
  // Whether the error is one of a call of the host, which has told it.
  [[nodiscard]] bool failed_on_host() const {
    return failed_on_host_ || (shares_ != nullptr && shares_->failed_on_host());
  }
  // kFallsBack: whether that holds for all calls to come.
  [[nodiscard]] bool never_again() const { return never_; }

 private:
  enum class Able : uint32_t { kNever, kNotNow, kYes };
  // What ranks tell one another first.
  struct Entry {
    CallRecord record{};
    FdAddress address;  // where peers ask for descriptors of handles
    Able able = Able::kNever;
    uint32_t signature = 0;  // signature_of()
    devices::DeviceUuid device{};
    GoneAllocations gone{};
    ShownBuffer send;
    ShownBuffer recv;
  };
  enum class Phase { kEnters, kPrepares, kAgrees, kHandsOver, kRuns };
  // Whether a rank reaches what it has to read; the least of all ranks' decides.
  enum Reach : uint8_t { kNot, kOnceHandedOver, kReaches };

  // The phases: whether it has come to its end.
  Result<bool> enter();
  Result<bool> prepare(uint32_t microseconds);
  Result<bool> agree();
  Result<bool> hand_over();
  Result<bool> run(uint32_t microseconds);

  Result<std::unique_ptr<Operation>> start(const Call& call);
  Status begin(const Call& call);
  Result<bool> ended(const std::unique_ptr<Operation>& operation);
  Result<bool> all_ended();
  void fill_entry();
  Status tell_all();
  Status make_ready();
  Status show_buffers();
  [[nodiscard]] Status compare() const;
  Status open_buffers();
  Reach try_to_open();
  Status tell_reach();
  Status scale();

  // Steps (direct_steps.cpp).
  Result<bool> run_steps(uint32_t microseconds);
  Result<bool> run_shares();
  Result<bool> run(const Step& step, uint32_t microseconds);
  Status take_between();
  Status give(const Step& step, devices::DeviceEngine& engine);
  Result<bool> join(uint32_t tick, uint32_t microseconds);
  Result<bool> reached(uint32_t tick);
  Result<bool> at_rest(uint32_t microseconds);
  [[nodiscard]] std::byte* address(const Ref& ref) const { return bases_[ref.base] + ref.offset; }
  std::byte*& base(Space space, int peer) { return bases_[Ref::of(space, 0, peer).base]; }

  Communicator& comm_;
  Stage& stage_;
  const Call call_;
  const Stage::Buffers buffers_;
  const Marked marked_;
  const std::string what_;
  const std::shared_ptr<const DirectPlan> plan_;  // null: there is none
  Phase phase_ = Phase::kEnters;
  State waits_ = State::kForPeers;  // for what, if it waits
  bool failed_on_host_ = false;
  bool falls_back_ = false;
  bool never_ = false;

  Entry own_;
  std::vector<Entry> all_;
  PeerBlocks blocks_;
  WantedFds wanted_;
  std::vector<std::unique_ptr<Operation>> operations_;  // of the phase
  struct {
    uint8_t own = kReaches;
    uint8_t all = kNot;
  } reach_;

  struct {
    Stage::Memory scaled;   // what peers read instead of the send buffer, if it is of any length
    Stage::Memory scratch;  // of the schedule
    Stage::Memory between;  // of reductions in several parts
    size_t bytes_between = 0;
  } memory_;
  std::vector<std::byte*> bases_;                 // by Ref::base
  size_t next_ = 0;                               // step
  std::deque<std::unique_ptr<Operation>> ticks_;  // 2, 3, ... as far as this rank has come
  DeviceWork work_;
  std::unique_ptr<ShareRun> shares_;  // where ranks are on several hosts, instead of steps
};

}  // namespace tutti
