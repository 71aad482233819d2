// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A lane runs schedules, one at a time, over one shared memory and one endpoint. A communicator has
// as many groups of lanes as workers (exec/lane_group.hpp). A lane of group w talks only to its
// counterpart in group w of the peers, so lanes share nothing.
//
// A lane belongs to one thread at a time (exec/lane_queue.hpp says to which) and never waits:
// advance() goes on until it would have to.
//
// The lane itself runs the steps. The steps need components, each with its own state:
//   CallLog        who has entered which call, and when this rank may begin the next
//   SlotAllocator  where in the slots a call has its own
//   Addresses      where in this process all that a schedule names lies
//   StorePolicy    with which stores slots and windows are written
//   CallTrials     which arm calls of one kind use
//   HostEngine     copies and reductions
//   StepMessages   sends and receives under way
//   PeerReader     buffers of peers that are read where they lie
//
// What a call needs of shared memory a lane reads and writes by its log, its engine and its memory
// alone. So the proof of sequences of calls (tests/proof/) runs this very lane. Its components keep
// account of who knows what instead of moving bytes, and leave out a rule to see that it is missed.
// Past them go the arm that an entry announces, the loads that are timed, and the stop flag.
//
// A call ends when all peers have entered it. A schedule that may run ahead (Traits::runs_ahead),
// as that of a broadcast's root, ends at once.
//
// The functions are in lane_*.hpp, for those who instantiate the template alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapt/call_trials.hpp"
#include "adapt/store_policy.hpp"
#include "exec/call.hpp"
#include "exec/call_faults.hpp"
#include "exec/call_log.hpp"
#include "exec/call_memory.hpp"
#include "exec/host_engine.hpp"
#include "exec/peer_reader.hpp"
#include "exec/plan.hpp"
#include "exec/rank_names.hpp"
#include "exec/step_messages.hpp"
#include "exec/step_trace.hpp"
#include "transports/transport.hpp"

namespace tutti {

enum class Advance { kDone, kBlocked, kFailed };

struct LaneSettings {
  int rank = 0;
  int ranks = 1;
  bool oversubscribed = false;  // whether ranks share cores: the same on all ranks
  StoreTarget store_target = StoreTarget::kAuto;
  // The ranks' numbers in the communicator, for texts, if the lane is among some of them only.
  std::vector<int> numbers = {};
};

// The components of all lanes but those of the proof.
struct HostComponents {
  using Log = CallLog;
  using Slots = SlotAllocator;
  using Engine = HostEngine;
  static Log log(int rank, std::span<const LaneMemory::Rank> ranks, bool oversubscribed) {
    return {rank, ranks, oversubscribed};
  }
  static Slots slots(LaneMemory* memory, bool oversubscribed) { return {memory, oversubscribed}; }
  static Engine engine() { return {}; }
};

template <typename Components>
class BasicLane {
 public:
  // `memory` may be null: then ranks share no memory. `transport` outlives the lane.
  BasicLane(LaneSettings settings, Transport& transport, std::unique_ptr<LaneMemory> memory,
            std::unique_ptr<Endpoint> endpoint, const Components& components = {})
      : rank_(settings.rank),
        ranks_(settings.ranks),
        transport_(transport),
        names_(transport, std::move(settings.numbers)),
        memory_(std::move(memory)),
        endpoint_(std::move(endpoint)),
        log_(components.log(
            rank_, memory_ == nullptr ? std::span<const LaneMemory::Rank>() : memory_->ranks(),
            settings.oversubscribed)),
        slots_(components.slots(memory_.get(), settings.oversubscribed)),
        addresses_(rank_, memory_.get()),
        store_policy_(rank_, ranks_, settings.store_target),
        trials_(rank_),
        engine_(components.engine()),
        messages_(*endpoint_),
        reader_(transport, memory_.get(), names_) {}

