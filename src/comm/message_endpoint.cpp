// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "comm/message_endpoint.hpp"

#include <mutex>
#include <utility>

namespace tutti {

Result<std::optional<MessageEnvelope>> MessageEndpoint::probe(const MessageArguments& receive) {
  std::optional<MessageEnvelope> found;
  bool moved = false;
  Status gone;
  {
    const std::lock_guard lock(lock_);
    try {
      moved = endpoint_->poll();
    } catch (...) {
      health_.fail_by_exception("its messages");
      return health_.cause_for_call();
    }
    const Tag mask = receive.tag == TUTTI_ANY_TAG ? kHiddenTag : kMatchedTag;
    const int peer = receive.peer == TUTTI_ANY_SOURCE ? kAnySource : receive.peer;
    found = endpoint_->first_unexpected(peer, tag_of(receive), mask);
    if (!found && peer != settings().context.rank) {
      endpoint_->await(peer);
      if (peer == kAnySource ? endpoint_->all_have_left() : endpoint_->has_left(peer)) {
        gone = {Code::kPeerFailed, "whoever could send it has destroyed its communicator"};
      }
    }
  }
  if (moved) wake_this_rank();
  if (!found && !gone.ok()) return gone;
  return found;
}

std::optional<MessageEnvelope> MessageEndpoint::unexpected_by(const MessageArguments& arguments) {
  const std::lock_guard lock(lock_);
  return first_unexpected_by(arguments);
}

// Very likely the one that was meant, with another tag. A send has none.
std::optional<MessageEnvelope> MessageEndpoint::first_unexpected_by(
    const MessageArguments& arguments) const {
  if (arguments.sends || is_hidden(arguments)) return std::nullopt;
  const int peer = arguments.peer == TUTTI_ANY_SOURCE ? kAnySource : arguments.peer;
  const std::optional<MessageEnvelope> unexpected = endpoint_->first_unexpected(peer);
  return unexpected && (unexpected->tag & kHiddenTag) == 0 ? unexpected : std::nullopt;
}

void MessageEndpoint::leave() {
  const std::lock_guard lock(lock_);
  endpoint_->leave({});
}

void MessageEndpoint::give_up(Transfer& transfer, Status reason) {
  endpoint_->cancel(transfer);
  transfer.done = true;
  transfer.status = std::move(reason);
}

Status MessageEndpoint::late(const MessageArguments& arguments) const {
  const std::optional<MessageEnvelope> unexpected = first_unexpected_by(arguments);
  return Status::format(Code::kTimeout, "nothing came of it in {} ms{}", timeout_ms(),
                        unexpected ? describe_unexpected(record_of(*unexpected)) : "");
}

void MessageEndpoint::wake_this_rank() const {
  ring_after_store(*transport_.bell(settings().context.rank), settings().caller_budget);
}

}  // namespace tutti
