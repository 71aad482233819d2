// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The messages of one call: sends that are under way, receives that are posted ahead of their
// steps. Their tags carry the call's number, to match by, and the chain of signatures up to it, to
// compare. One thread at a time; never waits.
#pragma once

#include <deque>
#include <memory>
#include <span>

#include "exec/receives.hpp"
#include "sched/schedule.hpp"
#include "transports/transport.hpp"

namespace tutti {

class StepMessages {
 public:
  enum class Received : uint8_t {
    kNotYet,
    kDone,
    kFailed,     // see failed()
    kOtherSize,  // see received()
    kOtherCall,  // it belongs to a call that is not this one, or that differs before it
  };

  // `endpoint` outlives the messages.
  explicit StepMessages(Endpoint& endpoint) : endpoint_(endpoint) {}

  // Begins a call: its number on the lane, and the chain of signatures with it.
  void start(uint32_t call, uint32_t chain) {
    tag_ = Tag{call} << 32 | chain;
    next_ = 0;
  }
  void send(int peer, const void* source, uint64_t bytes);
  // Whether all sends so far are complete; false also if one failed: see failed().
  bool sends_done() { return sends_.empty() || oldest_sends_done(); }
  // Posts the receive of step `now` and those of later steps whose memory is free by then, some at
  // a time. `address(ref)` says where a place is.
  template <typename Address>
  void post(const Schedule& schedule, std::span<const ReceiveStep> receives, size_t now,
            const Address& address) {
    for (; next_ < receives.size() && receives_.size() < kMostPosted; ++next_) {
      if (receives[next_].from > now) return;
      const Step& step = schedule.steps[receives[next_].step];
      endpoint_.recv(step.peer, tag_ & kCallMask, kCallMask, address(step.dst), step.bytes,
                     receives_.emplace_back());
    }
  }
  // How far the oldest posted receive is, which is of `bytes` bytes.
  Received receive(uint64_t bytes);
  void poll() {
    if (endpoint_.poll()) note_move();
  }
  // Gives up all sends and receives: no buffer is touched afterwards.
  void cancel();

  [[nodiscard]] const Status& failed() const { return failed_; }
  // The size of the message, in words, after kOtherSize.
  [[nodiscard]] std::string received() const;
  [[nodiscard]] bool sends() const { return !sends_.empty(); }
  [[nodiscard]] bool receives() const { return !receives_.empty(); }
  // The receiver of the oldest send that is not complete, and its length.
  [[nodiscard]] int receiver() const { return sends_.front().peer; }
  [[nodiscard]] uint64_t bytes_to_receiver() const { return sends_.front().bytes; }

 private:
  static constexpr Tag kCallMask = ~Tag{0} << 32;
  static constexpr size_t kMostPosted = 8;
  struct Sent {
    int peer = -1;
    uint64_t bytes = 0;
    Transfer transfer;
  };

  bool oldest_sends_done();

  Endpoint& endpoint_;
  Tag tag_ = 0;
  size_t next_ = 0;                // the next receive of the call to be posted
  std::deque<Transfer> receives_;  // posted receives, in the order of their steps
  std::deque<Sent> sends_;
  Status failed_;
};

}  // namespace tutti
