// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks of a call on devices come together: what each shows, and whether all can go on so.
#include "views/direct_call.hpp"

#include <algorithm>

#include "core/log.hpp"
#include "transports/names.hpp"

namespace tutti {

using devices::MemoryKind;

DirectCall::DirectCall(Communicator& comm, Stage& stage, std::shared_ptr<const DirectPlan> plan,
                       const Call& call, const Stage::Buffers& buffers, Marked marked,
                       std::string what)
    : comm_(comm),
      stage_(stage),
      call_(call),
      buffers_(buffers),
      marked_(std::move(marked)),
      what_(std::move(what)),
      plan_(std::move(plan)) {}

Result<DirectCall::State> DirectCall::push(uint32_t microseconds) {
  comm_.executor().help();
  for (;;) {
    Result<bool> over = false;
    switch (phase_) {
      case Phase::kEnters: over = enter(); break;
      case Phase::kPrepares: over = prepare(microseconds); break;
      case Phase::kAgrees: over = agree(); break;
      case Phase::kRuns: over = run(microseconds); break;
    }
    if (!over.ok()) return over.status();
    if (!*over) return waits_;
    if (falls_back_) return State::kFallsBack;
    if (phase_ == Phase::kRuns) return State::kDone;
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  }
}

// ---- calls of the host
// ---------------------------------------------------------------------------

Result<std::unique_ptr<Operation>> DirectCall::begin(const Call& call) {
  auto operation = std::make_unique<Operation>(comm_.executor(), call);
  if (Status begun = operation->start(StartedFor::kCaller); !begun.ok()) {
    failed_on_host_ = true;
    return begun;
  }
  comm_.executor().help();
  return operation;
}

Result<bool> DirectCall::ended(const std::unique_ptr<Operation>& operation) {
  if (!operation->done()) {
    waits_ = State::kForPeers;
    return false;
  }
  if (operation->status().ok()) return true;
  failed_on_host_ = true;
  return operation->status();
}

// ---- what ranks show ---------------------------------------------------------------------------

Status DirectCall::show_buffers() {
  const BufferBlocks used = blocks_of(call_.collective, call_.root == comm_.rank());
  const auto show = [&](bool is_used, const void* buffer, const devices::Place& place,
                        ShownBuffer& shown) -> Status {
    if (!is_used) return {};
    if (place.kind != MemoryKind::kDevice || place.allocation == 0) {
      return Status(Code::kUnsupported, "a buffer is not memory of the device alone");
    }
    Result<ShownBuffer> made = stage_.peers().show(buffer, place);
    if (made.ok()) shown = *made;
    return made.status();
  };
  devices::Place of_send = buffers_.send;
  if (call_.op == ReduceOp::kPremulSum && reduces(call_.collective)) {
    const uint64_t blocks =
        used.send == Blocks::kPerRank ? static_cast<uint64_t>(comm_.ranks()) : 1;
    Result<Stage::Memory> taken =
        stage_.take(blocks * call_.count * type_size(call_.type), MemoryKind::kDevice);
    if (!taken.ok()) return taken.status();
    scaled_ = *std::move(taken);
    const Result<devices::Place> place = stage_.context().place_of(scaled_.data());
    if (!place.ok()) return place.status();
    of_send = *place;
  }
  const void* const send = scaled_.data() != nullptr ? scaled_.data() : call_.send;
  TUTTI_RETURN_IF_ERROR(show(used.send != Blocks::kNone, send, of_send, own_.send));
  return show(used.recv != Blocks::kNone, call_.recv, buffers_.recv, own_.recv);
}

Status DirectCall::make_ready() {
  if (plan_ == nullptr) return Status(Code::kUnsupported, "no schedule runs on devices alone");
  if (!buffers_.on_device) return Status(Code::kUnsupported, "its buffers are memory of the host");
  if (reduces(call_.collective)) {
    Result<devices::DeviceEngine*> engine = stage_.compute();
    if (!engine.ok()) return engine.status();
    TUTTI_RETURN_IF_ERROR((*engine)->prepare(call_.op, call_.type));
  }
  return show_buffers();
}

void DirectCall::fill_entry() {
  const devices::DeviceFacts& facts = stage_.context().facts();
  own_.record = record_of(call_, 0);
  own_.card = facts.card;
  own_.able = Able::kNever;
  if (facts.ipc && facts.card != devices::CardId{}) {
    const Status ready = make_ready();
    own_.able = ready.ok() ? Able::kYes : Able::kNotNow;
    if (!ready.ok()) log::debug("{} is staged through the host: {}", what_, ready.message());
  }
  own_.gone = stage_.peers().take_gone();
}

Status DirectCall::compare() const {
  for (int peer = 0; peer < comm_.ranks(); ++peer) {
    const CallRecord& theirs = all_[static_cast<size_t>(peer)].record;
    if (!differ(own_.record, theirs)) continue;
    Transport& transport = comm_.transport();
    return mismatch(name_of(comm_.rank(), transport.process(comm_.rank())), own_.record,
                    name_of(peer, transport.process(peer)), theirs);
  }
  return {};
}

Result<bool> DirectCall::enter() {
  if (operation_ == nullptr) {
    fill_entry();
    all_.resize(static_cast<size_t>(comm_.ranks()));
    Call tell;
    tell.collective = Collective::kAllgather;
    tell.count = sizeof own_;
    tell.send = &own_;
    tell.recv = all_.data();
    Result<std::unique_ptr<Operation>> begun = begin(tell);
    if (!begun.ok()) return begun.status();
    operation_ = *std::move(begun);
  }
  Result<bool> over = ended(operation_);
  if (!over.ok() || !*over) return over;
  operation_ = nullptr;
  TUTTI_RETURN_IF_ERROR(compare());
  for (int peer = 0; peer < comm_.ranks(); ++peer) {
    const Entry& entry = all_[static_cast<size_t>(peer)];
    TUTTI_RETURN_IF_ERROR(stage_.peers().close(peer, entry.gone));
    if (entry.able == Able::kNever) never_ = true;
    if (entry.able != Able::kYes) falls_back_ = true;
  }
  return true;
}

// ---- whether all reach it
// ------------------------------------------------------------------------

Status DirectCall::open_buffers() {
  constexpr size_t kBases = kPrivateSpaces;
  bases_.assign(kBases + kPeerSpaces * static_cast<size_t>(comm_.ranks()), nullptr);
  const auto open = [&](int peer, ShownBuffer Entry::*buffer, Space space) -> Status {
    const Entry& entry = all_[static_cast<size_t>(peer)];
    const PeerProcess& process = comm_.transport().process(peer);
    const std::string whose = fmt::format("the buffer of {}", name_of(peer, process));
    if (!stage_.context().reaches(entry.card)) {
      return Status::format(Code::kUnsupported, "{}: {} does not reach that card", whose,
                            stage_.context().name());
    }
    Result<std::byte*> opened = stage_.peers().open(peer, process, entry.*buffer);
    if (!opened.ok()) return opened.status().with_context(whose);
    base(space, peer) = *opened;
    return {};
  };
  for (const int peer : plan_->reads_send_of) {
    TUTTI_RETURN_IF_ERROR(open(peer, &Entry::send, Space::kPeerSend));
  }
  for (const int peer : plan_->reads_recv_of) {
    TUTTI_RETURN_IF_ERROR(open(peer, &Entry::recv, Space::kPeerRecv));
  }
  Result<Stage::Memory> taken = stage_.take(plan_->schedule.scratch_bytes, MemoryKind::kDevice);
  if (!taken.ok()) return taken.status();
  scratch_ = *std::move(taken);
  auto* const send = static_cast<std::byte*>(const_cast<void*>(call_.send));
  bases_[0] = scaled_.data() != nullptr ? scaled_.data() : send;
  bases_[1] = static_cast<std::byte*>(call_.recv);
  bases_[2] = scratch_.data();
  return {};
}

// The send buffer of a pre-multiplied sum.
Status DirectCall::scale() {
  const BufferBlocks used = blocks_of(call_.collective, call_.root == comm_.rank());
  const uint64_t blocks = used.send == Blocks::kPerRank ? static_cast<uint64_t>(comm_.ranks()) : 1;
  Result<devices::DeviceEngine*> engine = stage_.compute();
  if (!engine.ok()) return engine.status();
  TUTTI_RETURN_IF_ERROR((*engine)->scale(call_.type, scaled_.data(), call_.send,
                                         call_.binding->scalar.data(), blocks * call_.count));
  work_.engine = *engine;
  work_.given = true;
  return {};
}

// Peers may read from here on as soon as all agree: so what the application has enqueued is done.
Result<bool> DirectCall::prepare(uint32_t microseconds) {
  if (bases_.empty()) {
    Result<bool> marked = marked_(microseconds);
    waits_ = State::kForDevice;
    if (!marked.ok() || !*marked) return marked;
  }
  if (scaled_.data() != nullptr && bases_.empty()) TUTTI_RETURN_IF_ERROR(scale());
  if (bases_.empty()) {
    if (const Status opened = open_buffers(); !opened.ok()) {
      able_ = 0;
      log::warn("{}: calls on devices are staged through the host from now on: {}", what_,
                opened.message());
    }
  }
  Result<bool> rests = at_rest(microseconds);
  if (!rests.ok() || !*rests) return rests;
  Call tell;
  tell.collective = Collective::kAllreduce;
  tell.op = ReduceOp::kMin;
  tell.count = 1;
  tell.send = &able_;
  tell.recv = &all_able_;
  Result<std::unique_ptr<Operation>> begun = begin(tell);
  if (!begun.ok()) return begun.status();
  operation_ = *std::move(begun);
  return true;
}

Result<bool> DirectCall::agree() {
  Result<bool> over = ended(operation_);
  if (!over.ok() || !*over) return over;
  operation_ = nullptr;
  never_ = falls_back_ = all_able_ == 0;
  return true;
}

// ---- the end -----------------------------------------------------------------------------------

bool DirectCall::wind_up(bool late) {
  comm_.executor().help();
  if (operation_ != nullptr && !operation_->done()) return false;
  for (const auto& tick : ticks_) {
    if (!tick->done()) return false;
  }
  if (work_.engine == nullptr) return true;
  const Result<bool> rests = at_rest(0);
  if (rests.ok() && *rests) return true;
  if (rests.ok() && !late) return false;
  scaled_.leave();
  scratch_.leave();
  stage_.peers().leave();
  return true;
}

}  // namespace tutti
