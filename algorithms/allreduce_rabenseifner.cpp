// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Rabenseifner's allreduce (Rabenseifner, ICCS 2004; Thakur, Rabenseifner & Gropp, IJHPCA 2005): a
// reduce-scatter in which ranks at distances p/2, p/4, ..., 1 exchange half of what they still
// have, then an allgather at distances 1, 2, ..., p/2. Where p is no power of two, the surplus
// ranks first give their data to a neighbour and last get the result from it. T = 2 log2(p) alpha +
// 2n(p-1)/p beta + n(p-1)/p gamma, and 2 (alpha + n beta) + n gamma more if p is no power of two:
// as circulant, in whole runs of bytes and without a copy of them, so it suits middle sizes of
// powers of two; it is not segmented.
#include "algorithms/cost.hpp"
#include "algorithms/folding.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  Problem workers = q;
  workers.ranks = static_cast<int>(std::bit_floor(static_cast<unsigned>(q.ranks)));
  const uint64_t moved = all_but_own(workers, q.bytes());
  const double folding =
      workers.ranks < q.ranks ? 2 * message_s(q.bytes(), m) + combine_s(2 * q.bytes(), m) : 0;
  double starts = 0;
  for (int parts = 2; parts <= workers.ranks; parts *= 2) {
    starts += start_s(q.bytes() / static_cast<uint64_t>(parts), m);
  }
  return folding + 2 * (starts + static_cast<double>(moved) * m.message_byte_s) +
         combine_s(2 * moved, m) + buffers_s(q, m) +
         touch_s(q, 2 * moved, m);  // what arrives is combined only when all of it is there
}

// The blocks [first, first + count) of as many as there are workers.
Range blocks(const Problem& q, const Folding& folding, int first, int count) {
  const Range begin = part_of(q.bytes(), folding.workers(), first);
  const Range last = part_of(q.bytes(), folding.workers(), first + count - 1);
  return {begin.offset, last.offset + last.bytes - begin.offset};
}

// After it the receive buffer has the result of the block of this worker's number.
void reduce_scatter(const Problem& q, const Folding& folding, Builder& b) {
  Space from = folding.folds() ? Space::kRecv : Space::kSend;
  for (int distance = folding.workers() / 2; distance > 0; distance /= 2) {
    const int other = folding.number() ^ distance;
    const auto half = [&](int number) {
      return blocks(q, folding, number / distance * distance, distance);
    };
    const Range kept = half(folding.number());
    const Range given = half(other);
    const Ref arrived = b.scratch(kept.bytes);
    const Ref own = Ref::of(from, kept.offset);
    b.send(folding.rank_of(other), Ref::of(from, given.offset), given.bytes);
    b.recv(folding.rank_of(other), arrived, kept.bytes);
    b.reduce(recv_at(kept.offset), {own, arrived}, kept.bytes, distance == 1);
    from = Space::kRecv;
  }
}

void allgather(const Problem& q, const Folding& folding, Builder& b) {
  for (int distance = 1; distance < folding.workers(); distance *= 2) {
    const int other = folding.number() ^ distance;
    const auto half = [&](int number) {
      return blocks(q, folding, number / distance * distance, distance);
    };
    const Range mine = half(folding.number());
    const Range missing = half(other);
    b.send(folding.rank_of(other), recv_at(mine.offset), mine.bytes);
    b.recv(folding.rank_of(other), recv_at(missing.offset), missing.bytes);
  }
}

void build(const Problem& q, Builder& b) {
  const Folding folding(q);
  if (!folding.works()) {
    b.send(folding.neighbour(), send_at(0), q.bytes());
    b.fence();  // the buffers may be one
    return b.recv(folding.neighbour(), recv_at(0), q.bytes());
  }
  if (folding.folds()) {
    const Ref arrived = b.scratch(q.bytes());
    b.recv(folding.neighbour(), arrived, q.bytes());
    b.reduce(recv_at(0), {send_at(0), arrived}, q.bytes(), false);
  }
  reduce_scatter(q, folding, b);
  b.fence();  // what was sent is about to be overwritten
  allgather(q, folding, b);
  if (folding.folds()) b.send(folding.neighbour(), recv_at(0), q.bytes());
}

}  // namespace

const Algorithm allreduce_rabenseifner = {
    .name = "rabenseifner",
    .summary = "messages of halves, quarters, ..., there and back: each byte moved twice",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
