// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A lane runs schedules, one at a time, over one shared window and one endpoint. A communicator has
// as many lanes as workers; lane w of one rank talks to lane w of its peers only, so lanes share
// nothing.
//
// A lane belongs to one thread at a time (see exec/operation.hpp for who that is) and never waits:
// advance() goes on until it would have to.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "exec/call.hpp"
#include "exec/plan.hpp"
#include "transports/transport.hpp"

namespace tutti {

// What private memory is counted in.
struct alignas(kCacheLine) CacheLine {
  std::byte bytes[kCacheLine];
};

// Calls walk through the slots by their size: see Lane::place_slots.
inline constexpr size_t kSlotWalks = 3;

enum class Advance { kDone, kBlocked, kFailed };

class Lane {
 public:
  // `window` may be null: then ranks share no memory. `transport` outlives the lane.
  Lane(int rank, int ranks, Transport& transport, std::unique_ptr<Window> window,
       std::unique_ptr<Endpoint> endpoint);

  // Begins part `index` of `plan` on the buffers of `call`; all of them stay in place until done.
  void start(const Plan& plan, size_t index, const Call& call, uint64_t sequence);
  // Runs until done, blocked on a peer, or failed (then see status()).
  Advance advance();
  // The error of the last advance() that returned kFailed.
  [[nodiscard]] const Status& status() const { return status_; }
  // Gives up the current schedule, if any: no buffer of its call is touched afterwards. Only for a
  // communicator that is broken.
  void abandon();

  // "rank 2 (pid 77 on h) has not entered the call; its last was broadcast #2 (...)": whom the lane
  // is waiting for. For error texts.
  [[nodiscard]] std::string blocked_on() const;
  // Tells peers that this rank makes no further calls. Not while a schedule runs.
  void leave();
  // Whether `peer` has said so.
  [[nodiscard]] bool has_left(int peer) const;

 private:
  [[nodiscard]] std::byte* address(const Ref& ref) const {
    return bases_[call_ & 1][ref.base] + ref.offset;
  }
  [[nodiscard]] const Window::Rank& shared(int rank) const {
    return window_->ranks()[static_cast<size_t>(rank)];
  }
  void bind(const Call& call);
  void place_slots();
  [[nodiscard]] uint64_t next_slot() const;
  [[nodiscard]] uint64_t slot_room() const;
  void take_next_slot();
  void finish();
  bool run(const Step& step);

  void enter();
  void publish(uint32_t tick);
  bool arrived(const Step& step);
  bool arrived(int peer, uint32_t tick);
  bool entered(int peer);
  bool all_entered();
  bool mismatched(int peer, uint32_t signature);
  void find_buffers_of(int peer);
  bool pull(const Step& step);
  bool pulled_in_time();

  void reduce(const Step& step);
  void reduce_with_user_function(void* dst, size_t k, size_t count);

  void send(const Step& step);
  bool receive(const Step& step);
  bool sends_done();

  bool fail(Status status);
  [[nodiscard]] std::string name_of(int peer) const;

  const int rank_;
  const int ranks_;
  Transport& transport_;
  const std::unique_ptr<Window> window_;
  const std::unique_ptr<Endpoint> endpoint_;

  uint32_t call_ = 0;                     // number of the call that runs or ran last on this lane
  uint32_t tick_base_ = 0;                // ticks of all calls before it
  uint64_t next_slots_[kSlotWalks] = {};  // where in the slots the next call's begins, by its size
  uint64_t slots_reserved_ = 0;           // of each of this rank's slots
  std::vector<uint32_t> entered_;         // by peer: the last call in which its entry was seen
  std::vector<uint32_t> seen_;            // by peer: the highest tick seen
  std::vector<std::byte*> bases_[2];      // by Ref::base, for even and odd calls

  // The schedule that runs; null between calls.
  const Plan* plan_ = nullptr;
  const Plan::Part* part_ = nullptr;
  const Call* arguments_ = nullptr;
  CallRecord record_{};
  size_t next_ = 0;    // step
  int next_peer_ = 0;  // of an await(all) that is under way
  bool receiving_ = false;
  Transfer receive_;
  std::deque<Transfer> sends_;
  std::vector<const void*> sources_;
  std::vector<CacheLine> scratch_;
  std::vector<std::byte> scaled_;       // pre-multiplied send buffer
  std::vector<std::byte> accumulator_;  // of a user's reduction
  Status status_;
};

}  // namespace tutti
