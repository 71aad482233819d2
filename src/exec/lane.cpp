// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

Lane::Lane(int rank, int ranks, Transport& transport, std::unique_ptr<Window> window,
           std::unique_ptr<Endpoint> endpoint)
    : rank_(rank),
      ranks_(ranks),
      transport_(transport),
      window_(std::move(window)),
      endpoint_(std::move(endpoint)),
      entered_(static_cast<size_t>(ranks), 0),
      seen_(static_cast<size_t>(ranks), 0) {
  for (size_t parity = 0; parity < 2; ++parity) {
    std::vector<std::byte*>& bases = bases_[parity];
    bases.assign(kPrivateSpaces, nullptr);
    if (window_ == nullptr) continue;
    for (const Window::Rank& peer : window_->ranks()) {
      bases.push_back(peer.calls[parity]->payload);
      bases.push_back(peer.slots[parity]);
      bases.push_back(peer.staging);
      bases.insert(bases.end(), 2, nullptr);  // of its buffers, which each call shows anew
    }
  }
}

void Lane::start(const Plan& plan, size_t index, const Call& call, uint64_t sequence) {
  plan_ = &plan;
  part_ = &plan.parts[index];
  arguments_ = &call;
  ++call_;
  next_ = 0;
  next_peer_ = 0;
  record_ = record_of(call, sequence);
  if (sources_.size() < part_->most_sources) sources_.resize(part_->most_sources);
  bind(call);
  if (part_->stages && status_.ok()) status_ = window_->reserve_staging();
  // A schedule of messages alone does not enter the call; a peer that chose shared memory by
  // mistake must see our signature all the same.
  if (window_ != nullptr && !part_->enters) enter();
}

void Lane::bind(const Call& call) {
  auto* send = static_cast<std::byte*>(const_cast<void*>(call.send));
  auto* recv = static_cast<std::byte*>(call.recv);
  const size_t scratch_lines = (part_->schedule.scratch_bytes + kCacheLine - 1) / kCacheLine;
  if (scratch_.size() < scratch_lines) scratch_.resize(scratch_lines);
  if (call.op == ReduceOp::kPremulSum && reduces(call.collective)) {
    const uint64_t count = elements_sent(call, ranks_);
    scaled_.resize(count * plan_->element_bytes);
    scale_kernel(call.type)(scaled_.data(), send, call.binding->scalar.data(), count);
    send = scaled_.data();
  }
  std::vector<std::byte*>& bases = bases_[call_ & 1];
  bases[0] = send == nullptr ? nullptr : send + part_->offset;
  bases[1] = recv == nullptr ? nullptr : recv + part_->offset;
  bases[2] = reinterpret_cast<std::byte*>(scratch_.data());
  if (part_->slot_extent > 0) place_slots();
}

Advance Lane::advance() {
  if (!status_.ok()) return Advance::kFailed;
  const std::vector<Step>& steps = part_->schedule.steps;
  bool through = window_ == nullptr || part_->enters || all_entered();
  while (through && next_ < steps.size()) {
    through = run(steps[next_]);
    if (through) ++next_;
  }
  if (through && sends_done() && (window_ == nullptr || all_entered()) && pulled_in_time()) {
    finish();
    return Advance::kDone;
  }
  if (!sends_.empty()) endpoint_->poll();
  return status_.ok() ? Advance::kBlocked : Advance::kFailed;
}

// Returns whether the step is complete; if not, it is run again later.
bool Lane::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kCopy:
      copy_bytes(address(step.dst), address(step.src), step.bytes, step.streams);
      return true;
    case StepKind::kPull: return pull(step);
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
  tick_base_ += part_->schedule.ticks;
  plan_ = nullptr;
  part_ = nullptr;
  arguments_ = nullptr;
  // Freed, not kept: it is as large as the caller's buffer.
  if (!scaled_.empty()) scaled_ = {};
}

void Lane::abandon() {
  if (part_ == nullptr) return;
  for (Transfer& transfer : sends_) {
    if (!transfer.done) endpoint_->cancel(transfer);
  }
  sends_.clear();
  if (receiving_ && !receive_.done) endpoint_->cancel(receive_);
  receiving_ = false;
  finish();
}

// ---- time between ranks ------------------------------------------------------------------------

void Lane::enter() {
  const Window::Rank& mine = shared(rank_);
  *mine.records[call_ & 1] = record_;
  CallLine& line = *mine.calls[call_ & 1];
  if (part_->schedule.shows_buffers)
    std::memcpy(line.payload, bases_[call_ & 1].data(), 2 * sizeof(std::byte*));
  line.signature.store(plan_->signature, std::memory_order_relaxed);
  line.call.store(call_, std::memory_order_release);  // after payload, record and signature
  transport_.notify();
  take_next_slot();
}

void Lane::publish(uint32_t tick) {
  if (tick == 1) return enter();
  shared(rank_).progress->tick.store(tick_base_ + tick, std::memory_order_release);
  transport_.notify();
}

