// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of every layer: element types, reductions, collectives.
#pragma once

#include <tutti/tutti.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
  kComplex64,
  kComplex128,
};
constexpr int kDataTypes = 16;
static_assert(static_cast<int>(DataType::kComplex128) == TUTTI_COMPLEX128);

inline constexpr std::array<uint8_t, kDataTypes> kTypeSizes = {1, 1, 2, 2, 4, 4, 8, 8,
                                                               2, 2, 4, 8, 1, 1, 8, 16};
inline constexpr size_t kLongestElement = 16;
constexpr size_t type_size(DataType type) { return kTypeSizes[static_cast<size_t>(type)]; }
// The most elements of any type that fit into an address space once per rank.
inline constexpr uint64_t kFewElements = INT32_MAX;
// No buffer is longer: a process has so many bytes of addresses. No computation with lengths up to
// this, times the number of ranks, overflows.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 47;
// More ranks than any communicator has: a larger number that was read is nonsense.
inline constexpr int kMostRanks = 1 << 16;
// Whether a buffer may hold so many blocks of `count` elements.
constexpr bool fits_in_memory(uint64_t count, DataType type, uint64_t blocks = 1) {
  uint64_t bytes = 0;
  return !__builtin_mul_overflow(count, type_size(type), &bytes) &&
         !__builtin_mul_overflow(bytes, blocks, &bytes) && bytes <= kMostBytes;
}
std::string_view type_name(DataType type);
bool is_integer(DataType type);
// Whether an element is two floats, whose type part_type() is.
constexpr bool is_complex(DataType type) {
  return type == DataType::kComplex64 || type == DataType::kComplex128;
}
// The type of the two parts of a complex number; any other type itself.
constexpr DataType part_type(DataType type) {
  if (!is_complex(type)) return type;
  return type == DataType::kComplex64 ? DataType::kFloat32 : DataType::kFloat64;
}

// The operation that a kernel computes. A user function and a pre-multiplied sum are bound to these
// in exec/.
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
constexpr int kBuiltinReduceOps = 8;  // operations that need no handle: sum ... bxor

std::string_view op_name(ReduceOp op);
// Whether ranks must be combined in one step in ascending order. A user's function need not
// commute, and floats of 16 and 8 bits are accumulated in wider ones and rounded once.
bool needs_rank_order(ReduceOp op, DataType type);
// Bitwise operations exist for integers only, min and max for what has an order.
bool op_supports(ReduceOp op, DataType type);
// The types that it does exist for, as errors say it: "integer types".
std::string_view types_of_op(ReduceOp op);

enum class Collective : uint8_t {
#define TUTTI_COLLECTIVE(id, ...) id,
#include "core/collectives.inc"
#undef TUTTI_COLLECTIVE
};

// The content of a collective's buffer: nothing (it is not looked at), one block, or one per rank.
enum class Blocks : uint8_t { kNone, kOne, kPerRank };
struct BufferBlocks {
  Blocks send = Blocks::kNone;
  Blocks recv = Blocks::kNone;
};
enum class Root : uint8_t { kNone, kSends, kReceives };
enum class BlockSizes : uint8_t { kEven, kUneven };

// One line of core/collectives.inc.
struct CollectiveFacts {
  std::string_view name;
  BufferBlocks blocks;  // of the root, where there is one
  Root root;
  BlockSizes sizes;
  bool reduces;
};
inline constexpr CollectiveFacts kCollectiveFacts[] = {
#define TUTTI_COLLECTIVE(id, name, variable, send, recv, root, sizes, reduces, of_sizes) \
  {#name, {Blocks::send, Blocks::recv}, Root::root, BlockSizes::sizes, reduces},
#include "core/collectives.inc"
#undef TUTTI_COLLECTIVE
};
constexpr int kCollectives = static_cast<int>(std::size(kCollectiveFacts));

constexpr const CollectiveFacts& facts_of(Collective collective) {
  return kCollectiveFacts[static_cast<size_t>(collective)];
}
constexpr std::string_view collective_name(Collective collective) {
  return facts_of(collective).name;
}
constexpr bool has_root(Collective collective) { return facts_of(collective).root != Root::kNone; }
// Whether blocks differ in size: the names that end in v.
constexpr bool is_uneven(Collective collective) {
  return facts_of(collective).sizes == BlockSizes::kUneven;
}
// Whether a rank knows the sizes of its own blocks only: others differ without its knowledge.
constexpr bool sizes_are_own(Collective collective) {
  return is_uneven(collective) && collective != Collective::kAllgatherv &&
         collective != Collective::kReduceScatterv;
}
constexpr bool reduces(Collective collective) { return facts_of(collective).reduces; }
// Whether others get what the root has, of one size: broadcast and scatter.
constexpr bool root_gives(Collective collective) {
  return facts_of(collective).root == Root::kSends && !is_uneven(collective);
}

// The buffers of the root, or of any other rank; the same where there is no root. Small calls know
// the collective when they are compiled: inlined, little is left.
[[gnu::always_inline]] constexpr BufferBlocks blocks_of(Collective collective, bool at_root) {
  const CollectiveFacts& facts = facts_of(collective);
  BufferBlocks blocks = facts.blocks;
  if (at_root) return blocks;
  if (facts.root == Root::kSends) blocks.send = Blocks::kNone;
  if (facts.root == Root::kReceives) blocks.recv = Blocks::kNone;
  return blocks;
}
// Whether both buffers can be one: then the smaller is this rank's block of the larger, or they are
// equal.
constexpr bool can_be_in_place(Collective collective, bool at_root) {
  const BufferBlocks blocks = blocks_of(collective, at_root);
  return blocks.send != Blocks::kNone && blocks.recv != Blocks::kNone;
}
// Whether what a rank gives each other lies where it receives of that one, if it is in place.
constexpr bool exchanges_blocks(Collective collective) {
  const BufferBlocks& blocks = facts_of(collective).blocks;
  return blocks.send == Blocks::kPerRank && blocks.recv == Blocks::kPerRank;
}

}  // namespace tutti
