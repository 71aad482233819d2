// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling allreduce (Thakur, Rabenseifner & Gropp, IJHPCA 2005), multiplying where p has
// other factors (radices.hpp). In a phase of radix r, groups of r ranks exchange everything, at
// distances that are multiples of the product of the radices before. If p has prime factors other
// than 2, 3 and 5, some ranks are surplus over a power of two. These give their data to a neighbour
// first, and get the result from it last. All of a group combine in the same order, hence every
// rank gets the same bits. T = sum over phases of (r/2 alpha + (r-1) n beta + (r-1) n gamma). That
// is log2 p (alpha + n beta + n gamma) for powers of two; a surplus takes two messages more. It has
// the fewest phases, so it suits short messages.
#include <algorithm>
#include <functional>
#include <numeric>

#include "algorithms/cost.hpp"
#include "algorithms/folding.hpp"
#include "algorithms/messages.hpp"
#include "algorithms/radices.hpp"

namespace tutti {
namespace {

bool folds(const Problem& q) { return q.ranks > 1 && radices_of(q.ranks).empty(); }

// The radices of all ranks, or of the power of two that work for the others.
std::vector<int> radices_for(const Problem& q) {
  return radices_of(folds(q) ? Folding(q).workers() : q.ranks);
}

double seconds(const Problem& q, const Machine& m) {
  double phases = 0;
  for (const int radix : radices_for(q)) {
    phases += messages_s(radix - 1, q.bytes(), m) +
              combine_s(static_cast<uint64_t>(radix) * q.bytes(), m);
  }
  const double surplus = folds(q) ? 2 * message_s(q.bytes(), m) + combine_s(2 * q.bytes(), m) : 0;
  return phases + surplus + buffers_s(q, m);
}

// Exchanges among the ranks that have numbers. `sum` is what this one has so far.
template <typename RankOf>
void multiply(const Problem& q, Builder& b, int number, RankOf rank_of, Ref sum) {
  const std::vector<int> radices = radices_for(q);
  const Ref arrived = b.scratch(q.bytes() * static_cast<uint64_t>(std::ranges::max(radices) - 1));
  const int ranks = std::accumulate(radices.begin(), radices.end(), 1, std::multiplies());
  int distance = 1;
  for (const int radix : radices) {
    const int place = number / distance % radix;
    // The rank of the group's member `other`, and where its data lies.
    const auto member = [&](int other) { return rank_of(number + (other - place) * distance); };
    std::vector<Ref> sources;
    for (int other = 0; other < radix; ++other) {
      const auto before = static_cast<uint64_t>(other < place ? other : other - 1);
      sources.push_back(other == place ? sum : arrived.plus(before * q.bytes()));
    }
    for (int i = 1; i < radix; ++i) b.send(member((place + i) % radix), sum, q.bytes());
    for (int i = 1; i < radix; ++i) {
      const int other = (place + radix - i) % radix;
      b.recv(member(other), sources[static_cast<size_t>(other)], q.bytes());
    }
    b.fence();
    distance *= radix;
    b.reduce(recv_at(0), sources, q.bytes(), distance == ranks);
    sum = recv_at(0);
  }
}

void build(const Problem& q, Builder& b) {
  const Ref result = recv_at(0);
  if (!folds(q)) return multiply(q, b, q.rank, std::identity(), send_at(0));
  const Folding folding(q);
  if (!folding.works()) {
    b.send(folding.neighbour(), send_at(0), q.bytes());
    b.fence();  // the buffers may be one
    return b.recv(folding.neighbour(), result, q.bytes());
  }
  Ref sum = send_at(0);
  if (folding.folds()) {
    const Ref arrived = b.scratch(q.bytes());
    b.recv(folding.neighbour(), arrived, q.bytes());
    b.reduce(result, {sum, arrived}, q.bytes(), false);
    sum = result;
  }
  multiply(
      q, b, folding.number(), [&](int number) { return folding.rank_of(number); }, sum);
  if (folding.folds()) b.send(folding.neighbour(), result, q.bytes());
}

}  // namespace

const Algorithm allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "messages between ranks at distances 1, 2, 4, ..., or as the factors 2, 3 and 5 say",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
