// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Checks where the buffers of a call lie: apart, or in place as its collective allows. Any other
// overlap would give wrong results in silence, so the rank that sees it refuses the call.
#pragma once

#include <cstdint>
#include <string_view>

#include "comm/communicator.hpp"
#include "core/status.hpp"
#include "exec/call.hpp"

namespace tutti {

// Not in the upper half of the addresses, from where few bytes could go beyond the end; also null.
inline bool is_low(const void* buffer) { return reinterpret_cast<intptr_t>(buffer) >= 0; }
// Whether is_low() holds and the buffer is not null.
inline bool is_usual(const void* buffer) { return reinterpret_cast<intptr_t>(buffer) > 0; }

// Whether so many bytes there, both more than 0, overlap with the others. It may say so of empty
// buffers, too. Lengths are far below 2^63.
[[gnu::always_inline]] inline bool may_overlap(const void* send, uint64_t send_bytes,
                                               const void* recv, uint64_t recv_bytes) {
  const uint64_t distance =
      reinterpret_cast<uintptr_t>(recv) - reinterpret_cast<uintptr_t>(send) + recv_bytes;
  return distance - 1 < send_bytes + recv_bytes - 1;
}

// Whether the buffers of a call with blocks of one size are apart, or coincide as in place allows.
// It costs a few instructions, which may not suffice: check_buffers() then finds out.
[[gnu::always_inline]] inline bool are_well_placed(const Call& call, const Communicator& comm) {
  const bool at_root = !has_root(call.collective) || call.root == comm.rank();
  const BufferBlocks blocks = blocks_of(call.collective, at_root);
  if (blocks.send == Blocks::kNone || blocks.recv == Blocks::kNone) return true;
  const uint64_t block = call.count * type_size(call.type);
  const auto bytes = [&](Blocks of) {
    return of == Blocks::kPerRank ? block * static_cast<uint64_t>(comm.ranks()) : block;
  };
  if (!may_overlap(call.send, bytes(blocks.send), call.recv, bytes(blocks.recv))) return true;
  const uint64_t distance =
      reinterpret_cast<uintptr_t>(call.recv) - reinterpret_cast<uintptr_t>(call.send);
  if (blocks.send == blocks.recv) return distance == 0;
  const uint64_t own = block * static_cast<uint64_t>(comm.rank());
  return distance == (blocks.send == Blocks::kPerRank ? own : 0 - own);
}

// Checks the buffers of any call whose other arguments are right. An error names both ranges and
// what is allowed.
Status check_buffers(std::string_view function, const Call& call, const Communicator& comm);
// The send and the receive buffer of two messages at once, which may not overlap at all.
Status check_apart(std::string_view function, const void* send, uint64_t send_bytes,
                   const void* recv, uint64_t recv_bytes);
// So many bytes there end before the addresses do.
Status check_end(std::string_view function, std::string_view name, const void* buffer,
                 uint64_t bytes);
// Blocks of a receive buffer, of which no element may lie in two.
Status check_disjoint(std::string_view function, const Layout& recv);

}  // namespace tutti
