// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a call on a lane: it starts, begins, enters, waits for peers and ends.
#include "exec/lane.hpp"

#include "core/clock.hpp"
#include "core/tuned.hpp"

namespace tutti {
namespace {

// Slots up to these sizes are taken or fetched before the next call needs them.
constexpr uint64_t kMostTaken = tuned::kMostTaken;
constexpr uint64_t kMostFetched = tuned::kMostFetched;

std::span<const Window::Rank> ranks_of(const std::unique_ptr<Window>& window) {
  return window == nullptr ? std::span<const Window::Rank>() : window->ranks();
}

}  // namespace

Lane::Lane(int rank, int ranks, bool oversubscribed, Staging staging, Transport& transport,
           std::unique_ptr<Window> window, std::unique_ptr<Endpoint> endpoint,
           std::vector<int> numbers)
    : rank_(rank),
      ranks_(ranks),
      transport_(transport),
      names_(transport, std::move(numbers)),
      window_(std::move(window)),
      endpoint_(std::move(endpoint)),
      log_(rank, ranks_of(window_), oversubscribed),
      slots_(window_.get(), oversubscribed),
      addresses_(rank, window_.get()),
      staging_(rank, ranks, staging),
      trials_(rank),
      messages_(*endpoint_),
      reader_(transport, window_.get(), names_) {}

// ---- the beginning -----------------------------------------------------------------------------

void Lane::start(const Plan& plan, size_t index, const Call& call, const CallRecord& record,
                 uint32_t chain) {
  plan_ = &plan;
  part_ = &plan.parts[index];
  arguments_ = &call;
  if (!part_->other_arms.empty()) [[unlikely]]
    start_trial();
  log_.start(plan.signature);
  next_ = 0;
  next_peer_ = 0;
  record_ = record;
  begun_ = !log_.is_shared();
  if (part_->traits.sends_messages) messages_.start(log_.call(), chained(chain, plan.signature));
  bind(call);
  staging_.start(part_->traits, log_);
}

[[gnu::noinline]] void Lane::start_trial() {
  const Arms& arms = plan_->arms;
  const size_t arm = trials_.start(arms, block_bytes(), trials_.decides(arms) ? now_s() : 0);
  if (arm > 0) part_ = part_->other_arms[arm - 1].get();
}

void Lane::bind(const Call& call) {
  std::byte* send = engine_.start(call, part_->traits.most_sources, ranks_, plan_->element_bytes);
  auto* recv = static_cast<std::byte*>(call.recv);
  addresses_.set_buffers(send == nullptr ? nullptr : send + part_->offset,
                         recv == nullptr ? nullptr : recv + part_->offset);
  if (part_->schedule.scratch_bytes > 0) {
    addresses_.set_scratch(engine_.scratch(part_->schedule.scratch_bytes));
  }
  if (part_->traits.uses_lines) addresses_.set_lines(log_);
  if (part_->slot_extent > 0) place_slots();
  if (part_->traits.uses_window && status_.ok()) status_ = map_windows();
}

[[gnu::noinline]] Status Lane::map_windows() {
  Status mapped = addresses_.map_windows();
  return mapped.ok() && part_->traits.writes_window ? window_->reserve_staging() : mapped;
}

void Lane::place_slots() {
  const uint64_t extent = part_->slot_extent;
  if (part_->ping_pong_slots) {
    // Nothing to wait for: what the peer wrote there, this rank has read; and when it had seen the
    // peer in that call, the peer had ended the one before.
    if (slots_.must_grow_ping_pong(extent)) status_ = slots_.grow_ping_pong(extent);
    if (status_.ok()) addresses_.set_ping_pong_slots(slots_.swap());
    return;
  }
  const SlotAllocator::SizeClass size_class = slots_.size_class_of(extent);
  const bool writes = part_->traits.slot_written > 0;
  if (slots_.must_grow(size_class, writes)) [[unlikely]] {
    status_ = slots_.grow(size_class, writes, log_.call());
    if (!status_.ok()) return;
  }
  const uint64_t at = slots_.place(log_.call(), extent, size_class);
  addresses_.set_slots(log_.call() & 1, at);
  if (writes) log_.begin_after(slots_.begins_after(log_, extent, size_class, at));
}

// Called until it returns true, which begins the call.
bool Lane::begin() {
  if (!log_.may_begin(part_->traits.slot_written == 0)) {
    return log_.fault() == CallLog::Fault::kNone ? false : fail(faults().of_log());
  }
  begun_ = true;
  // A schedule of messages alone does not enter the call; a peer that chose shared memory by
  // mistake must see our signature all the same.
  if (!part_->traits.enters) enter();
  return true;
}

Advance Lane::advance(size_t stop) {
  if (!status_.ok()) return Advance::kFailed;
  if (!begun_ && !begin()) return status_.ok() ? Advance::kBlocked : Advance::kFailed;
  bool through = window_ == nullptr || part_->traits.enters || all_entered();
  const size_t first = next_;
  // A step may change the schedule (go_on_viewing).
  while (through && next_ < part_->schedule.steps.size()) {
    through = run(part_->schedule.steps[next_]);
    if (through && ++next_ >= stop) break;
  }
  const bool needs_nobody = window_ == nullptr || part_->traits.runs_ahead;
  if (through && next_ < stop && sends_done() && (needs_nobody || all_entered()) &&
      was_not_stopped()) {
    finish();
    return Advance::kDone;
  }
  if (next_ != first) note_move();
  if (messages_.sends()) messages_.poll();
  // Its buffers are shown, so it is not through before all peers are.
  if (part_->schedule.shows_buffers) window_->serve_fallback_copy();
  if (trials_.runs() && trials_.decides(plan_->arms)) {
    trials_.waits(next_ <= part_->traits.first_wait, now_s());
  }
  return status_.ok() ? Advance::kBlocked : Advance::kFailed;
}

// Returns whether the step is complete; if not, it is run again later.
bool Lane::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kPull:
      if (!part_->views) return pull(step);
      [[fallthrough]];
    case StepKind::kCopy: copy(step, addresses_.of(step.src)); return true;
    case StepKind::kShow: show(step); return true;
    case StepKind::kExpect: return expect(step);
    case StepKind::kReduce: reduce(step); return true;
    case StepKind::kPublish: publish(step.tick); return true;
    case StepKind::kAwait: return arrived(step);
    case StepKind::kSend:
      messages_.send(step.peer, addresses_.of(step.src), step.bytes);
      return true;
    case StepKind::kRecv: return receive(step);
    case StepKind::kFence: return sends_done();
  }
  return true;
}

