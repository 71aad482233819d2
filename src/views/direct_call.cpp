// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How ranks of a call on devices come together: what each shows, and whether all can go on so.
#include "views/direct_call.hpp"

#include <algorithm>

#include "core/log.hpp"
#include "transports/names.hpp"
#include "views/agreement.hpp"

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
      case Phase::kHandsOver: over = hand_over(); break;
      case Phase::kRuns: over = run(microseconds); break;
    }
    if (!over.ok()) return over.status();
    if (!*over) return waits_;
    if (falls_back_) return State::kFallsBack;
    if (phase_ == Phase::kRuns) return State::kDone;
    phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  }
}

// ---- calls of the host --------------------------------------------------------------------------

Result<std::unique_ptr<Operation>> DirectCall::start(const Call& call) {
  auto operation = std::make_unique<Operation>(comm_.executor(), call);
  if (Status begun = operation->start(StartedFor::kCaller); !begun.ok()) {
    failed_on_host_ = true;
    return begun;
  }
  comm_.executor().help();
  return operation;
}

Status DirectCall::begin(const Call& call) {
  Result<std::unique_ptr<Operation>> started = start(call);
  if (started.ok()) operations_.push_back(*std::move(started));
  return started.status();
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

// Whether what operations_ has come to its end is so; they then go.
Result<bool> DirectCall::all_ended() {
  for (const auto& operation : operations_) {
    Result<bool> over = ended(operation);
    if (!over.ok() || !*over) return over;
  }
  operations_.clear();
  return true;
}

// ---- what ranks show ---------------------------------------------------------------------------

Status DirectCall::show_buffers() {
  const BufferBlocks used = buffers_with_data(call_, comm_.rank());
  const auto show = [&](bool is_used, const void* buffer, const devices::Place& place,
                        ShownBuffer& shown) -> Status {
    if (!is_used) return {};
    if (!stage_.is_of_device(place)) {
      return Status(Code::kUnsupported, "a buffer is not memory of the device alone");
    }
    Result<ShownBuffer> made = stage_.peers().show(buffer, place);
    if (made.ok()) shown = *made;
    return made.status();
  };
  devices::Place of_send = buffers_.send;
  if (call_.op == ReduceOp::kPremulSum && reduces(call_.collective)) {
    Result<Stage::Memory> taken = stage_.take(
        elements_sent(call_, comm_.ranks()) * type_size(call_.type), MemoryKind::kDevice);
    if (!taken.ok()) return taken.status();
    memory_.scaled = *std::move(taken);
    const Result<devices::Place> place = stage_.context().place_of(memory_.scaled.data());
    if (!place.ok()) return place.status();
    of_send = *place;
  }
  const void* const send = memory_.scaled.data() != nullptr ? memory_.scaled.data() : call_.send;
  TUTTI_RETURN_IF_ERROR(show(used.send != Blocks::kNone, send, of_send, own_.send));
  return show(used.recv != Blocks::kNone, call_.recv, buffers_.recv, own_.recv);
}

Status DirectCall::make_ready() {
  if (plan_ == nullptr) return Status(Code::kUnsupported, "no schedule runs on devices alone");
  const BufferBlocks used = buffers_with_data(call_, comm_.rank());
  const bool has_none = used.send == Blocks::kNone && used.recv == Blocks::kNone;
  if (!buffers_.on_device && !has_none)
    return Status(Code::kUnsupported, "its buffers are memory of the host");
  if (reduces(call_.collective)) {
    Result<devices::DeviceEngine*> engine = stage_.compute();
    if (!engine.ok()) return engine.status();
    TUTTI_RETURN_IF_ERROR((*engine)->prepare(call_.op, call_.type));
  }
  return show_buffers();
}

void DirectCall::fill_entry() {
  const devices::DeviceFacts& facts = stage_.context().facts();
  own_.record = record_of(call_, 0, marks_of(call_));
  own_.signature = signature_of(call_);
  own_.device = facts.uuid;
  if (facts.ipc) own_.address = stage_.peers().address();
  own_.able = Able::kNever;
  if (facts.ipc && facts.uuid != devices::DeviceUuid{}) {
    const Status ready = make_ready();
    own_.able = ready.ok() ? Able::kYes : Able::kNotNow;
    if (!ready.ok()) log::debug("{} is staged through the host: {}", what_, ready.message());
  }
  own_.gone = stage_.peers().take_gone();
}

Status DirectCall::compare() const {
  for (int peer = 0; peer < comm_.ranks(); ++peer) {
    const CallRecord& theirs = all_[static_cast<size_t>(peer)].record;
    const bool signs_alike = all_[static_cast<size_t>(peer)].signature == own_.signature;
    if (!differ(own_.record, theirs) && signs_alike) continue;
    Transport& transport = comm_.transport();
    return mismatch(name_of(comm_.rank(), transport.process(comm_.rank())), own_.record,
                    name_of(peer, transport.process(peer)), theirs);
  }
  return {};
}

Status DirectCall::tell_all() {
  fill_entry();
  all_.resize(static_cast<size_t>(comm_.ranks()));
  return begin(agreement_call(call_.collective, own_, all_));
}

// A call that differs may have no blocks to tell: so that is found out first.
Result<bool> DirectCall::enter() {
  if (all_.empty()) TUTTI_RETURN_IF_ERROR(tell_all());
  Result<bool> over = all_ended();
  if (!over.ok() || !*over) return over;
  TUTTI_RETURN_IF_ERROR(compare());
  for (int peer = 0; peer < comm_.ranks(); ++peer) {
    const Entry& entry = all_[static_cast<size_t>(peer)];
    TUTTI_RETURN_IF_ERROR(stage_.peers().close(peer, entry.gone));
    if (entry.able == Able::kNever) never_ = true;
    if (entry.able != Able::kYes) falls_back_ = true;
  }
  const bool tells_blocks = !falls_back_ && PeerBlocks::has_any(call_);
  if (tells_blocks) {
    TUTTI_RETURN_IF_ERROR(begin(blocks_.exchange(call_, comm_.rank(), comm_.ranks())));
  }
  return true;
}

// ---- the end -----------------------------------------------------------------------------------

bool DirectCall::wind_up(bool late) {
  comm_.executor().help();
  if (shares_ != nullptr && !shares_->wind_up(late)) return false;
  const auto done = [](const auto& operation) { return operation->done(); };
  if (!std::ranges::all_of(operations_, done) || !std::ranges::all_of(ticks_, done)) return false;
  const DeviceWork::Rest rest = work_.wind_up(late);
  if (rest != DeviceWork::Rest::kLeft) return rest == DeviceWork::Rest::kOver;
  memory_.scaled.leave();
  memory_.scratch.leave();
  memory_.between.leave();
  stage_.peers().leave();
  return true;
}

}  // namespace tutti
