// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whether buffers are in place, and the hash of a key.
#include "exec/plan_key.hpp"

namespace tutti {

size_t PlanKeyHash::operator()(const PlanKey& key) const {
  uint64_t bits = static_cast<uint64_t>(key.collective) | static_cast<uint64_t>(key.type) << 8 |
                  static_cast<uint64_t>(key.op) << 16 | static_cast<uint64_t>(key.in_place) << 24 |
                  static_cast<uint64_t>(key.purpose) << 25 |
                  static_cast<uint64_t>(static_cast<uint32_t>(key.root)) << 32;
  bits ^= key.count * 0x9e3779b97f4a7c15u;
  if (key.layouts != nullptr) {
    for (const BlockLayout* layout : {&key.layouts->send, &key.layouts->recv}) {
      for (const uint64_t count : layout->counts) bits = (bits ^ count) * 0x9e3779b97f4a7c15u;
    }
  }
  return bits ^ (bits >> 29);
}

bool is_in_place(const Call& call, int rank) {
  const auto send = reinterpret_cast<uintptr_t>(call.send);
  const auto recv = reinterpret_cast<uintptr_t>(call.recv);
  const bool at_root = rank == call.root;
  if (!can_be_in_place(call.collective, at_root)) return false;
  const BufferBlocks blocks = blocks_of(call.collective, at_root);
  const auto own = static_cast<size_t>(rank);
  const auto own_block = [&](BlockLayout BlockLayouts::*layout) {
    const uint64_t elements =
        call.layouts != nullptr ? ((*call.layouts).*layout).offsets[own] : call.count * own;
    return elements * type_size(call.type);
  };
  if (exchanges_blocks(call.collective)) {
    return send == recv && (call.layouts == nullptr || call.layouts->send == call.layouts->recv);
  }
  if (blocks.send == Blocks::kPerRank) return recv == send + own_block(&BlockLayouts::send);
  if (blocks.recv == Blocks::kPerRank) return send == recv + own_block(&BlockLayouts::recv);
  return send == recv;
}

PlanKey plan_key(const Call& call, int rank) {
  // A pre-multiplied sum reads a scaled copy, so its buffers never coincide.
  const bool reads_copy = call.op == ReduceOp::kPremulSum;
  return {.collective = call.collective,
          .type = call.type,
          .op = call.op,
          .purpose = call.purpose,
          .in_place = !reads_copy && is_in_place(call, rank),
          .root = call.root,
          .count = call.count,
          .layouts = call.layouts};
}

}  // namespace tutti
