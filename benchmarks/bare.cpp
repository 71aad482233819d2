// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What moving the data takes by itself, as a contestant of versus.py: who sends what to whom is
// fixed, buffers lie where they are, nobody fails, and ranks do nothing else. It bounds a library
// that moves data in the same way, as `floor` bounds any. VERSUS_BARE says how:
//   reads                each rank copies what it receives out of its peers' buffers, by the kernel
//   PUT,TAKE,BYTES       through rings in shared memory, in pieces of BYTES: PUT into them and TAKE
//                        out of them are each `vectors`, `strings` or `past` (the caches)
//   PUT,TAKE,BYTES,trade the same between two ranks, each of which puts where it has taken; only
//                        for what goes both ways
// Nothing is summed: that costs more than moving, and is Tutti's own.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "kernels/copy.hpp"
#include "kernels/string_copy.hpp"
#include "peers/server.h"

namespace {

constexpr size_t kMostRanks = 8;
constexpr size_t kRing = size_t{2} << 20;  // between two ranks; as fast as any shorter one
constexpr size_t kTradedPieces = 4;
constexpr int kTriesBeforeYield = 256;

enum class Stores { kVectors, kStrings, kPastCaches };

struct Way {
  bool reads = false;
  Stores put = Stores::kVectors;
  Stores take = Stores::kVectors;
  size_t piece = size_t{128} << 10;
  bool trades = false;
};

void copy(char* dst, const char* source, size_t bytes, Stores stores) {
  if (bytes < tutti::kLeastLongCopy) {
    std::memcpy(dst, source, bytes);
  } else if (stores == Stores::kPastCaches) {
    tutti::copy_long(dst, source, bytes, tutti::CopyHint::kNonTemporal);
  } else if (stores == Stores::kStrings) {
    tutti::string_copy(dst, source, bytes);
  } else {
    tutti::copy_by_vectors(dst, source, bytes);
  }
}

struct alignas(128) Counter {
  std::atomic<uint64_t> value;
};

struct alignas(128) Offer {
  std::atomic<uint64_t> call;
  const char* source;
  pid_t process;
};

// All of it zero at the start.
struct Shared {
  std::array<Offer, kMostRanks> offers;
  std::array<Counter, kMostRanks> arrived;                      // barriers
  std::array<Counter, kMostRanks> ended;                        // calls whose reads a rank has done
  std::array<std::array<Counter, kMostRanks>, kMostRanks> put;  // bytes, [from][to]
  std::array<std::array<Counter, kMostRanks>, kMostRanks> taken;
  char rings[kMostRanks][kMostRanks][kRing];
};

size_t rank;
size_t ranks;
Way way;
Shared* shared;

void wait_for(const std::atomic<uint64_t>& counter, uint64_t least) {
  for (int tries = 0; counter.load(std::memory_order_acquire) < least; ++tries) {
    if (tries >= kTriesBeforeYield) (void)sched_yield();
#ifdef __SSE2__
    __builtin_ia32_pause();
#endif
  }
}

// What one rank moves to another, or to itself.
struct Move {
  size_t from;  // bytes into the sender's source
  size_t to;    // and into the receiver's result
};

struct Pass {
  enum collective collective;
  const char* source;
  char* result;
  size_t bytes;  // of a move

