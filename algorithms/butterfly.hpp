// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Butterflies on a power of two ranks: in each of log2 p rounds the ranks pair up. Every rank has a
// place, a number whose bits say in which half of the data it goes on after each round, highest bit
// first. Partners of a round agree in the places' higher bits, and differ in the round's own.
//
// The doubling butterfly pairs ranks at distances 1, 2, 4, ..., p/2.
//
// The Bine butterfly (binomial negabinary; De Sensi et al., SC 2025) pairs them at distances 1, 1,
// 3, 5, 11, ...: round k has the sum of (-2)^i for i up to k, after an even rank and before an odd
// one. The farthest partner is p/3 away instead of p/2. Where groups of near ranks do not begin at
// powers of two, a third fewer bytes pass between them (docs/notes/21).
//
// Both send the longest messages to neighbours.
#pragma once

#include <bit>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/folding.hpp"
#include "algorithms/messages.hpp"
#include "algorithms/tree.hpp"

namespace tutti {

// The sum of (-2)^i for i = 0 ... round: 1, -1, 3, -5, 11, ...
constexpr int bine_distance(int round) {
  return (1 - (round % 2 == 0 ? -1 : 1) * (2 << round)) / 3;
}

constexpr int bine_partner(int number, int round, int ranks) {
  const int distance = bine_distance(round);
  return (number + (number % 2 == 0 ? distance : -distance) + ranks) % ranks;
}

// The place of a number. The first round splits the numbers in those that are 0 or 3 modulo 4 and
// those that are 1 or 2. Within either, the other rounds are a Bine butterfly of half as many.
constexpr int bine_place(int number, int ranks) {
  int place = 0;
  for (; ranks > 1; ranks /= 2) {
    const int bit = (number ^ (number >> 1)) & 1;
    place = 2 * place + bit;
    number = (ranks - ((bit == 1 ? ranks + 1 - number : number) >> 1)) % (ranks / 2);
  }
  return place;
}

struct Butterfly {
  std::vector<int> partners;  // by round
  int place = 0;

  static Butterfly doubling(int number, int ranks) {
    Butterfly butterfly;
    for (int distance = 1; distance < ranks; distance *= 2) {
      butterfly.partners.push_back(number ^ distance);
      butterfly.place = 2 * butterfly.place + ((number & distance) == 0 ? 0 : 1);
    }
    return butterfly;
  }
  static Butterfly bine(int number, int ranks) {
    Butterfly butterfly{.partners = {}, .place = bine_place(number, ranks)};
    for (int round = 0; (1 << round) < ranks; ++round) {
      butterfly.partners.push_back(bine_partner(number, round, ranks));
    }
    return butterfly;
  }

  [[nodiscard]] int rounds() const { return static_cast<int>(partners.size()); }
  [[nodiscard]] int partner(int round) const { return partners[static_cast<size_t>(round)]; }
  // The places of a half after a round: so many, from first() on.
  [[nodiscard]] int half(int round) const { return 1 << (rounds() - round - 1); }
  [[nodiscard]] int first_kept(int round) const { return place & -half(round); }
  [[nodiscard]] int first_given(int round) const { return first_kept(round) ^ half(round); }
};

// The Bine tree: data goes down the rounds of the Bine butterfly backwards, far partners first. A
// rank gets it in the first round in which its place has a bit, counted from the root's place, 0.
// Where p is no power of two, the surplus ranks (folding.hpp) hang below their neighbours. If the
// root is one of them, its neighbour hangs below it, and has all others below.
struct BineTree : Tree {
  // The rounds of the workers, and two for the surplus.
  static int rounds(int ranks) {
    const auto count = static_cast<unsigned>(ranks);
    return static_cast<int>(std::bit_width(count)) - 1 + (std::has_single_bit(count) ? 0 : 2);
  }