  // Begins `lane_plan`, which is of `plan`, on the buffers of `call`; plan and call stay in place
  // until it is done. `record` describes the call in texts and to peers. `chain` is the hash of the
  // communicator's calls up to this one, which messages carry; 0 where no journal keeps it
  // (exec/journal.hpp).
  void start(const Plan& plan, const LanePlan& lane_plan, const Call& call,
             const CallRecord& record, uint32_t chain);
  // Runs until done, blocked on a peer, before the step `stop` (which counts as blocked), or failed
  // (then see status()).
  Advance advance(size_t stop = SIZE_MAX);
  // Advances, and notes each step.
  Advance advance(StepTrace& trace);
  // The next step of the call that runs.
  [[nodiscard]] size_t next_step() const { return next_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  // The error of the start() or advance() that failed. Nothing clears it: each advance() after it
  // fails as well.
  [[nodiscard]] const Status& status() const { return status_; }
  // Gives up the current schedule, if any: no buffer of its call is touched afterwards. Only for a
  // communicator that is broken.
  void abandon();

  // "rank 2 (pid 77 on h) has not entered the call; its last was broadcast #2 (...)": whom the lane
  // is waiting for. For error texts.
  [[nodiscard]] std::string blocked_on() const;
  // The ranks that the lane is waiting for, by their numbers in the communicator.
  [[nodiscard]] std::vector<int> waits_for() const;
  // The sender of a message that belongs to another call than this one, if that made the last
  // advance() fail; else -1. It is its number in the communicator. Only the sender knows which call
  // it is.
  [[nodiscard]] int mismatched_sender() const { return mismatched_sender_; }
  // Sets the note by which the lane says that it runs a function of the user; it outlives the lane.
  void note_functions_in(WaitNote* note) { engine_.note_functions_in(note); }
  // Notes that the call that ran last, which had to wait for long, has ended.
  void note_end() {
    if (memory_ != nullptr) log_.note_end();
  }
  // Tells peers that this rank makes no further calls, with `last_words`. Not while a schedule
  // runs.
  void leave(std::span<const std::byte> last_words) { endpoint_->leave(last_words); }
  // Whether each peer with which the lane shares memory is known, after leave(), to have made this
  // rank's last calls. `differs`, which is ok before, is the error if they do not match.
  bool knows_last_calls(Status& differs);
  // Whether this rank and `peer` have exchanged messages, so that each hears when the other leaves.
  [[nodiscard]] bool deals_with(int peer) const { return endpoint_->deals_with(peer); }
  // The last words of `peer`; empty until they have come.
  [[nodiscard]] std::span<const std::byte> last_words_of(int peer) {
    messages_.poll();
    return endpoint_->last_words_of(peer);
  }

 private:
  // A call from its start to its end (lane_run.hpp).
  void bind(const Call& call);
  void place_slots();
  bool begin();
  void enter();
  bool run(const Step& step);
  void publish(uint32_t tick);
  bool await(const Step& step);
  bool has_published(int peer, uint32_t tick);
  bool all_have_published(uint32_t tick);
  bool sees_tick(int peer, uint32_t tick);
  bool has_entered(int peer);
  bool all_have_entered();
  void copy(const Step& step, const std::byte* src);
  void reduce(const Step& step);
  [[nodiscard]] bool is_non_temporal(const Step& step) const {
    return step.non_temporal ||
           (store_policy_.writes_non_temporal() && !lane_plan_->ping_pong_slots &&
            step.dst.base >= kPrivateSpaces && step.bytes >= kLeastStagedNonTemporal);
  }
  [[nodiscard]] CopyHint hint_of(const Step& step) const {
    return is_non_temporal(step) ? CopyHint::kNonTemporal : CopyHint::kTemporal;
  }
  bool sends_done();
  void finish();
  [[nodiscard]] uint64_t block_bytes() const { return arguments_->count * plan_->element_bytes; }

  // Memory of peers, and messages (lane_peers.hpp).
  Status map_windows();
  bool go_on_mapped();
  bool pull(const Step& step);
  bool expect(const Step& step);
  bool receive(const Step& step);
  void fetch_next_of(int peer);
  bool check_not_stopped();

  // Measurements (lane_measures.hpp).
  void start_trial();
  void finish_trial();
  void time_load(uint32_t call);
  uint32_t watched_tick(int peer);

  // Errors (lane_errors.hpp).
  bool fail(Status status);
  [[nodiscard]] CallFaults faults() const { return {rank_, log_, names_, record_}; }

  const int rank_;
  const int ranks_;
  Transport& transport_;
  const RankNames names_;
  const std::unique_ptr<LaneMemory> memory_;
  const std::unique_ptr<Endpoint> endpoint_;
  typename Components::Log log_;
  typename Components::Slots slots_;
  Addresses addresses_;
  StorePolicy store_policy_;
  CallTrials trials_;
  typename Components::Engine engine_;
  StepMessages messages_;
  PeerReader reader_;

  // The schedule that runs; null between calls.
  const Plan* plan_ = nullptr;
  const LanePlan* lane_plan_ = nullptr;
  const Call* arguments_ = nullptr;
  CallRecord record_{};
  bool begun_ = false;  // the log has let it begin
  size_t next_ = 0;     // next step
  int next_peer_ = 0;   // peer whose entry an await(all) checks next
  int mismatched_sender_ = -1;
  Status status_;
};

using Lane = BasicLane<HostComponents>;
extern template class BasicLane<HostComponents>;

}  // namespace tutti