// ---- entries and ticks -------------------------------------------------------------------------

void Lane::enter() {
  if (part_->announces) [[unlikely]] {
    std::byte* payload = log_.line_of(rank_, log_.call()).payload;
    addresses_.show_buffers(payload);
    if (trials_.runs() && trials_.decides(plan_->arms)) trials_.announce(payload + kShownBytes);
  }
  log_.enter(record_);
  transport_.notify();
  if (!part_->traits.runs_ahead) take_next_lines();
}

void Lane::publish(uint32_t tick) {
  if (tick == 1) return enter();
  log_.publish(tick);
  transport_.notify();
}

// What is inlined of these, and what is not, makes small calls shorter (docs/notes/15).
[[gnu::noinline]] bool Lane::has_come_to(int peer, uint32_t tick) {
  uint32_t& seen = log_.seen_tick(peer);
  if (log_.is_at(seen, tick)) return true;
  seen = staging_.tick_of(peer, log_);
  const bool there = log_.is_at(seen, tick);
  staging_.waits_for(peer, there);
  return there;
}

[[gnu::always_inline]] inline bool Lane::arrived(int peer, uint32_t tick) {
  if (peer == rank_) return true;
  if (!entered(peer)) return false;
  return tick == 1 || has_come_to(peer, tick);
}

[[gnu::always_inline]] inline bool Lane::all_arrived(uint32_t tick) {
  for (; next_peer_ < ranks_; ++next_peer_) {
    if (!arrived(next_peer_, tick)) return false;
  }
  next_peer_ = 0;
  return true;
}

bool Lane::arrived(const Step& step) {
  const bool all = step.peer == kAllPeers;
  if (!(all ? all_arrived(step.tick) : arrived(step.peer, step.tick))) return false;
  staging_.saw(step.peer, log_);
  if (all && part_->viewing != nullptr && addresses_.sees_all_buffers()) go_on_viewing();
  return true;
}

