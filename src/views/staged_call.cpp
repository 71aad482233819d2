// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/staged_call.hpp"

#include <algorithm>
#include <cstring>

#include "transports/names.hpp"
#include "views/agreement.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

// Pieces under way: one each on its way in, among the ranks, and out, and one in reserve.
constexpr size_t kStagingSlots = 4;

// Memory of the host.
void copy_all(const std::vector<Segment>& segments, const void* buffer, std::byte* stage,
              bool to_stage) {
  auto* const user = static_cast<std::byte*>(const_cast<void*>(buffer));
  for (const Segment& segment : segments) {
    std::byte* const here = user + segment.in_buffer;
    std::byte* const there = stage + segment.in_stage;
    std::memcpy(to_stage ? there : here, to_stage ? here : there, segment.bytes);
  }
}

Status copy_all(devices::DeviceEngine& engine, const std::vector<Segment>& segments,
                const void* buffer, std::byte* stage, bool to_stage) {
  auto* const user = static_cast<std::byte*>(const_cast<void*>(buffer));
  for (const Segment& segment : segments) {
    std::byte* const here = user + segment.in_buffer;
    std::byte* const there = stage + segment.in_stage;
    TUTTI_RETURN_IF_ERROR(to_stage ? engine.copy(there, here, segment.bytes)
                                   : engine.copy(here, there, segment.bytes));
  }
  return {};
}

}  // namespace

std::string StagedCall::what() const {
  const std::string where = stage_ == nullptr ? "the communicator" : stage_->context().name();
  return fmt::format("{} of {} {} on {}", collective_name(call_.collective), call_.count,
                     type_name(call_.type), where);
}

Status StagedCall::start(StartedFor whom) {
  on_device_ = false;
  direct_ = nullptr;
  if (stage_ != nullptr) {
    const BufferBlocks used = buffers_with_data(call_, rank());
    const auto found = stage_->find(collective_name(call_.collective),
                                    used.send == Blocks::kNone ? nullptr : call_.send,
                                    used.recv == Blocks::kNone ? nullptr : call_.recv);
    if (!found.ok()) {
      // A device that fails keeps the peers waiting; a wrong argument may be mended.
      if (found.status().code() != Code::kInvalidArgument) comm().health().fail(found.status());
      return found.status();
    }
    on_device_ = found->on_device;
    buffers_ = *found;
  }
  // The buffers of other ranks may lie elsewhere: pieces are the same for all.
  pieces_ = stage_ != nullptr ? number_of_pieces(call_, comm().ranks()) : 1;
  copies_ = on_device_ || pieces_ > 1 || pieces_are_own();
  next_ = 0;
  begun_ = false;
  failed_on_host_ = false;
  agreed_ = pieces_ == 1 && !pieces_are_own();
  agreement_ = nullptr;
  const Result<bool> has_callback = begin();
  if (!has_callback.ok()) return has_callback.status();
  return queue_.submit(*this, ViewQueue::List::kCalls, *has_callback, whom);
}

// ---- a piece -----------------------------------------------------------------------------------

Status StagedCall::copy_in(Slot& slot) {
  devices::DeviceEngine& in = stage_->in();
  slot.work.begin(in);
  TUTTI_RETURN_IF_ERROR(after_mark(in));
  if (on_device_) {
    TUTTI_RETURN_IF_ERROR(copy_all(in, slot.piece.send, call_.send, slot.memory.send.data(), true));
    TUTTI_RETURN_IF_ERROR(
        copy_all(in, slot.piece.recv_in, call_.recv, slot.memory.recv.data(), true));
  }
  return slot.work.submit();
}

Status StagedCall::begin_piece() {
  Slot& slot = slots_.emplace_back();
  slot.piece.call = call_;
  if (copies_) {
    slot.piece = piece_of(call_, rank(), comm().ranks(), next_);
    auto memory = stage_->take_for_piece(slot.piece.send_bytes, slot.piece.recv_bytes);
    if (!memory.ok()) return memory.status();
    slot.memory = *std::move(memory);
    slot.piece.call.send = slot.memory.send.data();
    slot.piece.call.recv = slot.memory.recv.data();
  }
  ++next_;
  return stage_ == nullptr ? Status() : copy_in(slot);
}

// To where it is on its way.
Result<bool> StagedCall::copied(Slot& slot) {
  Result<bool> done = slot.work.done();
  if (!done.ok()) return done.status().with_context(what());
  return done;
}

Status StagedCall::run_on_host(Slot& slot) {
  if (copies_ && !on_device_) {
    copy_all(slot.piece.send, call_.send, slot.memory.send.data(), true);
    copy_all(slot.piece.recv_in, call_.recv, slot.memory.recv.data(), true);
  }
  auto operation = std::make_unique<Operation>(comm().executor(), slot.piece.call);
  if (Status begun = operation->start(StartedFor::kCaller); !begun.ok()) {
    failed_on_host_ = true;
    return begun;
  }
  slot.operation = std::move(operation);
  slot.state = State::kRuns;
  return {};
}

