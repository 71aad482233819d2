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

  // Begins an operation, which stays in place until done.
  Status submit(DeviceOperation& operation, bool has_callback, StartedFor whom);
  Status wait(DeviceOperation& operation, int64_t timeout_ms);
  // Wait until no operation is left, or no send that has not been handed over.
  Status drain();
  Status flush_sends();

  // Whether devices may run the call; the same on all ranks, for the call whose turn it is.
  [[nodiscard]] bool may_be_peer_to_peer(const Call& call) const;
  // The plan by which devices of one host run the call; null: they cannot.
  std::shared_ptr<const Plan> device_plan(const Call& call) { return plans_.find(call); }
  void never_peer_to_peer() { is_peer_to_peer_ = false; }
  // Whether all ranks have said that they reach what they read, where buffers lie as the digest
  // says; the same on all ranks.
  [[nodiscard]] bool all_have_reached(uint64_t digest) const;
  void note_that_all_reach(uint64_t digest);
  // Whether the message that is being run may be handed over, if it is a send: no earlier one is
  // unsent.
  [[nodiscard]] bool may_send() const { return may_send_; }
  // The time for which the thread that makes progress may wait in a driver: none, unless a thread
  // waits for the only operation.
  [[nodiscard]] devices::Patience patience() const;

  void help() override { make_progress(); }
  bool drive(int worker) override;
  [[nodiscard]] Waiter waiter() const override;

 private:
  [[nodiscard]] bool has_work(int worker) const override { return worker == 0 && !idle(); }
  [[nodiscard]] bool held() const override { return progress_lock_.held(); }
  void cannot_start_worker(const Status& why) override { comm_.health().lack(why); }
  bool make_progress();
  void progress_calls(std::vector<DeviceOperation*>& ended);
  void progress_messages(std::vector<DeviceOperation*>& ended);
  bool has_unsent();
  template <typename Ready>
  Status wait_for(std::string_view what, const Ready& ready);
  [[nodiscard]] Waiter waiter_of_caller(int64_t timeout_ms) const;

  Communicator& comm_;
  // Held by the thread that makes progress: it runs the first of the calls, and all messages.
  BriefLock progress_lock_;
  PlanCache plans_;               // guarded by progress_lock_; of calls on devices
  bool is_peer_to_peer_ = true;   // guarded by progress_lock_; whether devices may run calls
  std::deque<uint64_t> reached_;  // guarded by progress_lock_; the last digests
  bool may_send_ = true;          // guarded by progress_lock_; of the message that is being run
  BriefLock queues_lock_;
  // Guarded by queues_lock_:
  std::deque<DeviceOperation*> calls_;
  std::deque<DeviceOperation*> messages_;
};

}  // namespace tutti
