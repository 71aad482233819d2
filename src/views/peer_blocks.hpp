// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where the blocks lie that ranks read of one another in a call in which each knows the sizes of
// its own only (alltoallv, gatherv, scatterv): every rank tells every other where it has that one's
// block, and how long it is.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "exec/call.hpp"

namespace tutti {

class PeerBlocks {
 public:
  // Of no other call is there anything to tell.
  [[nodiscard]] static bool has_any(const Call& call) { return sizes_are_own(call.collective); }
  // The call of the host by which they tell. This stays in place until it has ended.
  Call exchange(const Call& call, int rank, int ranks);
  // Once it has: whether each block is as long as its reader expects.
  [[nodiscard]] Status check(const Call& call, Communicator& comm) const;
  // Of what this rank may read of the peer's send buffer: 0 if there was nothing to tell.
  [[nodiscard]] uint64_t offset_in(int peer) const {
    return told_.empty() ? 0 : told_[static_cast<size_t>(peer)].offset;
  }

 private:
  std::vector<Range> given_;
  std::vector<Range> told_;
};

}  // namespace tutti