Status StagedCall::copy_out(Slot& slot) {
  slot.state = State::kCopiedOut;
  if (!copies_ || slot.piece.recv_out.empty()) return {};
  if (!on_device_) {
    copy_all(slot.piece.recv_out, call_.recv, slot.memory.recv.data(), false);
    return {};
  }
  devices::DeviceEngine& out = stage_->out();
  slot.work.begin(out);
  TUTTI_RETURN_IF_ERROR(
      copy_all(out, slot.piece.recv_out, call_.recv, slot.memory.recv.data(), false));
  return slot.work.submit();
}

// Whether it has been handed to the executor, or is further: the next one may come.
Result<bool> StagedCall::advance(Slot& slot, bool in_turn) {
  if (slot.state == State::kCopiedIn) {
    Result<bool> done = copied(slot);
    if (!done.ok()) return done;
    if (!*done || !in_turn) return false;
    if (Status begun = run_on_host(slot); !begun.ok()) return begun;
    comm().executor().help();
  }
  if (slot.state == State::kRuns && slot.operation->done()) {
    if (!slot.operation->status().ok()) {
      failed_on_host_ = true;
      if (pieces_ == 1) return slot.operation->status();
      return slot.operation->status().with_context(what());
    }
    if (Status begun = copy_out(slot); !begun.ok()) return begun;
  }
  return true;
}

// ---- the whole ---------------------------------------------------------------------------------

Status StagedCall::compare() const {
  for (int peer = 0; peer < comm().ranks(); ++peer) {
    const CallRecord& theirs = all_[static_cast<size_t>(peer)].record;
    if (!differ(own_.record, theirs)) continue;
    Transport& transport = comm().transport();
    return mismatch(name_of(rank(), transport.process(rank())), own_.record,
                    name_of(peer, transport.process(peer)), theirs);
  }
  return {};
}

// A call of several pieces could otherwise match several calls of a peer.
Result<bool> StagedCall::agreed() {
  if (agreed_) return true;
  if (agreement_ == nullptr) {
    own_ = {record_of(call_, 0, marks_of(call_)), pieces_};
    all_.resize(static_cast<size_t>(comm().ranks()));
    auto agreement = std::make_unique<Operation>(comm().executor(),
                                                 agreement_call(call_.collective, own_, all_));
    if (Status begun = agreement->start(StartedFor::kCaller); !begun.ok()) return begun;
    agreement_ = std::move(agreement);
  }
  comm().executor().help();
  if (!agreement_->done()) return false;
  if (!agreement_->status().ok()) return agreement_->status().with_context(what());
  if (Status same = compare(); !same.ok()) return same;
  for (const Agreement& one : all_) pieces_ = std::max(pieces_, one.pieces);
  agreed_ = true;
  return true;
}

// What the ranks find out for one call, such as that they are not to try this again, holds for the
// calls that come after it: so it begins when its turn has come.
void StagedCall::begin_direct() {
  if (begun_ || stage_ == nullptr) return;
  begun_ = true;
  if (!queue_.may_be_direct(call_)) return;
  direct_ = std::make_unique<DirectCall>(
      comm(), *stage_, queue_.direct_plan(call_), call_, buffers_,
      [this](uint32_t most) { return marked(most); }, what());
}

Result<Staged::Waits> StagedCall::push_direct() {
  const Result<DirectCall::State> state = direct_->push(queue_.patience());
  if (!state.ok()) return state.status().with_context(what());
  switch (*state) {
    case DirectCall::State::kForDevice: return Waits::kForDevice;
    case DirectCall::State::kForPeers: return Waits::kForPeers;
    case DirectCall::State::kDone: direct_ = nullptr; return Waits::kForNothing;
    case DirectCall::State::kFallsBack: break;
  }
  if (direct_->never_again()) queue_.never_direct();
  direct_ = nullptr;
  agreed_ = !pieces_are_own();
  return push_pieces();
}

Result<Staged::Waits> StagedCall::push() {
  begin_direct();
  return direct_ != nullptr ? push_direct() : push_pieces();
}

Result<Staged::Waits> StagedCall::push_pieces() {
  for (;;) {
    while (next_ < pieces_ && slots_.size() < kStagingSlots) {
      if (Status begun = begin_piece(); !begun.ok()) return begun.with_context(what());
    }
    Result<bool> in_turn = agreed();
    if (!in_turn.ok()) return in_turn.status();
    comm().executor().help();
    for (Slot& slot : slots_) {
      in_turn = advance(slot, *in_turn);
      if (!in_turn.ok()) return in_turn.status();
    }
    if (slots_.front().state != State::kCopiedOut) break;
    const Result<bool> out = copied(slots_.front());
    if (!out.ok()) return out.status();
    if (!*out) return Waits::kForDevice;
    slots_.pop_front();
    if (slots_.empty() && next_ == pieces_) return Waits::kForNothing;
  }
  const bool peers = slots_.front().state == State::kRuns || !agreed_;
  return peers ? Waits::kForPeers : Waits::kForDevice;
}

bool StagedCall::wind_up(bool late) {
  if (direct_ != nullptr) {
    if (!direct_->wind_up(late)) return false;
    direct_ = nullptr;
  }
  comm().executor().help();
  if (agreement_ != nullptr && !agreement_->done()) return false;
  for (Slot& slot : slots_) {
    if (slot.state == State::kRuns) {
      if (!slot.operation->done()) return false;
      continue;
    }
    if (!slot.work.wind_up(late, slot.memory)) return false;
  }
  slots_.clear();
  return true;
}

}  // namespace tutti
