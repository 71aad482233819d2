// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/peer_blocks.hpp"

#include "transports/names.hpp"

namespace tutti {
namespace {

// The block that `rank` gives `peer`, or takes from it, by the layout of that buffer.
Range block_of(const Call& call, const Layout& layout, Blocks blocks, int peer) {
  if (blocks == Blocks::kNone || layout.counts.empty()) return {};
  const size_t at = blocks == Blocks::kPerRank ? static_cast<size_t>(peer) : 0;
  const uint64_t size = type_size(call.type);
  return {layout.offsets[at] * size, layout.counts[at] * size};
}

Range expected_of(const Call& call, int rank, int peer) {
  const bool root_gives = facts_of(call.collective).root == Root::kSends;
  if (root_gives && peer != call.root) return {};
  return block_of(call, call.layouts->recv, blocks_of(call.collective, rank == call.root).recv,
                  peer);
}

}  // namespace

Range block_given_to(const Call& call, int rank, int peer) {
  const bool root_takes = facts_of(call.collective).root == Root::kReceives;
  if (root_takes && peer != call.root) return {};
  return block_of(call, call.layouts->send, blocks_of(call.collective, rank == call.root).send,
                  peer);
}

Status check_block(const Call& call, Communicator& comm, int peer, uint64_t given_bytes) {
  const uint64_t expected = expected_of(call, comm.rank(), peer).bytes;
  if (given_bytes == expected) return {};
  const auto name = [&](int rank) { return name_of(rank, comm.transport().process(rank)); };
  return Status::format(Code::kMismatch, "{} expects {} bytes of {}, which sends {} bytes",
                        name(comm.rank()), expected, name(peer), given_bytes);
}

}  // namespace tutti
