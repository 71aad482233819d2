// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reads buffers in the processes of peers through the operating system. If that refuses, the peer
// makes fallback copies, for which the reader asks piece by piece. One thread at a time; never
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/rank_names.hpp"
#include "transports/transport.hpp"

namespace tutti {

class PeerReader {
 public:
  // All outlive the reader; `memory` may be null, and nothing may be read then.
  PeerReader(Transport& transport, LaneMemory* memory, const RankNames& names)
      : transport_(transport), memory_(memory), names_(names) {}

  // Copies from an address of the peer's process, which is in the same call. Returns whether it is
  // done. If not, the next read() must have the same arguments.
  Result<bool> read(int peer, std::byte* dst, uint64_t address, uint64_t bytes) {
    if (asking_) [[unlikely]]
      return ask(peer, dst, address, bytes);
    const Status status = memory_->pull(peer, dst, address, bytes);
    if (status.ok()) [[likely]]
      return true;
    return refused(status, peer, dst, address, bytes);
  }
  // Whether the last read() is not done yet: it waits for a fallback copy.
  [[nodiscard]] bool asks() const { return asking_; }

 private:
  Result<bool> ask(int peer, std::byte* dst, uint64_t address, uint64_t bytes);
  Result<bool> refused(const Status& why, int peer, std::byte* dst, uint64_t address,
                       uint64_t bytes);

  Transport& transport_;
  LaneMemory* const memory_;
  const RankNames& names_;
  bool asking_ = false;
  bool said_asking_ = false;  // whether the warning was given
};

}  // namespace tutti
