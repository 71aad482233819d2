// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The life of a call on a lane: it starts, passes the gate, enters, waits for peers and ends.
#include "exec/lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/copy.hpp"

namespace tutti {
namespace {

// By a call that reduces.
uint64_t elements_sent(const Call& call, int ranks) {
  if (call.layouts != nullptr) {
    return call.layouts->send.offsets.back() + call.layouts->send.counts.back();
  }
  const bool blocks = call.collective == Collective::kReduceScatter;
  return call.count * (blocks ? static_cast<uint64_t>(ranks) : 1);
}

}  // namespace

Lane::Lane(int rank, int ranks, bool crowded, Staging staging, Transport& transport,
           std::unique_ptr<Window> window, std::unique_ptr<Endpoint> endpoint,
           std::vector<int> names)
    : rank_(rank),
      ranks_(ranks),
      line_mask_((crowded ? kCallLines : kFewCallLines) - 1),
      names_(std::move(names)),
      transport_(transport),
      window_(std::move(window)),
      shared_(window_ == nullptr ? std::span<const Window::Rank>() : window_->ranks()),
      slot_bytes_(window_ == nullptr ? 0 : window_->sizes().slot_bytes),
      endpoint_(std::move(endpoint)),
      staging_(staging),
      distances_(static_cast<size_t>(ranks)),
      past_caches_(staging == Staging::kMemory),
      peers_past_caches_(past_caches_),
      entered_(static_cast<size_t>(ranks), 0),
      seen_(static_cast<size_t>(ranks), 0) {
  bases_.assign(kPrivateSpaces, nullptr);
  for (const Window::Rank& peer : shared_) {
    bases_.insert(bases_.end(), 2, nullptr);  // line and slot: see bind()
    bases_.push_back(peer.staging);           // see map_staging()
    bases_.insert(bases_.end(), 2, nullptr);  // of its buffers, which each call shows anew
  }
}

void Lane::start(const Plan& plan, size_t index, const Call& call, const CallRecord& record,
                 uint32_t chain) {
  plan_ = &plan;
  part_ = &plan.parts[index];
  arguments_ = &call;
  if (!part_->rivals.empty()) [[unlikely]]
    take_part_of_rivals();
  ++call_;
  next_ = 0;
  next_peer_ = 0;
  next_receive_ = 0;
  record_ = record;
  chain_ = chain;
  if (sources_.size() < part_->traits.most_sources) sources_.resize(part_->traits.most_sources);
  begun_ = window_ == nullptr;
  if (!begun_) close_gate();
  bind(call);
  if (part_->traits.uses_window && status_.ok()) map_staging();
  looks_ = watches_ = false;
  if (part_->traits.staged > 0 && staging_ == Staging::kAuto) plan_look();
}

void Lane::bind(const Call& call) {
  auto* send = static_cast<std::byte*>(const_cast<void*>(call.send));
  auto* recv = static_cast<std::byte*>(call.recv);
  if (call.op == ReduceOp::kPremulSum && reduces(call.collective)) {
    const uint64_t count = elements_sent(call, ranks_);
    scaled_.resize(count * plan_->element_bytes);
    scale_kernel(call.type)(scaled_.data(), send, call.binding->scalar.data(), count);
    send = scaled_.data();
  }
  bases_[0] = send == nullptr ? nullptr : send + part_->offset;
  bases_[1] = recv == nullptr ? nullptr : recv + part_->offset;
  if (part_->schedule.scratch_bytes > 0) place_scratch();
  if (part_->traits.uses_lines) place_lines();
  if (part_->slot_extent > 0) place_slots();
}

void Lane::map_staging() {
  if (!staging_mapped_) [[unlikely]] {
    status_ = window_->map_staging();
    if (!status_.ok()) return;
    for (int peer = 0; peer < ranks_; ++peer) {
      bases_[Ref::of(Space::kWindow, 0, peer).base] = shared(peer).staging;
    }
    staging_mapped_ = true;
  }
  if (part_->traits.writes_window) status_ = window_->reserve_staging();
}

void Lane::place_scratch() {
  const size_t lines = whole_lines(part_->schedule.scratch_bytes) / kCacheLine;
  if (scratch_.size() < lines) scratch_.resize(lines);
  bases_[2] = reinterpret_cast<std::byte*>(scratch_.data());
}

void Lane::place_lines() {
  for (int peer = 0; peer < ranks_; ++peer) {
    bases_[Ref::of(Space::kLine, 0, peer).base] = line_of(peer, call_).payload;
  }
}

Advance Lane::advance() {
  if (!status_.ok()) return Advance::kFailed;
  if (!begun_ && !pass_gate()) return status_.ok() ? Advance::kBlocked : Advance::kFailed;
  bool through = window_ == nullptr || part_->traits.enters || all_entered(call_);
  const size_t first = next_;
  while (through && next_ < part_->schedule.steps.size()) {
    through = run(part_->schedule.steps[next_]);
    if (through) ++next_;
  }
  const bool needs_nobody = window_ == nullptr || part_->traits.runs_ahead;
  if (through && sends_done() && (needs_nobody || all_entered(call_)) && pulled_in_time()) {
    finish();
    return Advance::kDone;
  }
  if (next_ != first) note_move();
  if (!sends_.empty()) poll();
  // Its buffers are shown, so it is not through before all peers are.
  if (part_->schedule.shows_buffers) window_->hand_over();
  if (rivalry_ != nullptr && decides()) still_waits();
  return status_.ok() ? Advance::kBlocked : Advance::kFailed;
}

// Returns whether the step is complete; if not, it is run again later.
bool Lane::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kPull:
      if (!part_->views) return pull(step, address(step.src));
      [[fallthrough]];
    case StepKind::kCopy: copy(step, address(step.src)); return true;
    case StepKind::kShow: show(step); return true;
    case StepKind::kExpect: return expect(step);
    case StepKind::kReduce: reduce(step); return true;
    case StepKind::kPublish: publish(step.tick); return true;
    case StepKind::kAwait: return arrived(step);
    case StepKind::kSend: send(step); return true;
    case StepKind::kRecv: return receive(step);
    case StepKind::kFence: return sends_done();
  }
  return true;
}

