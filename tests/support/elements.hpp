// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests know about element types and reductions, written from tutti.h alone: it shares no
// line with the library, so that both cannot be wrong in the same way.
//
// Buffers are filled from patterns: kPeriod elements that repeat. kPeriod is prime, so data that
// land at a wrong offset do not match, while the reference is computed for one period only.
#pragma once

#include <tutti/tutti.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti_test {

inline constexpr int kTypes = 16;
inline constexpr size_t kPeriod = 1021;

struct Format {
  size_t size;
  bool integer;
  bool is_signed;
  int exponent_bits;  // of floats
  int mantissa_bits;
  bool infinities;   // e4m3 has none
  size_t parts = 1;  // of a complex number two, which the bits above are of

  [[nodiscard]] size_t part_size() const { return size / parts; }
};
const Format& format_of(tutti_type type);

// Floats of any width from and to double, parts of complex numbers among them; encode rounds to
// nearest even.
double decode(tutti_type type, uint64_t bits);
uint64_t encode(tutti_type type, double value);

// The reductions under test: the constants of tutti.h and the two that need a handle.
enum class Op { kSum, kProd, kMin, kMax, kAvg, kBand, kBor, kBxor, kPremul, kUser };
inline constexpr Op kOps[] = {Op::kSum,  Op::kProd, Op::kMin,  Op::kMax,    Op::kAvg,
                              Op::kBand, Op::kBor,  Op::kBxor, Op::kPremul, Op::kUser};
const char* op_name(Op op);
bool op_applies(Op op, tutti_type type);

// A handle for `op` on this rank, freed at the end. The user function composes affine maps: it is
// associative but not commutative, so that a wrong order of ranks shows.
class OpHandle {
 public:
  OpHandle(Op op, tutti_type type, int rank);
  ~OpHandle();
  OpHandle(const OpHandle&) = delete;
  OpHandle& operator=(const OpHandle&) = delete;
  [[nodiscard]] tutti_op get() const { return op_; }

 private:
  tutti_op op_;
  bool created_;
};

using Bytes = std::vector<std::byte>;

// One period of a rank's data. Floats are chosen so that every partial result is exact, hence the
// order of operations cannot show (but for kUser, where it must). `salt` makes different data.
Bytes pattern(tutti_type type, Op op, int rank, int ranks, uint64_t salt);
// One period of floats of any bits after the point: sums of these depend on the order.
Bytes rough_pattern(tutti_type type, int rank, uint64_t salt);
// One period of the reduction of `inputs` in rank order, as tutti.h defines it.
Bytes reduce(tutti_type type, Op op, const std::vector<Bytes>& inputs);

// Writes `count` elements of the repeated pattern, beginning with its element `first`.
void tile(std::byte* to, const Bytes& period, size_t element_bytes, size_t first, size_t count);
// "" if `at` holds these elements; else which is the first that differs, and how.
std::string difference(const std::byte* at, const Bytes& period, size_t element_bytes, size_t first,
                       size_t count);

// Well mixed bits of its arguments (splitmix64).
uint64_t mix(uint64_t a, uint64_t b = 0, uint64_t c = 0);

}  // namespace tutti_test
