// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The calls on the views of one communicator. Collectives run one after the other, in the order in
// which they were made. That counts those on any view and, while there are views, those on the
// communicator itself. Messages go on side by side, but no send overtakes another. Progress is made
// by the threads that wait, or by the first worker.
#pragma once

#include <deque>
#include <vector>

#include "core/brief_lock.hpp"
#include "exec/plan_cache.hpp"
#include "views/device_operation.hpp"

namespace tutti {

class ViewQueue : public HelpedProgress {
 public:
  // `comm` outlives it.
  explicit ViewQueue(Communicator& comm);
  ~ViewQueue() override;

  [[nodiscard]] Communicator& comm() const { return comm_; }

  // Begins it; it stays in place until done.
  Status submit(DeviceOperation& operation, bool has_callback, StartedFor whom);
  Status wait(DeviceOperation& operation, int64_t timeout_ms);
  // Until none is left, or none but messages that have been handed over. Longest as a call waits.
  Status drain();
  Status flush_sends();

  // Whether devices may run the call; the same on all ranks, for the call whose turn it is.
  [[nodiscard]] bool may_be_direct(const Call& call) const;
  // How devices of one host run it; null: in no way.
  std::shared_ptr<const Plan> device_plan(const Call& call) { return plans_.find(call); }
  void never_direct() { direct_ = false; }
  // Whether all ranks have told that they reach what they read where buffers lie like that, which
  // the digest says; the same on all ranks.
  [[nodiscard]] bool all_have_reached(uint64_t digest) const;
  void note_that_all_reach(uint64_t digest);
  // How long who pushes may wait in a driver: a thread waits for what there is,
  // and nothing else is to be pushed meanwhile.
  [[nodiscard]] devices::Patience patience() const;

  void help() override { make_progress(); }
  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override;

 private:
  [[nodiscard]] bool has_work(int worker) const override { return worker == 0 && !idle(); }
  [[nodiscard]] bool held() const override { return lock_.held(); }
  void cannot_start_worker(const Status& why) override { comm_.health().lack(why); }
  bool make_progress();
  void progress_calls(std::vector<DeviceOperation*>& ended);
  void progress_messages(std::vector<DeviceOperation*>& ended);
  bool has_unsent();
  template <typename Ready>
  Status wait_for(std::string_view what, const Ready& ready);
  [[nodiscard]] Waiter waiter_of_caller(int64_t timeout_ms) const;

  Communicator& comm_;
  PlanCache plans_;               // of who pushes: for devices
  bool direct_ = true;            // of who pushes: devices may run calls
  std::deque<uint64_t> reached_;  // of who pushes: digests, the last ones
  BriefLock lock_;                // of who pushes
  BriefLock queues_lock_;         // for a moment
  // Guarded by queues_lock_. The front of the calls, and all messages, are pushed under lock_.
  std::deque<DeviceOperation*> calls_;
  std::deque<DeviceOperation*> messages_;
};

}  // namespace tutti
