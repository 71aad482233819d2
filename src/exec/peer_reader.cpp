// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The fallback for a buffer that cannot be read.
#include "exec/peer_reader.hpp"

#include <fmt/format.h>

#include "core/log.hpp"

namespace tutti {

Result<bool> PeerReader::refused(const Status& why, int peer, std::byte* dst, uint64_t address,
                                 uint64_t bytes) {
  if (why.code() == Code::kPeerFailed) {
    return Status(Code::kPeerFailed, names_.of(peer) + " has died");
  }
  // If the communicator was stopped, the read may have failed because the peer gave its buffers up.
  const bool stopped =
      transport_.recovery().shared_state()->stop.load(std::memory_order_acquire) != 0;
  if (!said_asking_ && !stopped) {
    said_asking_ = true;
    log::warn("a buffer of {} cannot be read directly ({}): its owner copies it, which is slower",
              names_.of(peer), why.message());
  }
  return ask(peer, dst, address, bytes);
}

// Asks piece by piece; the peer waits in the same call.
Result<bool> PeerReader::ask(int peer, std::byte* dst, uint64_t address, uint64_t bytes) {
  const Result<bool> done = memory_->ask_for(peer, dst, address, bytes);
  asking_ = done.ok() && !*done;
  if (done.ok()) return *done;
  return done.status().with_context(
      fmt::format("the buffer of {} cannot be read to its end", names_.of(peer)));
}

}  // namespace tutti
