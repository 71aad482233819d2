// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The other ranks of a communicator: who is on this host, who has left or died, and what becomes of
// the news. Processes of this host are watched; ranks on other hosts are heard of over the control
// connection.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "comm/connect.hpp"
#include "comm/regroup.hpp"
#include "comm/runtime.hpp"
#include "core/exchange.hpp"
#include "exec/executor.hpp"
#include "exec/health.hpp"

namespace tutti {

class Peers {
 public:
  // All references outlive it. `group` is the communicator in words if it has some of a job's ranks
  // only, else empty.
  Peers(Runtime& runtime, const Connection& connection, Health& health, int rank, int ranks,
        std::string group);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Collective, once: watches them from now on, and answers inquiries about the communicator of
  // that key. What is given is used until stop().
  Status watch(Exchange& exchange, uint64_t key, Executor& executor, Report& report);
  // Watches nobody any more. A failure that was found this moment has been told.
  void stop();

  [[nodiscard]] bool is_here(int peer) const;
  // Whether a peer has left, from the memory of this host, else as the control connection has said.
  [[nodiscard]] bool has_left(int peer) const;
  // Whether a rank has left, or one of this host has died.
  [[nodiscard]] bool is_gone(int peer) const { return has_left(peer) || has_died(peer); }
  // The death of one of the ranks, if it is on this host. The control connection tells of the first
  // failure elsewhere.
  [[nodiscard]] Status loss_among(const std::vector<int>& ranks) const;
  // Whether the log has to say here what a rank on another host has found out. One host does: that
  // of rank 0, unless it is the lost one.
  [[nodiscard]] bool speak_here() const { return is_here(0) || !control_->is_open(); }
  // The control connection, if the ranks are on several hosts, and the way in which those who are
  // left regroup. Null before watch().
  [[nodiscard]] Control* control() const { return control_.get(); }
  [[nodiscard]] Regroup* regroup() const { return regroup_.get(); }

 private:
  [[nodiscard]] std::vector<Monitor::Peer> watched_here() const;
  Status stay_in_touch(Exchange& exchange);
  [[nodiscard]] Monitor::Peer watched(int peer) const;
  [[nodiscard]] bool has_died(int peer) const;
  [[nodiscard]] Status death_of(int peer) const;
  [[nodiscard]] Status in_group(const Status& cause) const;
  void hear(Executor& executor);

  Runtime& runtime_;
  const Connection& connection_;
  Transport& transport_;
  Health& health_;
  const int rank_;
  const int ranks_;
  const std::string group_;
  std::vector<std::atomic<bool>> left_;  // departures by rank, as the control connection told
  std::unique_ptr<Control> control_;
  std::unique_ptr<Regroup> regroup_;
  // What `regroup_` owns, if ranks regroup over a control connection; else null.
  ControlRegroup* control_regroup_ = nullptr;
  Inquiries::Token inquiry_token_ = 0;
  Monitor::Token watch_ = 0;
};

}  // namespace tutti
