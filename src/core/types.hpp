// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of every layer: element types, reductions, collectives.
#pragma once

#include <tutti/tutti.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti {

enum class DataType : uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kFloat8E4M3,
  kFloat8E5M2,
};
constexpr int kDataTypes = 14;
static_assert(static_cast<int>(DataType::kFloat8E5M2) == TUTTI_FLOAT8_E5M2);

inline constexpr std::array<uint8_t, kDataTypes> kTypeSizes = {1, 1, 2, 2, 4, 4, 8,
                                                               8, 2, 2, 4, 8, 1, 1};
constexpr size_t type_size(DataType type) { return kTypeSizes[static_cast<size_t>(type)]; }
// Of any type, so many fit into an address space once per rank.
inline constexpr uint64_t kFewElements = INT32_MAX;
// Whether a buffer may hold so many blocks of `count` elements.
constexpr bool fits_in_memory(uint64_t count, DataType type, uint64_t blocks = 1) {
  uint64_t bytes = 0;
  return !__builtin_mul_overflow(count, type_size(type), &bytes) &&
         !__builtin_mul_overflow(bytes, blocks, &bytes) && bytes <= PTRDIFF_MAX;
}
std::string_view type_name(DataType type);
bool is_integer(DataType type);

// What a kernel computes. A user function and a pre-multiplied sum are bound to these in exec/.
enum class ReduceOp : uint8_t {
  kSum,
  kProd,
  kMin,
  kMax,
  kAvg,
  kBand,
  kBor,
  kBxor,
  kPremulSum,
  kUser
};
constexpr int kBuiltinReduceOps = 8;  // those that need no handle: sum ... bxor

std::string_view op_name(ReduceOp op);
// Whether ranks must be combined in one step in ascending order: a user's function need not
// commute, and floats of 16 and 8 bits are accumulated in wider ones and rounded once.
bool needs_rank_order(ReduceOp op, DataType type);
// Bitwise operations exist for integers only.
bool op_supports(ReduceOp op, DataType type);

enum class Collective : uint8_t {
  kAllreduce,
  kReduce,
  kBroadcast,
  kAllgather,
  kAllgatherv,
  kReduceScatter,
  kReduceScatterv,
  kAlltoall,
  kAlltoallv,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kBarrier,
};
constexpr int kCollectives = 14;

std::string_view collective_name(Collective collective);
bool has_root(Collective collective);
// Whether others get what the root has, of one size: broadcast and scatter.
bool root_gives(Collective collective);
// Whether blocks differ in size: the names that end in v.
bool is_uneven(Collective collective);

// What a buffer of a collective holds: nothing (it is not looked at), one block, or one per rank.
enum class Blocks : uint8_t { kNone, kOne, kPerRank };
struct BufferBlocks {
  Blocks send = Blocks::kNone;
  Blocks recv = Blocks::kNone;
};
// Of the root, or of any other rank; the same where there is no root.
constexpr BufferBlocks blocks_of(Collective collective, bool at_root) {
  const auto only_root = [at_root](Blocks blocks) { return at_root ? blocks : Blocks::kNone; };
  switch (collective) {
    case Collective::kAllreduce: return {Blocks::kOne, Blocks::kOne};
    case Collective::kReduce: return {Blocks::kOne, only_root(Blocks::kOne)};
    case Collective::kBroadcast: return {Blocks::kNone, Blocks::kOne};
    case Collective::kAllgather:
    case Collective::kAllgatherv: return {Blocks::kOne, Blocks::kPerRank};
    case Collective::kReduceScatter:
    case Collective::kReduceScatterv: return {Blocks::kPerRank, Blocks::kOne};
    case Collective::kAlltoall:
    case Collective::kAlltoallv: return {Blocks::kPerRank, Blocks::kPerRank};
    case Collective::kGather:
    case Collective::kGatherv: return {Blocks::kOne, only_root(Blocks::kPerRank)};
    case Collective::kScatter:
    case Collective::kScatterv: return {only_root(Blocks::kPerRank), Blocks::kOne};
    case Collective::kBarrier: break;
  }
  return {};
}
// Whether both buffers can be one: then the smaller is this rank's block of the larger, or they are
// equal.
constexpr bool can_be_in_place(Collective collective, bool at_root) {
  const BufferBlocks blocks = blocks_of(collective, at_root);
  return blocks.send != Blocks::kNone && blocks.recv != Blocks::kNone &&
         (blocks.send == Blocks::kOne || blocks.recv == Blocks::kOne);
}

}  // namespace tutti
