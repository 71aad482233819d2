// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A lane runs schedules, one at a time, over one shared window and one endpoint. A communicator has
// as many lanes as workers; lane w of one rank talks to lane w of its peers only, so lanes share
// nothing.
//
// A lane belongs to one thread at a time (see exec/operation.hpp for who that is) and never waits:
// advance() goes on until it would have to.
//
// Calls in a row. A call ends when all peers have entered it, unless this rank's part of it leaves
// nothing behind that a peer needs but its entry and its slot (Traits::runs_ahead), as that of
// a broadcast's root: then it ends at once, and up to most_ahead() such calls may end before a peer
// enters the first. A call begins (its gate opens) when all peers have finished the last call that
// used the lines and the part of the slot that it will write. That is known of call n of a peer
// from its entry into call n+1, which also tells, by the chain of signatures, whether all calls up
// to there matched.
#pragma once

#include <bit>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/distance.hpp"
#include "core/rivals.hpp"
#include "exec/call.hpp"
#include "exec/plan.hpp"
#include "kernels/copy.hpp"
#include "transports/transport.hpp"

namespace tutti {

// What private memory is counted in.
struct alignas(kCacheLine) CacheLine {
  std::byte bytes[kCacheLine];
};

// Calls walk through the slots by their size: see Lane::place_slots.
inline constexpr size_t kSlotWalks = 4;

// Of how many call lines a lane makes use. Few stay in the first-level cache: an allreduce of 8
// bytes takes 1.2 times as long with all. But where ranks share cores, whoever runs ahead until it
// must wait for the next turn gets the further the more there are: broadcasts take 0.6 of the time.
inline constexpr uint32_t kFewCallLines = 16;
static_assert(kCallLines % kFewCallLines == 0 && std::has_single_bit(kCallLines));

// What a call writes of this rank's slot.
struct SlotUse {
  uint32_t call;
  uint64_t begin;
  uint64_t end;
};

// Whether one count, of calls or ticks, is at another or past it. Counts wrap around.
inline bool reached(uint32_t count, uint32_t wanted) {
  return static_cast<int32_t>(count - wanted) >= 0;
}

inline uint32_t later(uint32_t a, uint32_t b) { return reached(a, b) ? a : b; }

// What an entry says of where the rank's buffers lie. Behind it: the way of the next call
// (Rivalry).
inline constexpr size_t kShownBytes = 2 * sizeof(std::byte*);

// Some ways for calls of one kind, of which all ranks take the same (Plan::Part::rivals). One rank,
// the decider, times the calls and tells the others with its entry into each of them which way the
// next goes: whoever ends a call knows, so no call waits for that. All lanes find out for
// themselves.
struct Rivalry {
  Rivals rivals;  // of the decider; seconds per byte of a block
  Rival next = Rival::kFirst;
  uint32_t last_call = 0;          // that was timed
  Rival last_way = Rival::kFirst;  // that it went
  double ended_s = 0;              // when it ended
};

enum class Advance { kDone, kBlocked, kFailed };

class Lane {
 public:
  // `window` may be null: then ranks share no memory. Whether they are `crowded`, sharing cores,
  // all of them say alike. `transport` outlives the lane. If it joins only some ranks of the
  // communicator, `names` are their numbers there, for texts.
  Lane(int rank, int ranks, bool crowded, Staging staging, Transport& transport,
       std::unique_ptr<Window> window, std::unique_ptr<Endpoint> endpoint,
       std::vector<int> names = {});

  // Begins part `index` of `plan` on the buffers of `call`; all of them stay in place until done.
  // The record is what texts and peers call it by, the chain that of the communicator's calls up to
  // this one, if they are counted (exec/journal.hpp), else 0: messages carry it.
  void start(const Plan& plan, size_t index, const Call& call, const CallRecord& record,
             uint32_t chain);
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
  // Those whom the lane is waiting for, by their numbers in the communicator.
  [[nodiscard]] std::vector<int> waits_for() const;
  // If the last advance() failed because a message belongs to a call that is not this one, and
  // nobody here knows which: who sent it, by its number in the communicator; else -1.
  [[nodiscard]] int stranger() const { return stranger_; }
  // Tells peers that this rank makes no further calls, and `last_words` to those over a network.
  // Not while a schedule runs. An error if it turns out that its last calls, in which nobody had to
  // wait, do not match those of a peer: of two ranks, who leaves last finds out.
  Status leave(std::span<const std::byte> last_words);
  // Whether `peer` has said so.
  [[nodiscard]] bool has_left(int peer) const;
  // What `peer` has told as its last words over a network; empty until it has.
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) {
    poll();
    return endpoint_->last_words_of(peer);
  }

