// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reduction by messages in the order of the ranks: whoever owns some bytes gets everyone's share of
// them and combines all in one pass.
#pragma once

#include "algorithms/messages.hpp"

namespace tutti {

// `sent_to(rank)` is where this rank's share of what `rank` owns lies; sizes may differ by owner.
// `arrived` has room for one share per rank, `bytes` (this rank's) each.
template <typename SentTo, typename BytesOf>
void reduce_from_all(const Problem& q, Builder& b, Ref arrived, Ref result, SentTo sent_to,
                     BytesOf bytes_of) {
  const uint64_t mine = bytes_of(q.rank);
  std::vector<Ref> sources;
  for (int rank = 0; rank < q.ranks; ++rank) {
    sources.push_back(arrived.plus(static_cast<uint64_t>(rank) * mine));
  }
  for (int i = 1; i < q.ranks; ++i) {
    const int owner = rank_after(q, i);
    b.send(owner, sent_to(owner), bytes_of(owner));
  }
  for (int i = 1; i < q.ranks; ++i) {
    const int from = rank_after(q, -i);
    b.recv(from, sources[static_cast<size_t>(from)], mine);
  }
  sources[static_cast<size_t>(q.rank)] = sent_to(q.rank);
  b.fence();  // sent blocks may be overwritten from here on
  b.reduce(result, sources, mine, true);
}

}  // namespace tutti
