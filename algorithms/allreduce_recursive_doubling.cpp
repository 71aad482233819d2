// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling allreduce (Thakur, Rabenseifner & Gropp, IJHPCA 2005): in round k ranks at
// distance 2^k exchange everything. If p is no power of two, the surplus ranks first give their
// data to a neighbour and last get the result from it. Both sides of an exchange combine in the
// same order, hence every rank gets the same bits. T = ceil(log2 p) (alpha + n beta + n gamma), two
// messages more if p is no power of two. It has the fewest rounds, so it suits short messages.
#include <bit>

#include "algorithms/cost.hpp"
#include "algorithms/folding.hpp"
#include "algorithms/messages.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const bool folds = !std::has_single_bit(static_cast<unsigned>(q.ranks));
  const int rounds = rounds_of(q.ranks) - (folds ? 1 : 0);
  return (rounds + (folds ? 2 : 0)) * message_s(q.bytes(), m) +
         (rounds + (folds ? 1 : 0)) * combine_s(2 * q.bytes(), m) + buffers_s(q, m);
}

void build(const Problem& q, Builder& b) {
  const Folding folding(q);
  const Ref result = recv_at(0);
  if (!folding.works()) {
    b.send(folding.neighbour(), send_at(0), q.bytes());
    b.fence();  // the buffers may be one
    return b.recv(folding.neighbour(), result, q.bytes());
  }
  const Ref arrived = b.scratch(q.bytes());
  Ref sum = send_at(0);
  if (folding.folds()) {
    b.recv(folding.neighbour(), arrived, q.bytes());
    b.reduce(result, {sum, arrived}, q.bytes(), false);
    sum = result;
  }
  for (int distance = 1; distance < folding.workers(); distance *= 2) {
    const int number = folding.number() ^ distance;
    const int partner = folding.rank_of(number);
    b.send(partner, sum, q.bytes());
    b.recv(partner, arrived, q.bytes());
    b.fence();
    const bool last = 2 * distance == folding.workers();
    if (number > folding.number()) {
      b.reduce(result, {sum, arrived}, q.bytes(), last);
    } else {
      b.reduce(result, {arrived, sum}, q.bytes(), last);
    }
    sum = result;
  }
  if (folding.folds()) b.send(folding.neighbour(), result, q.bytes());
}

}  // namespace

const Algorithm allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "messages between ranks at distances 1, 2, 4, ...",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