// The entry, which both schedules begin with, is done.
void Lane::go_on_viewing() {
  trials_.forget_time();
  part_ = part_->viewing.get();
  next_ = 0;
  addresses_.set_scratch(engine_.scratch(part_->schedule.scratch_bytes));
  addresses_.view_buffers();
}

bool Lane::entered(int peer) {
  const uint32_t call = log_.call();
  if (log_.knows_entry(peer, call)) return true;
  const CallLog::Look look = log_.look_at(peer, call);
  if (look == CallLog::Look::kNotYet) return false;
  if (look == CallLog::Look::kFault) return fail(faults().of_log());
  if (part_->has_root && !log_.has_waited()) fetch_next_of(peer);
  if (part_->schedule.shows_buffers) {
    addresses_.find_buffers_of(peer, log_.line_of(peer, call).payload);
  }
  return true;
}

bool Lane::all_entered() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !entered(peer)) return false;
  }
  log_.all_have_entered();
  return true;
}

// Takes the lines that the next call will write, if it is like this one, from the peers that have
// read them: its entry, and its slot. Done while this call waits, it costs nothing. Done when the
// slot is written, it makes that slower.
void Lane::take_next_lines() {
  log_.take_next_line();
  const uint64_t written = part_->traits.slot_written;
  if (part_->ping_pong_slots || written == 0 || written > kMostTaken) return;
  if (staging_.writes_non_temporal()) return;
  const uint64_t extent = part_->slot_extent;
  const std::byte* slot = addresses_.slots_of(rank_, (log_.call() + 1) & 1) +
                          slots_.next_place(extent, slots_.size_class_of(extent));
  for (uint64_t at = 0; at < written; at += kCacheLine) prefetch_to_write(slot + at);
}

// A rank that only gives may be calls ahead. Then what it has written for the next call, if that is
// like this one, is on its way while this one is done. Not if this rank had to wait: a line that is
// fetched before its owner has written it, the owner must take back.
void Lane::fetch_next_of(int peer) {
  log_.fetch_next_line_of(peer);
  const uint64_t extent = part_->slot_extent;
  if (extent == 0 || extent > kMostFetched) return;
  const std::byte* slot = addresses_.slots_of(peer, (log_.call() + 1) & 1) +
                          slots_.next_place(extent, slots_.size_class_of(extent));
  for (uint64_t at = 0; at < extent; at += kCacheLine) __builtin_prefetch(slot + at);
}

// ---- the end -----------------------------------------------------------------------------------

// A peer that has given the call up may have changed its buffers since. It stopped the communicator
// before that, so if that is not stopped now, what was read is what the peer gave.
bool Lane::was_not_stopped() {
  if (!part_->schedule.shows_buffers) return true;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport_.recovery().shared_state()->stop.load(std::memory_order_acquire) == 0) return true;
  return fail({Code::kAborted, "the communicator was stopped during the call"});
}

[[gnu::noinline]] void Lane::finish_trial() {
  const uint64_t bytes = block_bytes();
  // Calls move through slots, so these are cold after others; ping-pong slots are not.
  const bool moves = bytes <= slots_.slot_bytes() && !plan_->parts.front().ping_pong_slots;
  const CallTrials::Ended ended = {
      .collective = arguments_->collective,
      .call = log_.call(),
      .block_bytes = bytes,
      .ranks = ranks_,
      .reads_peers = part_->schedule.shows_buffers,
      .uses_slots = moves,
      .slots_are_new = part_->slot_extent > 0 && slots_.is_new(log_.call()),
      .at_s = trials_.is_timed() ? now_s() : 0};
  const std::byte* payload = log_.line_of(plan_->arms.coordinator, log_.call()).payload;
  trials_.finish(plan_->arms, ended, payload + kShownBytes);
}

void Lane::finish() {
  if (trials_.runs()) [[unlikely]]
    finish_trial();
  log_.finish(part_->schedule.ticks);
  plan_ = nullptr;
  part_ = nullptr;
  arguments_ = nullptr;
  engine_.finish();
}

void Lane::abandon() {
  if (part_ == nullptr) return;
  messages_.cancel();
  trials_.abandon();
  finish();
}

void Lane::leave(std::span<const std::byte> last_words) {
  endpoint_->leave(last_words);
  if (window_ == nullptr) return;
  log_.depart();
  transport_.notify();
  // Of two ranks that leave at the same time, one at least sees all of the other's.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace tutti
