// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/device_collective.hpp"

#include "views/peer_to_peer.hpp"
#include "views/pieces.hpp"
#include "views/view_queue.hpp"

namespace tutti {

std::string DeviceCollective::what() const {
  const std::string where = side_ == nullptr ? "the communicator" : side_->context().name();
  return fmt::format("{} of {} {} on {}", collective_name(call_.collective), call_.count,
                     type_name(call_.type), where);
}

Status DeviceCollective::start(StartedFor whom) {
  buffers_ = {};
  if (side_ != nullptr) {
    const BufferBlocks used = buffers_with_data(call_, comm().rank());
    const auto found = side_->find(collective_name(call_.collective),
                                   used.send == Blocks::kNone ? nullptr : call_.send,
                                   used.recv == Blocks::kNone ? nullptr : call_.recv);
    if (!found.ok()) {
      // A device that fails keeps the peers waiting; a wrong argument may be mended.
      if (found.status().code() != Code::kInvalidArgument) comm().health().fail(found.status());
      return found.status();
    }
    buffers_ = *found;
  }
  // The buffers of other ranks may lie elsewhere: pieces are the same for all.
  pieces_ = side_ != nullptr ? number_of_pieces(call_, comm().ranks()) : 1;
  is_peer_to_peer_ = false;
  turns_ = {};
  return begin(whom);
}

Task DeviceCollective::carry_out() {
  // Ranks may find out in one call that later ones are not to try this, so calls take turns.
  co_await its_turn();
  bool agreed = false;
  if (side_ != nullptr && queue_.may_be_peer_to_peer(call_)) {
    is_peer_to_peer_ = true;
    auto mark = marker_passed(&queue_);
    PeerToPeerCall call({comm(), queue_, *side_, activity_, call_, mark}, buffers_, what());
    Task run = call.run();
    co_await run;
    if (call.able() == PeerToPeerCall::Able::kYes) co_return;
    if (call.able() == PeerToPeerCall::Able::kNever) queue_.never_peer_to_peer();
    is_peer_to_peer_ = false;
    agreed = !pieces_are_own();
  }
  Task staged = stage(agreed);
  co_await staged;
}

}  // namespace tutti
