// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reading the memory of another process directly: one copy instead of two through shared memory.
// The kernel may forbid it (ptrace scope, seccomp, another user), so ranks try it out first.
#pragma once

#include <span>

#include "core/exchange.hpp"
#include "core/status.hpp"
#include "transports/transport.hpp"

namespace tutti::shm {

// Copies `bytes` at `address` of the process to dst. kPeerFailed: it is gone.
Status read_process(int pid, void* dst, uint64_t address, uint64_t bytes);

// Collective: whether every rank can read every other. An error only if the exchange fails.
Result<bool> all_can_pull(Exchange& exchange, std::span<const PeerProcess> processes);

}  // namespace tutti::shm