  std::optional<Move> move(size_t from, size_t to) const {
    switch (collective) {
      case COLLECTIVE_BROADCAST:
        return from == 0 && to != 0 ? std::optional(Move{0, 0}) : std::nullopt;
      case COLLECTIVE_ALLGATHER: return Move{0, from * bytes};
      case COLLECTIVE_ALLTOALL: return Move{to * bytes, from * bytes};
      case COLLECTIVE_GATHER: return to == 0 ? std::optional(Move{0, from * bytes}) : std::nullopt;
      case COLLECTIVE_SCATTER: return from == 0 ? std::optional(Move{to * bytes, 0}) : std::nullopt;
      case COLLECTIVE_SENDRECV:
        return to == (from + 1) % ranks ? std::optional(Move{0, 0}) : std::nullopt;
      default: return std::nullopt;
    }
  }
};

// ---- by the kernel

const char* read_peer(const Offer& offer, size_t at, char* dst, size_t bytes) {
  const iovec here{dst, bytes};
  const iovec there{const_cast<char*>(offer.source + at), bytes};
  const ssize_t got = process_vm_readv(offer.process, &here, 1, &there, 1, 0);
  return got == static_cast<ssize_t>(bytes) ? nullptr : "process_vm_readv failed";
}

const char* by_reads(const Pass& pass) {
  static uint64_t call = 0;
  Offer& mine = shared->offers[rank];
  mine.source = pass.source;
  mine.process = getpid();
  mine.call.store(++call, std::memory_order_release);
  const char* error = nullptr;
  for (size_t i = 1; i < ranks && error == nullptr; ++i) {
    const size_t from = (rank + i) % ranks;
    const std::optional<Move> move = pass.move(from, rank);
    if (!move) continue;
    wait_for(shared->offers[from].call, call);
    error = read_peer(shared->offers[from], move->from, pass.result + move->to, pass.bytes);
  }
  if (const std::optional<Move> own = pass.move(rank, rank)) {
    copy(pass.result + own->to, pass.source + own->from, pass.bytes, way.take);
  }
  shared->ended[rank].value.store(call, std::memory_order_release);
  for (size_t to = 0; to < ranks; ++to) {
    if (to != rank && pass.move(rank, to)) wait_for(shared->ended[to].value, call);
  }
  return error;
}

// ---- through rings

// Bytes that went through each ring that begins or ends here; each piece counts whole, so that it
// begins at a multiple of its length.
std::array<uint64_t, kMostRanks> put_so_far;
std::array<uint64_t, kMostRanks> taken_so_far;

// The next piece from one rank to another.
char* place_of(size_t from, size_t to, uint64_t count) {
  if (!way.trades) return shared->rings[from][to] + count % kRing;
  const uint64_t piece = count / way.piece;
  char* const ring =
      piece / kTradedPieces % 2 == 0 ? shared->rings[from][to] : shared->rings[to][from];
  return ring + piece % kTradedPieces * way.piece;
}

void put(const Pass& pass, size_t to, const Move& move, size_t at, size_t bytes) {
  uint64_t& count = put_so_far[to];
  // What is traded has been taken by this rank itself.
  if (!way.trades && count + way.piece > kRing) {
    wait_for(shared->taken[rank][to].value, count + way.piece - kRing);
  }
  copy(place_of(rank, to, count), pass.source + move.from + at, bytes, way.put);
  shared->put[rank][to].value.store(count += way.piece, std::memory_order_release);
}

void take(const Pass& pass, size_t from, const Move& move, size_t at, size_t bytes) {
  uint64_t& count = taken_so_far[from];
  const char* const piece = place_of(from, rank, count);
  count += way.piece;
  wait_for(shared->put[from][rank].value, count);
  copy(pass.result + move.to + at, piece, bytes, way.take);
  shared->taken[from][rank].value.store(count, std::memory_order_release);
}

// A piece is put before the one before it is taken, so that it is on its way meanwhile.
void by_rings(const Pass& pass) {
  const size_t pieces = (pass.bytes + way.piece - 1) / way.piece;
  for (size_t k = 0; k <= pieces; ++k) {
    const size_t at = k * way.piece;
    for (size_t i = 0; i < ranks && k < pieces; ++i) {
      const size_t to = (rank + i) % ranks;
      const std::optional<Move> move = pass.move(rank, to);
      if (!move) continue;
      const size_t bytes = std::min(way.piece, pass.bytes - at);
      if (to == rank) {
        copy(pass.result + move->to + at, pass.source + move->from + at, bytes, way.take);
      } else {
        put(pass, to, *move, at, bytes);
      }
    }
    if (k == 0) continue;
    const size_t before = at - way.piece;
    for (size_t i = 1; i < ranks; ++i) {
      const size_t from = (rank + i) % ranks;
      const std::optional<Move> move = pass.move(from, rank);
      if (move) take(pass, from, *move, before, std::min(way.piece, pass.bytes - before));
    }
  }
}

// ---- calls

const char* run(const Pass& pass) {
  if (way.reads) return by_reads(pass);
  by_rings(pass);
  return nullptr;
}

const char* barrier() {
  static uint64_t barriers = 0;
  shared->arrived[rank].value.store(++barriers, std::memory_order_release);
  for (size_t peer = 0; peer < ranks; ++peer) wait_for(shared->arrived[peer].value, barriers);
  return nullptr;
}

const char* call(const struct operation* o) {
  const size_t bytes = o->count * type_size(o->type);
  const auto* const send = static_cast<const char*>(o->send);
  auto* const recv = static_cast<char*>(o->recv);
  if (o->collective == COLLECTIVE_BARRIER) return barrier();
  if (o->collective == COLLECTIVE_ALLREDUCE || o->collective == COLLECTIVE_REDUCE ||
      o->collective == COLLECTIVE_REDUCE_SCATTER) {
    return NOT_OFFERED "sums";
  }
  const bool one_way = o->collective == COLLECTIVE_BROADCAST ||
                       o->collective == COLLECTIVE_GATHER || o->collective == COLLECTIVE_SCATTER;
  if (way.trades && (one_way || ranks != 2)) return NOT_OFFERED "trades other than of two ranks";
  if (o->in_place) return NOT_OFFERED "bare moves in place";
  const bool from_recv = o->collective == COLLECTIVE_BROADCAST;
  return run({o->collective, from_recv ? recv : send, recv, bytes});
}

// ---- start

std::optional<Stores> stores_named(const std::string& name) {
  if (name == "vectors") return Stores::kVectors;
#ifdef __x86_64__
  if (name == "strings") return Stores::kStrings;
#endif
  if (name == "past") return Stores::kPastCaches;
  return std::nullopt;
}

std::optional<Way> way_from(const char* text) {
  if (text == nullptr) return std::nullopt;
  if (std::strcmp(text, "reads") == 0) return Way{.reads = true};
  char put[16];
  char take[16];
  Way found;
  char trade[16] = "";
  if (std::sscanf(text, "%15[^,],%15[^,],%zu,%15s", put, take, &found.piece, trade) < 3) {
    return std::nullopt;
  }
  found.trades = std::strcmp(trade, "trade") == 0;
  if (*trade != '\0' && !found.trades) return std::nullopt;
  if (found.trades && found.piece > kRing / kTradedPieces) return std::nullopt;
  const std::optional<Stores> puts = stores_named(put);
  const std::optional<Stores> takes = stores_named(take);
  if (!puts || !takes || found.piece == 0 || kRing % found.piece != 0) return std::nullopt;
  found.put = *puts;
  found.take = *takes;
  return found;
}

}  // namespace

int main() {
  pin_to_core();
  const std::optional<Way> wanted = way_from(std::getenv("VERSUS_BARE"));
  const int here = integer_from_environment("RANK");
  const int all = integer_from_environment("WORLD_SIZE");
  const int fd = integer_from_environment("VERSUS_SHARED_FD");
  if (!wanted || all > static_cast<int>(kMostRanks)) {
    std::fprintf(stderr,
                 "expected VERSUS_BARE=reads or PUT,TAKE,BYTES[,trade] and at most %zu ranks\n",
                 kMostRanks);
    return 1;
  }
  way = *wanted;
  rank = static_cast<size_t>(here);
  ranks = static_cast<size_t>(all);
  (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // where only relatives may read
  void* const memory =
      ftruncate(fd, sizeof(Shared)) != 0
          ? MAP_FAILED
          : mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    std::perror("VERSUS_SHARED_FD");
    return 1;
  }
  shared = static_cast<Shared*>(memory);
  struct contestant contestant = {here, all, "bare moves", call};
  return serve(&contestant);
}
