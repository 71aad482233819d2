// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The blocks that ranks read of one another if each knows the sizes of its own only (alltoallv,
// gatherv, scatterv). Every rank tells every other where it has that one's block, and how long it
// is.
#pragma once

#include "comm/communicator.hpp"
#include "exec/call.hpp"

namespace tutti {

// The block that `rank` gives `peer`, in bytes of the send buffer.
Range block_given_to(const Call& call, int rank, int peer);
// Whether a peer gives this rank as many bytes as it expects.
Status check_block(const Call& call, Communicator& comm, int peer, uint64_t given_bytes);

}  // namespace tutti