bool Lane::arrived(const Step& step) {
  if (step.peer != kAllPeers) return arrived(step.peer, step.tick);
  for (; next_peer_ < ranks_; ++next_peer_) {
    if (!arrived(next_peer_, step.tick)) return false;
  }
  next_peer_ = 0;
  return true;
}

bool Lane::arrived(int peer, uint32_t tick) {
  if (peer == rank_) return true;
  if (!entered(peer)) return false;
  if (tick == 1) return true;
  uint32_t& seen = seen_[static_cast<size_t>(peer)];
  const uint32_t wanted = tick_base_ + tick;
  if (static_cast<int32_t>(seen - wanted) >= 0) return true;
  seen = shared(peer).progress->tick.load(std::memory_order_acquire);
  return static_cast<int32_t>(seen - wanted) >= 0;
}

bool Lane::entered(int peer) {
  uint32_t& entered = entered_[static_cast<size_t>(peer)];
  if (entered == call_) return true;
  const CallLine& line = *shared(peer).calls[call_ & 1];
  if (line.call.load(std::memory_order_acquire) != call_) return false;
  const uint32_t signature = line.signature.load(std::memory_order_relaxed);
  if (signature != plan_->signature) return mismatched(peer, signature);
  entered = call_;
  if (part_->schedule.shows_buffers) find_buffers_of(peer);
  return true;
}

// Two addresses in the peer's process, send and recv, lie where a payload would.
void Lane::find_buffers_of(int peer) {
  std::byte** bases = &bases_[call_ & 1][Ref::of(Space::kPeerSend, 0, peer).base];
  std::memcpy(bases, shared(peer).calls[call_ & 1]->payload, 2 * sizeof *bases);
}

bool Lane::all_entered() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && !entered(peer)) return false;
  }
  return true;
}

bool Lane::mismatched(int peer, uint32_t signature) {
  if (signature == kLeft) {
    return fail({Code::kPeerFailed, name_of(peer) + " has destroyed its communicator"});
  }
  return fail(Status::format(Code::kMismatch, "ranks made different calls: rank {} {}, rank {} {}",
                             rank_, describe(record_), peer,
                             describe(*shared(peer).records[call_ & 1])));
}

void Lane::leave() {
  if (window_ == nullptr) return;
  ++call_;
  CallLine& line = *shared(rank_).calls[call_ & 1];
  line.signature.store(kLeft, std::memory_order_relaxed);
  line.call.store(call_, std::memory_order_release);
  transport_.notify();
}

bool Lane::has_left(int peer) const {
  if (window_ == nullptr) return false;
  const Window::Rank& theirs = shared(peer);
  return std::any_of(std::begin(theirs.calls), std::end(theirs.calls), [](const CallLine* line) {
    return line->call.load(std::memory_order_acquire) != 0 &&
           line->signature.load(std::memory_order_relaxed) == kLeft;
  });
}

// A peer that has given the call up may have changed its buffers since. It stopped the communicator
// before that, so if that is not stopped now, what was pulled is what the peer gave.
bool Lane::pulled_in_time() {
  if (!part_->schedule.shows_buffers) return true;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport_.shared_state()->stop.load(std::memory_order_acquire) == 0) return true;
  return fail({Code::kAborted, "the communicator was stopped during the call"});
}

// ---- errors ------------------------------------------------------------------------------------

bool Lane::fail(Status status) {
  status_ = std::move(status);
  return false;
}

std::string Lane::name_of(int peer) const {
  const PeerProcess& process = transport_.process(peer);
  return fmt::format("rank {} (pid {} on {})", peer, process.pid, process.host);
}

std::string Lane::blocked_on() const {
  if (part_ == nullptr) return "";
  std::string text;
  const auto add = [&text](const std::string& sentence) {
    text += (text.empty() ? "" : "; ") + sentence;
  };
  for (int peer = 0; window_ != nullptr && peer < ranks_; ++peer) {
    const Window::Rank& theirs = shared(peer);
    if (peer == rank_ || theirs.calls[call_ & 1]->call.load(std::memory_order_acquire) == call_) {
      continue;
    }
    const uint32_t last = theirs.calls[(call_ - 1) & 1]->call.load(std::memory_order_acquire);
    add(name_of(peer) + " has not entered the call; its last was " +
        (last == 0 ? "none" : describe(*theirs.records[(call_ - 1) & 1])));
  }
  if (!text.empty() || next_ >= part_->schedule.steps.size()) return text;
  const Step& step = part_->schedule.steps[next_];
  const int peer = step.peer == kAllPeers ? next_peer_ : step.peer;
  if (peer >= 0 && peer < ranks_ && peer != rank_) {
    add(name_of(peer) + " entered the call but is late for: " + to_string(step, part_->schedule));
  }
  return text;
}

}  // namespace tutti
