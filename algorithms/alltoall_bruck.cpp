// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Bruck's alltoall (Bruck et al., IEEE TPDS 1997). A block for the rank d after this one travels by
// the bits of d. In round k it goes to the rank 2^k after, together with all others that have this
// bit. Any number of ranks; blocks of at most 64 KiB, for private memory has room for all that pass
// by. T = ceil(log2 p) (alpha + p/2 n beta), blocks of n, and as much copying. It has the fewest
// rounds, so it suits short blocks of many ranks.
#include "algorithms/cost.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

// The distances that have bit k, in ascending order: their blocks pass in one message.
std::vector<int> distances_of_round(const Problem& q, int k) {
  std::vector<int> distances;
  for (int distance = 1; distance < q.ranks; ++distance) {
    if ((distance >> k & 1) != 0) distances.push_back(distance);
  }
  return distances;
}

// How many blocks a rank sends in all rounds.
uint64_t blocks_moved(const Problem& q) {
  uint64_t blocks = 0;
  for (int distance = 1; distance < q.ranks; ++distance) {
    blocks += static_cast<uint64_t>(std::popcount(static_cast<unsigned>(distance)));
  }
  return blocks;
}

double seconds(const Problem& q, const Machine& m) {
  const uint64_t blocks = blocks_moved(q);
  const uint64_t moved = blocks * q.bytes();
  const auto rounds = static_cast<uint64_t>(std::max(rounds_of(q.ranks), 1));
  return rounds_of(q.ranks) * start_s(moved / rounds, m) +
         static_cast<double>(moved) * m.message_byte_s + copy_s(moved, m) +
         static_cast<double>(blocks) * m.step_s + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  copy_block_to_self(q, b);
  // The place of each block that is still to travel some distance's higher bits: first at its
  // sender.
  std::vector<Ref> places;
  for (int distance = 0; distance < q.ranks; ++distance) {
    places.push_back(send_at(block_at(q, rank_after(q, distance))));
  }
  for (int k = 0; k < rounds_of(q.ranks); ++k) {
    const std::vector<int> distances = distances_of_round(q, k);
    const uint64_t bytes = distances.size() * q.bytes();
    const Ref packed = b.scratch(bytes);
    const Ref arrived = b.scratch(bytes);
    for (size_t i = 0; i < distances.size(); ++i) {
      Ref& place = places[static_cast<size_t>(distances[i])];
      b.copy(packed.plus(i * q.bytes()), place, q.bytes());
      place = arrived.plus(i * q.bytes());
    }
    b.send(rank_after(q, 1 << k), packed, bytes);
    b.recv(rank_after(q, -(1 << k)), arrived, bytes);
  }
  for (int distance = 1; distance < q.ranks; ++distance) {
    b.copy(recv_at(block_at(q, rank_after(q, -distance))), places[static_cast<size_t>(distance)],
           q.bytes());
  }
}

}  // namespace

const Algorithm alltoall_bruck = {.name = "bruck",
                                  .summary = "messages in log2(ranks) rounds",
                                  .collective = Collective::kAlltoall,
                                  .rank_order = true,
                                  .applies = blocks_are_short,
                                  .seconds = seconds,
                                  .build = build};

}  // namespace tutti
