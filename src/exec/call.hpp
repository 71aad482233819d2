// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// One collective call: its arguments after validation, and how it is named to people and to peers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/status.hpp"
#include "core/types.hpp"
#include "sched/schedule.hpp"
#include "transports/transport.hpp"

namespace tutti {

// What a reduction needs besides its kind.
struct ReduceBinding {
  tutti_reduce_fn function = nullptr;  // kUser
  void* context = nullptr;
  std::array<std::byte, 8> scalar{};  // kPremulSum: one element
  DataType scalar_type = DataType::kInt8;
};

struct Call {
  Collective collective = Collective::kBarrier;
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
  int root = -1;  // -1: the collective has none
  uint64_t count = 0;
  const void* send = nullptr;
  void* recv = nullptr;
  std::shared_ptr<const ReduceBinding> binding;  // kUser, kPremulSum
  // Where blocks differ in size (is_uneven); `count` is then as in Problem.
  std::shared_ptr<const Layouts> layouts;
};

// 32 bits in which two calls that do not match differ (but for a chance of 2^-32).
uint32_t signature_of(const Call& call);
// The chain of signatures of a lane's calls: two that are equal have equal calls up to there (but
// for a chance of 2^-32).
uint32_t chained(uint32_t chain, uint32_t signature);

// Of a call in which every rank knows the sizes of all blocks: by which ranks that disagree on them
// can tell for whom. Each byte of `marks` is of so many ranks' blocks, `each`, in rank order.
struct CountMarks {
  uint64_t marks = 0;
  uint8_t each = 0;  // 0: of no such call
};
CountMarks marks_of(const Call& call);

inline CallRecord record_of(const Call& call, uint64_t sequence, CountMarks marks = {}) {
  return {.sequence = sequence,
          .count = call.count,
          .root = call.root,
          .collective = static_cast<uint8_t>(call.collective),
          .type = static_cast<uint8_t>(call.type),
          .op = static_cast<uint8_t>(call.op),
          .marked = marks.each,
          .marks = marks.marks};
}
// "allreduce #12 (1024 float32, sum)"; "broadcast #3 (8 int8, root 1)"; "barrier #4".
std::string describe(const CallRecord& record);
// Whether the calls differ as far as records tell.
bool differ(const CallRecord& a, const CallRecord& b);
// The error of two ranks, by their names, whose calls do not match.
Status mismatch(const std::string& rank, const CallRecord& own, const std::string& peer,
                const CallRecord& theirs);
// Of a peer that made no calls after `last`, if any, while this rank has made `own`.
Status left_before(const std::string& rank, const CallRecord& own, const std::string& peer,
                   const CallRecord* last);

}  // namespace tutti