 private:
  [[nodiscard]] std::byte* address(const Ref& ref) const { return bases_[ref.base] + ref.offset; }
  [[nodiscard]] const Window::Rank& shared(int rank) const {
    return shared_[static_cast<size_t>(rank)];
  }
  void bind(const Call& call);
  void map_staging();
  void place_scratch();
  void place_lines();
  void place_slots();
  void place_traded_slots();
  [[nodiscard]] uint32_t last_use_of_slot(uint64_t begin, uint64_t end) const;
  // How calls like the one that is being begun walk through the slots.
  struct SlotWalk {
    size_t index;   // among such ways
    uint64_t room;  // of each copy
  };
  [[nodiscard]] uint64_t next_slot(const SlotWalk& walk) const;
  [[nodiscard]] SlotWalk slot_walk() const;
  void use_own_slot(const SlotWalk& walk, uint64_t at);
  void take_next_lines();
  void fetch_next_of(int peer);
  void plan_look();
  void look(uint32_t call);
  uint32_t watched_tick(int peer);
  void choose_staging(int peer);
  [[nodiscard]] bool stages_past_caches() const { return past_caches_ && !part_->trades_slots; }
  [[nodiscard]] bool peers_stage_past_caches() const {
    return peers_past_caches_ && !part_->trades_slots;
  }
  [[nodiscard]] bool goes_past_caches(const Step& step) const {
    return step.streams || (stages_past_caches() && step.dst.base >= kPrivateSpaces &&
                            step.bytes >= kLeastPastCaches);
  }
  void finish();
  bool run(const Step& step);

  [[nodiscard]] bool decides() const { return plan_->decider == rank_; }
  [[nodiscard]] uint64_t block_bytes() const { return arguments_->count * plan_->element_bytes; }
  void take_part_of_rivals();
  void say_way_of_next(CallLine& line);
  void still_waits();
  [[nodiscard]] std::optional<double> seconds_until(double end_s) const;
  void settle_rivalry();
  void log_choice(uint64_t bytes) const;

  void close_gate();
  bool pass_gate();
  bool look_further();
  void take_lines_ahead();
  void enter();
  void tell(CallLine& line);
  void publish(uint32_t tick);
  bool arrived(const Step& step);
  bool all_arrived(uint32_t tick);
  bool arrived(int peer, uint32_t tick);
  bool has_come_to(int peer, uint32_t tick);
  bool entered(int peer, uint32_t call);
  bool all_entered(uint32_t call);
  bool left_before(int peer, uint32_t call);
  bool mismatched(int peer, uint32_t call);
  bool last_calls_match(int peer);
  [[nodiscard]] uint32_t first_difference(int peer, uint32_t call) const;
  [[nodiscard]] const CallRecord& own_record(uint32_t call) const;
  [[nodiscard]] uint32_t last_call_of(int peer) const;
  // Two bases, send and recv.
  [[nodiscard]] std::span<std::byte*, 2> buffers_of(int rank);
  void find_buffers_of(int peer);
  [[nodiscard]] CopyWay way_of(const Step& step) const;
  void copy(const Step& step, const std::byte* src);
  bool pull(const Step& step, const std::byte* src);
  bool ask_for(const Step& step, uint64_t from);
  void show(const Step& step);
  bool expect(const Step& step);
  [[nodiscard]] bool sees_all_buffers();
  void go_on_viewing();
  bool pulled_in_time();

  void reduce(const Step& step);
  void reduce_with_user_function(void* dst, size_t k, size_t count);

  void send(const Step& step);
  bool receive(const Step& step);
  void post_receives();
  bool came_before_leaving(int peer);
  void poll() {
    if (endpoint_->poll()) note_move();
  }
  bool sends_done();

  bool fail(Status status);
  bool fail_of_size(int peer, uint64_t expected, std::string_view sent);
  [[nodiscard]] int number_of(int rank) const {
    return names_.empty() ? rank : names_[static_cast<size_t>(rank)];
  }
  // For texts, as of transports/names.hpp.
  [[nodiscard]] std::string name_of(int rank) const;
  [[nodiscard]] std::string short_name_of(int rank) const;
  [[nodiscard]] const Step* blocked_step() const;
  // How many calls a rank can be ahead of a peer.
  [[nodiscard]] uint32_t most_ahead() const { return line_mask_; }
  [[nodiscard]] CallLine& line_of(int rank, uint32_t call) const {
    return shared(rank).calls[call & line_mask_];
  }
  [[nodiscard]] CallRecord& record_at(int rank, uint32_t call) const {
    return shared(rank).records[call & line_mask_].record;
  }

