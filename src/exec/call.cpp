// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "exec/call.hpp"

#include <fmt/format.h>

#include <bit>

namespace tutti {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t mix_in(uint64_t bits, const std::vector<uint64_t>& numbers) {
  for (const uint64_t number : numbers) bits = mix(bits ^ number);
  return bits;
}

}  // namespace

bool reduces(Collective collective) {
  return collective == Collective::kAllreduce || collective == Collective::kReduce ||
         collective == Collective::kReduceScatter || collective == Collective::kReduceScatterv;
}

uint32_t signature_of(const Call& call) {
  const uint64_t op = reduces(call.collective) ? static_cast<uint64_t>(call.op) : 0xff;
  const uint64_t kind = static_cast<uint64_t>(call.collective) |
                        static_cast<uint64_t>(call.type) << 8 | op << 16 |
                        static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 24;
  uint64_t bits = mix(mix(kind + 1) ^ call.count);
  // Of these two, every rank knows all sizes.
  if (call.collective == Collective::kAllgatherv) bits = mix_in(bits, call.layouts->recv.counts);
  if (call.collective == Collective::kReduceScatterv) {
    bits = mix_in(bits, call.layouts->send.counts);
  }
  return static_cast<uint32_t>(bits >> 32);
}

// Multiplying by an odd number loses nothing; the rotation brings high bits to where the next
// signature meets them.
uint32_t chained(uint32_t chain, uint32_t signature) {
  return std::rotl(chain * 0x9e3779b1u, 15) ^ signature;
}

std::string describe(const CallRecord& record) {
  // The record may come from a peer: trust no index in it.
  if (record.collective >= kCollectives || record.type >= kDataTypes ||
      record.op > static_cast<uint8_t>(ReduceOp::kUser)) {
    return fmt::format("an unreadable call (#{})", record.sequence);
  }
  const auto collective = static_cast<Collective>(record.collective);
  std::string text = fmt::format("{} #{}", collective_name(collective), record.sequence);
  if (collective == Collective::kBarrier) return text;
  const std::string_view type = type_name(static_cast<DataType>(record.type));
  if (!is_uneven(collective)) {
    text += fmt::format(" ({} {}", record.count, type);
  } else if (record.count > 0) {
    text += fmt::format(" (up to {} {} per rank", record.count, type);
  } else {
    text += fmt::format(" ({}", type);
  }
  if (reduces(collective)) text += fmt::format(", {}", op_name(static_cast<ReduceOp>(record.op)));
  if (record.root >= 0) text += fmt::format(", root {}", record.root);
  return text + ")";
}

}  // namespace tutti
