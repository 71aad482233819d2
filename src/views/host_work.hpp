// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Work of the host within a call on a device: calls and messages.
#pragma once

#include <optional>

#include "comm/communicator.hpp"
#include "exec/operation.hpp"
#include "views/activity.hpp"

namespace tutti {

// A call or message of the host, which stays in place, as its buffers do, until it is over. One
// that was never begun is over.
template <typename Inner>
class HostWork : public InFlight {
 public:
  Result<bool> ready() override {
    progress_.help();
    if (!at_rest(false)) return false;
    if (!inner_) return true;
    const Status status = note(inner_->status());
    if (!status.ok()) return status;
    return true;
  }
  [[nodiscard]] Waits waits() const override { return Waits::kForPeers; }
  bool at_rest(bool /*late*/) override { return !inner_ || inner_->done(); }

 protected:
  // `is_own`: its errors name what the user has called.
  HostWork(Activity& activity, Communicator& comm, HelpedProgress& progress, bool is_own)
      : InFlight(activity), comm_(comm), progress_(progress), is_own_(is_own) {}
  // Scopes that end while it is under way lack memory: the communicator fails, which ends it.
  ~HostWork() {
    if (!at_rest(false)) try_to([&] { comm_.health().fail(out_of_memory()); });
    while (!at_rest(false)) try_to([&] { progress_.help(); });
  }

  Status note(const Status& status) {
    if (!status.ok() && is_own_) activity_.note_host_failed();
    return status;
  }
  Status started(const Status& begun) {
    if (!begun.ok()) inner_.reset();
    return note(begun);
  }

  Communicator& comm_;
  HelpedProgress& progress_;
  const bool is_own_;
  std::optional<Inner> inner_;
};

class HostCall final : public HostWork<Operation> {
 public:
  HostCall(Activity& activity, Communicator& comm)
      : HostWork(activity, comm, comm.executor(), true) {}
  Status start(Call call) {
    inner_.emplace(comm_.executor(), std::move(call));
    Status begun = started(inner_->start(StartedFor::kCaller));
    if (begun.ok()) progress_.help();
    return begun;
  }
};

class HostMessage final : public HostWork<Message> {
 public:
  HostMessage(Activity& activity, Communicator& comm, bool is_own = false)
      : HostWork(activity, comm, comm.messages(), is_own) {}
  Status start(const MessageArguments& arguments) {
    inner_.emplace(comm_.messages(), arguments);
    return started(inner_->start(StartedFor::kCaller));
  }
  // A receive that is told of announcements (comm/announced.hpp).
  Status start_to_meet_announced(const MessageArguments& arguments) {
    inner_.emplace(comm_.messages(), arguments).meet_announced();
    return started(inner_->start(StartedFor::kCaller));
  }
  Status announce(const MessageArguments& arguments, uint32_t number) {
    inner_.emplace(comm_.messages(), arguments).announce_as(number);
    return started(inner_->start(StartedFor::kCaller));
  }
  // The message, once it is over.
  [[nodiscard]] const Message& message() const { return *inner_; }
};

}  // namespace tutti