void Lane::finish() {
  if (rivalry_ != nullptr) [[unlikely]]
    settle_rivalry();
  tick_base_ += part_->schedule.ticks;
  plan_ = nullptr;
  part_ = nullptr;
  arguments_ = nullptr;
  // Freed, not kept: it is as large as the caller's buffer.
  if (!scaled_.empty()) scaled_ = {};
}

void Lane::abandon() {
  if (part_ == nullptr) return;
  for (Sent& sent : sends_) {
    if (!sent.transfer.done) endpoint_->cancel(sent.transfer);
  }
  sends_.clear();
  for (Transfer& receive : receives_) {
    if (!receive.done) endpoint_->cancel(receive);
  }
  receives_.clear();
  rivalry_ = nullptr;
  finish();
}

// ---- the gate ----------------------------------------------------------------------------------

void Lane::close_gate() {
  chains_[call_ % kCallLines] = chained(chains_[(call_ - 1) % kCallLines], plan_->signature);
  gate_ = call_ - most_ahead();
}

// Called until it returns true, which begins the call.
bool Lane::pass_gate() {
  if (!reached(synced_, gate_) && !look_further()) {
    // Having to wait, wait for more, lest each of the next calls has to as well.
    gate_ = later(gate_, call_ - 1 - most_ahead() / 2);
    return false;
  }
  begun_ = true;
  // A schedule of messages alone does not enter the call; a peer that chose shared memory by
  // mistake must see our signature all the same.
  if (!part_->traits.enters) enter();
  return true;
}

// Whoever looks, looks for more calls than it must, lest each of the next has to.
[[gnu::noinline]] bool Lane::look_further() {
  const bool further = all_entered(later(gate_, call_ - 1 - most_ahead() / 2));
  if (further) take_lines_ahead();
  return further || (status_.ok() && all_entered(gate_));
}

// ---- entries and ticks -------------------------------------------------------------------------

void Lane::enter() {
  record_at(rank_, call_) = record_;
  CallLine& line = line_of(rank_, call_);
  if (part_->tells) [[unlikely]]
    tell(line);
  // After payload and record.
  line.entry.store({call_, chains_[call_ % kCallLines]}, std::memory_order_release);
  transport_.notify();
  if (!part_->traits.runs_ahead) take_next_lines();
}

void Lane::tell(CallLine& line) {
  std::memcpy(line.payload, bases_.data(), kShownBytes);
  if (rivalry_ != nullptr && decides()) say_way_of_next(line);
}

void Lane::publish(uint32_t tick) {
  if (tick == 1) return enter();
  shared(rank_).progress->tick.store(tick_base_ + tick, std::memory_order_release);
  transport_.notify();
}

// What is inlined of these, and what is not, saves small calls some 15 instructions.
[[gnu::noinline]] bool Lane::has_come_to(int peer, uint32_t tick) {
  uint32_t& seen = seen_[static_cast<size_t>(peer)];
  const uint32_t wanted = tick_base_ + tick;
  if (reached(seen, wanted)) return true;
  const bool watches = watches_ && waits_for_tick_of_ == peer;
  seen = watches ? watched_tick(peer) : shared(peer).progress->tick.load(std::memory_order_acquire);
  const bool there = reached(seen, wanted);
  waits_for_tick_of_ = there ? -1 : peer;
  return there;
}