  BineTree(const Problem& q, int root) {
    const Folding folding(q.rank, q.ranks);
    const Folding top(root, q.ranks);
    if (!folding.works()) {
      if (q.rank == root) {
        children = {folding.neighbour()};
      } else {
        parent = folding.neighbour();
      }
      return;
    }
    const int workers = folding.workers();
    const int number = (folding.number() - top.number() + workers) % workers;
    const auto partner = [&](int round) {
      return folding.rank_of((bine_partner(number, round, workers) + top.number()) % workers);
    };
    if (folding.folds() && folding.neighbour() != root) children.push_back(folding.neighbour());
    const int place = bine_place(number, workers);
    int round = 0;
    for (; (1 << round) < workers; ++round) {
      if ((place & (workers >> (round + 1))) != 0) break;
      children.push_back(partner(round));
    }
    if (number != 0) {
      parent = partner(round);
    } else if (q.rank != root) {
      parent = root;
    }
  }
};

// log2 p messages of a reduce-scatter or an allgather of `bytes` in all: halves, quarters, ...
inline double halves_s(uint64_t bytes, int ranks, const Machine& m) {
  double seconds = 0;
  for (int parts = 2; parts <= ranks; parts *= 2) {
    seconds += message_s(bytes / static_cast<uint64_t>(parts), m);
  }
  return seconds;
}

// A reduce-scatter and then an allgather over a butterfly of the ranks that work (folding.hpp).
// T = 2 log2(p) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, and 2 (alpha + n beta) + n gamma more if p
// is no power of two.
class ButterflyAllreduce {
 public:
  using Make = Butterfly (*)(int number, int ranks);

  static double seconds(const Problem& q, const Machine& m) {
    Problem workers = q;
    workers.ranks = static_cast<int>(std::bit_floor(static_cast<unsigned>(q.ranks)));
    const uint64_t moved = all_but_own(workers, q.bytes());
    const double folding =
        workers.ranks < q.ranks ? 2 * message_s(q.bytes(), m) + combine_s(2 * q.bytes(), m) : 0;
    return folding + 2 * halves_s(q.bytes(), workers.ranks, m) + combine_s(2 * moved, m) +
           buffers_s(q, m) +
           touch_s(q, 2 * moved, m);  // data is combined only when all of it is there
  }

  template <Make make>
  static void build(const Problem& q, Builder& b) {
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
    const ButterflyAllreduce call{q, b, folding, make(folding.number(), folding.workers())};
    call.reduce_scatter();
    b.fence();  // sent data is about to be overwritten
    call.allgather();
    if (folding.folds()) b.send(folding.neighbour(), recv_at(0), q.bytes());
  }

 private:
  // The parts of a half after a round, of as many as there are workers.
  [[nodiscard]] Range parts(int round, int first) const {
    const Range begin = part_of(q_.bytes(), folding_.workers(), first);
    const Range last = part_of(q_.bytes(), folding_.workers(), first + butterfly_.half(round) - 1);
    return {begin.offset, last.offset + last.bytes - begin.offset};
  }
  [[nodiscard]] int partner(int round) const { return folding_.rank_of(butterfly_.partner(round)); }

  // After it the receive buffer has the result of the part at this worker's place.
  void reduce_scatter() const {
    Space from = folding_.folds() ? Space::kRecv : Space::kSend;
    for (int round = 0; round < butterfly_.rounds(); ++round) {
      const Range kept = parts(round, butterfly_.first_kept(round));
      const Range given = parts(round, butterfly_.first_given(round));
      const Ref arrived = b_.scratch(kept.bytes);
      b_.send(partner(round), Ref::of(from, given.offset), given.bytes);
      b_.recv(partner(round), arrived, kept.bytes);
      b_.reduce(recv_at(kept.offset), {Ref::of(from, kept.offset), arrived}, kept.bytes,
                round + 1 == butterfly_.rounds());
      from = Space::kRecv;
    }
  }

  void allgather() const {
    for (int round = butterfly_.rounds() - 1; round >= 0; --round) {
      const Range mine = parts(round, butterfly_.first_kept(round));
      const Range missing = parts(round, butterfly_.first_given(round));
      b_.send(partner(round), recv_at(mine.offset), mine.bytes);
      b_.recv(partner(round), recv_at(missing.offset), missing.bytes);
    }
  }

  ButterflyAllreduce(const Problem& q, Builder& b, const Folding& folding, Butterfly butterfly)
      : q_(q), b_(b), folding_(folding), butterfly_(std::move(butterfly)) {}

  const Problem& q_;
  Builder& b_;
  const Folding& folding_;
  const Butterfly butterfly_;
};

inline Applies is_power_of_two(const Problem& q) {
  if (std::has_single_bit(static_cast<unsigned>(q.ranks))) return {};
  return {false, "the number of ranks is no power of two"};
}

}  // namespace tutti
