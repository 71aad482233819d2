// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One collective call: its arguments after validation, and how it is named to people and to peers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>

#include "core/hash.hpp"
#include "core/status.hpp"
#include "core/types.hpp"
#include "sched/problem.hpp"
#include "transports/transport.hpp"

namespace tutti {

// The parts of a reduction besides its kind.
struct ReduceBinding {
  tutti_reduce_fn function = nullptr;  // kUser
  void* context = nullptr;
  std::array<std::byte, kLongestElement> scalar{};  // kPremulSum: one element
  DataType scalar_type = DataType::kInt8;
};

// The purpose of a call. It is the user's own, or ranks agree by it on something else that the user
// has called, after which it is named. Those from kAgreement on are steps of a call whose buffers
// are a device's. They are made by all ranks, or by those of each column, or of each host
// (exec/plan_phases.hpp).
enum class Purpose : uint8_t {
  kOwn,
  kSplit,
  kGrow,
  kShrink,
  kAgreement = 32,
  kInColumn = 64,
  kInHost = 96
};
static_assert(kCollectives <= 32, "a kind of step has a purpose for each collective");
// The purpose of such a step of a call of that collective.
constexpr Purpose step_on(Collective collective, Purpose kind) {
  return static_cast<Purpose>(static_cast<int>(kind) + static_cast<int>(collective));
}
constexpr Purpose agreement_on(Collective collective) {
  return step_on(collective, Purpose::kAgreement);
}
constexpr bool is_step_on(Purpose purpose, Purpose kind) {
  return purpose >= kind && static_cast<int>(purpose) - static_cast<int>(kind) < kCollectives;
}

struct Call {
  Collective collective = Collective::kBarrier;
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
  Purpose purpose = Purpose::kOwn;
  int root = -1;  // -1: the collective has none
  uint64_t count = 0;
  const void* send = nullptr;
  void* recv = nullptr;
  std::shared_ptr<const ReduceBinding> binding = {};  // kUser, kPremulSum
  // The layouts of blocks that differ in size (is_uneven); `count` is then as in Problem.
  std::shared_ptr<const BlockLayouts> layouts = {};
};

// Which of the rank's buffers the call touches. A buffer whose blocks are known to be all empty is
// not touched.
BufferBlocks buffers_with_data(const Call& call, int rank);
// The number of elements in the send buffer of a call that reduces.
uint64_t elements_sent(const Call& call, int ranks);

// 32 bits in which two calls that do not match differ (but for a chance of 2^-32).
uint32_t signature_of(const Call& call);
// The chain of the signatures of all calls so far, one call longer. Equal chains are of equal calls
// (but for a chance of 2^-32). Multiplying by an odd number loses nothing; the rotation brings high
// bits to where the next signature meets them.
inline uint32_t chained(uint32_t chain, uint32_t signature) {
  return std::rotl(chain * kGoldenRatio32, 15) ^ signature;
}

// A digest of the block sizes, for calls in which every rank knows all of them. Ranks that disagree
// see from it about whose blocks: each byte of `bytes` stands for the blocks of `ranks_each` ranks,
// in rank order.
struct CountDigest {
  uint64_t bytes = 0;
  uint8_t ranks_each = 0;  // 0: another kind of call, which has no digest
};
CountDigest digest_of(const Call& call);

inline CallRecord record_of(const Call& call, uint64_t sequence, CountDigest digest = {}) {
  return {.sequence = sequence,
          .count = call.count,
          .root = call.root,
          .collective = static_cast<uint8_t>(call.collective),
          .type = static_cast<uint8_t>(call.type),
          .op = static_cast<uint8_t>(call.op),
          .detail_ranks = digest.ranks_each,
          .detail = digest.ranks_each != 0 ? digest.bytes : static_cast<uint64_t>(call.purpose)};
}
// "allreduce #12 (1024 float32, sum)"; "broadcast #3 (8 int8, root 1)"; "barrier #4"; "split #5".
std::string describe(const CallRecord& record);
// Whether the calls differ as far as records tell.
bool differ(const CallRecord& a, const CallRecord& b);
// The error of two ranks, by their names, whose calls do not match.
Status mismatch(const std::string& rank, const CallRecord& own, const std::string& peer,
                const CallRecord& theirs);
// The error of a call `own` that a peer will never make: it has left after `last` (null: after
// none).
Status left_before(const std::string& rank, const CallRecord& own, const std::string& peer,
                   const CallRecord* last);

}  // namespace tutti