[[gnu::always_inline]] inline bool Lane::arrived(int peer, uint32_t tick) {
  if (peer == rank_) return true;
  if (!entered(peer, call_)) return false;
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
  if (looks_ && (all || step.peer == next_look_)) [[unlikely]]
    look(call_);
  if (all && part_->viewing != nullptr && sees_all_buffers()) go_on_viewing();
  return true;
}

// All ranks come to the same answer, for they ask the same of the same addresses.
bool Lane::sees_all_buffers() {
  for (int rank = 0; rank < ranks_; ++rank) {
    for (const std::byte* buffer : buffers_of(rank)) {
      if (!window_->is_shared(rank, reinterpret_cast<uint64_t>(buffer))) return false;
    }
  }
  return true;
}

// The entry, which both schedules begin with, is done.
void Lane::go_on_viewing() {
  timed_from_s_ = 0;
  part_ = part_->viewing.get();
  next_ = 0;
  place_scratch();
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    for (std::byte*& buffer : buffers_of(peer)) {
      const auto theirs = reinterpret_cast<uint64_t>(buffer);
      buffer = const_cast<std::byte*>(window_->view(peer, theirs, 0));
    }
  }
}

bool Lane::entered(int peer, uint32_t call) {
  uint32_t& entered = entered_[static_cast<size_t>(peer)];
  if (reached(entered, call)) return true;
  const CallEntry entry = line_of(peer, call).entry.load(std::memory_order_acquire);
  if (!reached(entry.call, call)) {
    waited_in_ = call;
    return left_before(peer, call);
  }
  // Of a later call in the same line the chain tells nothing yet; a later look will.
  if (entry.call == call && entry.chain != chains_[call % kCallLines]) {
    return mismatched(peer, call);
  }
  entered = call;
  if (call == call_ && part_->has_root && waited_in_ != call) fetch_next_of(peer);
  if (call == call_ && part_->schedule.shows_buffers) find_buffers_of(peer);
  return true;
}

// Fails if the peer will never enter the call; else false, for not yet.
bool Lane::left_before(int peer, uint32_t call) {
  if (!has_left(peer)) return false;
  // What it did before is to be seen now.
  if (reached(line_of(peer, call).entry.load(std::memory_order_relaxed).call, call)) return false;
  return fail({Code::kPeerFailed, name_of(peer) + " has destroyed its communicator"});
}

std::span<std::byte*, 2> Lane::buffers_of(int rank) {
  const uint32_t first =
      rank == rank_ ? Ref::of(Space::kSend, 0).base : Ref::of(Space::kPeerSend, 0, rank).base;
  return std::span<std::byte*, 2>(&bases_[first], 2);
}

// Two addresses in the peer's process lie where a payload would.
void Lane::find_buffers_of(int peer) {
  const auto buffers = buffers_of(peer);
  std::memcpy(buffers.data(), line_of(peer, call_).payload, buffers.size_bytes());
}

bool Lane::all_entered(uint32_t call) {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !entered(peer, call)) return false;
  }
  synced_ = call;
  return true;
}

// A peer that has given the call up may have changed its buffers since. It stopped the communicator
// before that, so if that is not stopped now, what was pulled is what the peer gave.
bool Lane::pulled_in_time() {
  if (!part_->schedule.shows_buffers) return true;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport_.shared_state()->stop.load(std::memory_order_acquire) == 0) return true;
  return fail({Code::kAborted, "the communicator was stopped during the call"});
}

// ---- the end -----------------------------------------------------------------------------------

Status Lane::leave(std::span<const std::byte> last_words) {
  endpoint_->leave(last_words);
  if (window_ == nullptr) return {};
  shared(rank_).departure->left.store(1, std::memory_order_release);
  transport_.notify();
  // Of two ranks that leave at the same time, one at least sees all of the other's.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !last_calls_match(peer)) return status_;
  }
  return {};
}

// Those at which nobody has looked yet. Waits for nobody.
bool Lane::last_calls_match(int peer) {
  for (uint32_t call = call_; call != synced_; --call) {
    const CallEntry entry = line_of(peer, call).entry.load(std::memory_order_acquire);
    if (entry.call != call) continue;
    if (entry.chain != chains_[call % kCallLines]) return mismatched(peer, call);
    break;
  }
  const uint32_t last = last_call_of(peer);
  if (!has_left(peer) || reached(last, call_)) return true;
  return fail(tutti::left_before(short_name_of(rank_), record_, short_name_of(peer),
                                 last == 0 ? nullptr : &record_at(peer, last)));
}

bool Lane::has_left(int peer) const {
  return window_ != nullptr && shared(peer).departure->left.load(std::memory_order_acquire) != 0;
}

}  // namespace tutti
