// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether all ranks of a call on devices reach what they have to read: each opens the memory of its
// peers, and all decide together.
#include "core/log.hpp"
#include "transports/names.hpp"
#include "views/direct_call.hpp"

namespace tutti {

using devices::MemoryKind;

Status DirectCall::open_buffers() {
  constexpr size_t kBases = kPrivateSpaces;
  bases_.assign(kBases + kPeerSpaces * static_cast<size_t>(comm_.ranks()), nullptr);
  const auto open = [&](int peer, ShownBuffer Entry::*buffer, Space space) -> Status {
    const Entry& entry = all_[static_cast<size_t>(peer)];
    const PeerProcess& process = comm_.transport().process(peer);
    const std::string whose = fmt::format("the buffer of {}", name_of(peer, process));
    if (!stage_.context().reaches(entry.device)) {
      return Status::format(Code::kUnsupported, "{}: {} does not reach that device", whose,
                            stage_.context().name());
    }
    Result<std::byte*> opened = stage_.peers().open(peer, process, entry.*buffer, wanted_);
    if (!opened.ok()) return opened.status().with_context(whose);
    base(space, peer) = *opened + (space == Space::kPeerSend ? blocks_.offset_in(peer) : 0);
    return {};
  };
  Status first;  // all are tried, so that it is known which descriptors are wanted
  const auto note = [&first](Status opened) {
    if (first.ok()) first = std::move(opened);
  };
  for (const int peer : plan_->reads_send_of) note(open(peer, &Entry::send, Space::kPeerSend));
  for (const int peer : plan_->reads_recv_of) note(open(peer, &Entry::recv, Space::kPeerRecv));
  if (!first.ok()) return first;
  Result<Stage::Memory> taken = stage_.take(plan_->schedule.scratch_bytes, MemoryKind::kDevice);
  if (!taken.ok()) return taken.status();
  memory_.scratch = *std::move(taken);
  TUTTI_RETURN_IF_ERROR(take_between());
  auto* const send = static_cast<std::byte*>(const_cast<void*>(call_.send));
  bases_[0] = memory_.scaled.data() != nullptr ? memory_.scaled.data() : send;
  bases_[1] = static_cast<std::byte*>(call_.recv);
  bases_[2] = memory_.scratch.data();
  return {};
}

// The send buffer of a pre-multiplied sum.
Status DirectCall::scale() {
  Result<devices::DeviceEngine*> engine = stage_.compute();
  if (!engine.ok()) return engine.status();
  work_.begin(**engine);
  return (*engine)->scale(call_.type, memory_.scaled.data(), call_.send,
                          call_.binding->scalar.data(), elements_sent(call_, comm_.ranks()));
}

// Peers may read from here on as soon as all agree: so what the application has enqueued is done.
Result<bool> DirectCall::prepare(uint32_t microseconds) {
  const bool told = !operations_.empty();
  Result<bool> over = all_ended();  // telling of blocks, if there are any
  if (!over.ok() || !*over) return over;
  if (told) TUTTI_RETURN_IF_ERROR(blocks_.check(call_, comm_));
  if (bases_.empty()) {
    Result<bool> marked = marked_(microseconds);
    waits_ = State::kForDevice;
    if (!marked.ok() || !*marked) return marked;
  }
  if (memory_.scaled.data() != nullptr && bases_.empty()) TUTTI_RETURN_IF_ERROR(scale());
  if (bases_.empty()) reach_.own = try_to_open();
  Result<bool> rests = at_rest(microseconds);
  if (!rests.ok() || !*rests) return rests;
  TUTTI_RETURN_IF_ERROR(tell_reach());
  return true;
}

DirectCall::Reach DirectCall::try_to_open() {
  const Status opened = open_buffers();
  if (opened.ok()) return kReaches;
  if (!wanted_.empty() && reach_.own == kReaches) return kOnceHandedOver;
  log::warn("{}: calls on devices are staged through the host from now on: {}", what_,
            opened.message());
  return kNot;
}

Status DirectCall::tell_reach() {
  Call tell;
  tell.collective = Collective::kAllreduce;
  tell.op = ReduceOp::kMin;
  tell.purpose = agreement_on(call_.collective);
  tell.count = 1;
  tell.send = &reach_.own;
  tell.recv = &reach_.all;
  return begin(tell);
}

Result<bool> DirectCall::agree() {
  Result<bool> over = all_ended();
  if (!over.ok() || !*over) return over;
  never_ = falls_back_ = reach_.all == kNot;
  if (reach_.all != kOnceHandedOver) wanted_.clear();
  return true;
}

// Somebody may not take descriptors of handles itself: all answer who asks, until all have told
// whether they reach what they have to read now.
Result<bool> DirectCall::hand_over() {
  if (operations_.empty() && reach_.all != kOnceHandedOver) return true;
  stage_.peers().serve();
  if (operations_.empty()) {
    if (comm_.health().stopped()) return comm_.health().cause();
    const auto address_of = [this](int rank) -> const FdAddress& {
      return all_[static_cast<size_t>(rank)].address;
    };
    const Result<bool> handed = wanted_.ask(address_of);
    waits_ = State::kForPeers;
    if (handed.ok() && !*handed) return false;
    if (!handed.ok()) log::debug("{}: {}", what_, handed.status().message());
    if (reach_.own == kOnceHandedOver) reach_.own = try_to_open();
    TUTTI_RETURN_IF_ERROR(tell_reach());
  }
  Result<bool> over = all_ended();
  if (!over.ok() || !*over) return over;
  never_ = falls_back_ = reach_.all != kReaches;
  wanted_.clear();
  return true;
}

}  // namespace tutti