  const int rank_;
  const int ranks_;
  const uint32_t line_mask_;      // of the number of a call: which of so many lines is its
  const std::vector<int> names_;  // empty: as they are
  Transport& transport_;
  const std::unique_ptr<Window> window_;
  const std::span<const Window::Rank> shared_;  // by rank
  const uint64_t slot_bytes_;
  const std::unique_ptr<Endpoint> endpoint_;

  uint32_t call_ = 0;                     // number of the call that runs or ran last on this lane
  uint32_t chains_[kCallLines] = {};      // this rank's, by call
  uint32_t synced_ = 0;                   // the last call that all peers are known to have entered
  uint32_t gate_ = 0;                     // the call that all must have entered before this begins
  bool begun_ = false;                    // the gate is open
  uint32_t tick_base_ = 0;                // ticks of all calls before it
  uint64_t next_slots_[kSlotWalks] = {};  // where in the slots the next call's begins, by its size
  uint32_t walked_[kSlotWalks] = {};      // calls of that size so far, at most kManyCalls
  uint64_t slots_reserved_ = 0;           // of each of this rank's slots
  uint64_t slots_used_ = 0;               // the same of all ranks' so far
  uint32_t slots_new_from_ = 0;           // the call that used more of them than any before
  uint32_t waited_in_ = 0;                // the last call that a peer was found not to have entered
  uint64_t last_extent_ = 0;              // of the last call that used slots, not traded ones
  uint64_t last_room_ = 0;                // through which it walked
  uint32_t last_slot_call_ = 0;           // which it was
  uint32_t walks_alike_from_ = 0;         // since when all calls up to it did so
  uint64_t traded_reserved_ = 0;          // of the traded slots
  bool staging_mapped_ = false;           // that of all ranks
  bool traded_ = false;                   // whether each rank has written the peer's last
  SlotUse slot_uses_[kCallLines] = {};    // by call
  const Staging staging_;
  std::vector<Distance> distances_;  // by peer
  int next_look_ = 0;                // the peer that may be looked at in this call
  bool looks_ = false;               // whether it is
  bool watches_ = false;             // whether ticks tell how far peers are: watched_tick()
  int waits_for_tick_of_ = -1;       // the peer, if the last look at its tick was in vain
  bool past_caches_;                 // is staging written
  bool peers_past_caches_;           // it is read as if most peers did so
  std::vector<uint32_t> entered_;    // by peer: the last call that it is known to have entered
  std::vector<uint32_t> seen_;       // by peer: the highest tick seen
  std::vector<std::byte*> bases_;    // by Ref::base

  // The schedule that runs; null between calls.
  const Plan* plan_ = nullptr;
  const Plan::Part* part_ = nullptr;
  const Call* arguments_ = nullptr;
  CallRecord record_{};
  uint32_t chain_ = 0;
  int stranger_ = -1;
  Rivalry* rivalry_ = nullptr;  // if the part has a rival
  Rival way_ = Rival::kFirst;   // of this call
  double timed_from_s_ = 0;     // by the decider; 0: not timed
  double wait_began_s_ = 0;     // the first one; 0: not yet
  double wait_ended_s_ = 0;
  size_t next_ = 0;                // step
  int next_peer_ = 0;              // of an await(all) that is under way
  size_t next_receive_ = 0;        // of part_->receives: the next to be posted
  std::deque<Transfer> receives_;  // posted, in the order of their steps
  struct Sent {
    int peer = -1;
    uint64_t bytes = 0;
    Transfer transfer;
  };
  std::deque<Sent> sends_;
  bool asking_ = false;       // the peer of a pull hands its buffer over
  bool said_asking_ = false;  // once
  std::vector<const void*> sources_;
  std::vector<CacheLine> scratch_;
  std::vector<std::byte> scaled_;                    // pre-multiplied send buffer
  std::vector<std::byte> accumulator_;               // of a user's reduction
  std::unordered_map<uint64_t, Rivalry> rivalries_;  // by Plan::rivalry
  Status status_;
};

}  // namespace tutti
