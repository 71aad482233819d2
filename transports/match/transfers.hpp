// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of a transfer, the same over every transport.
#pragma once

#include <algorithm>
#include <utility>

#include "transports/transport.hpp"

namespace tutti::match {

inline void start(Transfer& transfer) {
  transfer.done = false;
  if (!transfer.status.ok()) transfer.status = {};
  transfer.bytes = 0;
  transfer.internal = nullptr;
}

inline void end(Transfer& transfer, Status status) {
  if (!status.ok()) transfer.status = std::move(status);
  transfer.done = true;
}

// Notes what a receive with room for `room` bytes got of a message; how it ends.
inline Status received(Transfer& transfer, uint64_t room, int source, Tag tag,
                       uint64_t message_bytes) {
  transfer.bytes = std::min(message_bytes, room);
  transfer.sent = message_bytes;
  transfer.source = source;
  transfer.tag = tag;
  if (message_bytes <= room) return {};
  return Status::format(Code::kTruncated,
                        "a message of {} bytes came from rank {}, the receive has {}",
                        message_bytes, source, room);
}

}  // namespace tutti::match
