// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/peer_blocks.hpp"

#include "transports/names.hpp"

namespace tutti {
namespace {

// What `rank` gives `peer`, or takes from it, by the layout of that buffer.
Range block_of(const Call& call, const Layout& layout, Blocks blocks, int peer) {
  if (blocks == Blocks::kNone || layout.counts.empty()) return {};
  const size_t at = blocks == Blocks::kPerRank ? static_cast<size_t>(peer) : 0;
  const uint64_t size = type_size(call.type);
  return {layout.offsets[at] * size, layout.counts[at] * size};
}

Range given_to(const Call& call, int rank, int peer) {
  const bool root_takes = facts_of(call.collective).root == Root::kReceives;
  if (root_takes && peer != call.root) return {};
  return block_of(call, call.layouts->send, blocks_of(call.collective, rank == call.root).send,
                  peer);
}

Range expected_of(const Call& call, int rank, int peer) {
  const bool root_gives = facts_of(call.collective).root == Root::kSends;
  if (root_gives && peer != call.root) return {};
  return block_of(call, call.layouts->recv, blocks_of(call.collective, rank == call.root).recv,
                  peer);
}

}  // namespace

Call PeerBlocks::exchange(const Call& call, int rank, int ranks) {
  given_.clear();
  for (int peer = 0; peer < ranks; ++peer) given_.push_back(given_to(call, rank, peer));
  told_.assign(given_.size(), {});
  Call tell;
  tell.collective = Collective::kAlltoall;
  tell.purpose = agreement_on(call.collective);
  tell.count = sizeof(Range);
  tell.send = given_.data();
  tell.recv = told_.data();
  return tell;
}

Status PeerBlocks::check(const Call& call, Communicator& comm) const {
  for (size_t i = 0; i < told_.size(); ++i) {
    const int peer = static_cast<int>(i);
    const uint64_t expected = expected_of(call, comm.rank(), peer).bytes;
    if (told_[i].bytes == expected) continue;
    const auto name = [&](int rank) { return name_of(rank, comm.transport().process(rank)); };
    return Status::format(Code::kMismatch, "{} expects {} bytes of {}, which sends {} bytes",
                          name(comm.rank()), expected, name(peer), told_[i].bytes);
  }
  return {};
}

}  // namespace tutti
