// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of every instruction set against the reference, bit for bit.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/reduce_host.hpp"
#include "kernels/values.hpp"

namespace tutti {
namespace {

using Bytes = std::vector<uint8_t>;

// A copy of bytes that starts `offset` past a cache line's start and ends where its allocation
// ends, so that AddressSanitizer sees an access beyond.
class Placed {
 public:
  Placed(const Bytes& bytes, size_t offset)
      : memory_(static_cast<uint8_t*>(::operator new(offset + bytes.size(), kLine))),
        data_(memory_.get() + offset),
        size_(bytes.size()) {
    if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
  }
  uint8_t* data() { return data_; }
  Bytes bytes() const { return Bytes(data_, data_ + size_); }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(uint8_t* memory) const { ::operator delete(memory, kLine); }
  };
  std::unique_ptr<uint8_t, Free> memory_;
  uint8_t* data_;
  size_t size_;
};

enum class Target { kOwn, kFirstSource, kLastSource };

struct Case {
  ReduceOp op;
  DataType type;
  size_t k, count, offset;  // offset of all buffers in bytes, sources shifted further
  Target target;
  ReduceOptions options;
};

std::string describe(std::string_view isa, const Case& c) {
  return std::string(isa) + " " + std::string(op_name(c.op)) + " " +
         std::string(type_name(c.type)) + ", k " + std::to_string(c.k) + ", count " +
         std::to_string(c.count) + ", offset " + std::to_string(c.offset) + ", target " +
         std::to_string(static_cast<int>(c.target)) + ", non-temporal " +
         std::to_string(c.options.non_temporal) + ", divisor " + std::to_string(c.options.divisor);
}

Placed place_source(const Case& c, const Bytes& input, size_t offset) {
  const auto end = input.begin() + static_cast<ptrdiff_t>(c.count * type_size(c.type));
  return Placed(Bytes(input.begin(), end), offset);
}

// The bytes that the kernel writes; `inputs` holds k sources.
Bytes run(ReduceKernel kernel, const Case& c, const std::vector<Bytes>& inputs) {
  std::vector<Placed> sources;
  std::vector<const void*> pointers;
  for (size_t s = 0; s < c.k; ++s) {
    sources.push_back(place_source(c, inputs[s], c.offset * (s + 1)));
    pointers.push_back(sources.back().data());
  }
  Placed own(Bytes(c.count * type_size(c.type), 0xA5), c.offset);
  Placed& dst = c.target == Target::kOwn           ? own
                : c.target == Target::kFirstSource ? sources.front()
                                                   : sources.back();
  kernel(dst.data(), pointers.data(), c.k, c.count, c.options);
  return dst.bytes();
}

// One case, on every instruction set, against the reference.
void expect_same_bits(const Case& c, const std::vector<Bytes>& inputs) {
  const ReduceKernel reference = reduce_kernel_scalar(c.op, c.type);
  Case plain = c;
  plain.target = Target::kOwn;
  const Bytes expected = run(reference, plain, inputs);
  for (const std::string_view isa : kernel_isas()) {
    const ReduceKernel kernel = reduce_kernel_for(isa, c.op, c.type);
    ASSERT_NE(kernel, nullptr) << describe(isa, c);
    ASSERT_EQ(run(kernel, c, inputs), expected) << describe(isa, c);
  }
}

std::vector<Bytes> mixed_sources(DataType type, size_t k, size_t count) {
  std::vector<Bytes> sources;
  for (size_t s = 0; s < k; ++s) sources.push_back(mixed_elements(type, count, 1 + s));
  return sources;
}

class EveryIsa : public testing::TestWithParam<DataType> {};

TEST_P(EveryIsa, ReducesAnyCountOfAnyNumberOfSourcesToTheReferencesBits) {
  const DataType type = GetParam();
  const std::vector<Bytes> inputs = mixed_sources(type, 8, 4099);
  for (const ReduceOp op : all_ops()) {
    if (!op_supports(op, type)) continue;
    for (const size_t k : {1u, 2u, 3u, 4u, 5u, 8u}) {
      for (const size_t count : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 15u, 16u, 17u, 31u, 33u, 63u, 64u, 65u,
                                 127u, 1000u, 4099u}) {
        for (const bool non_temporal : {false, true}) {
          const uint32_t divisor =
              op == ReduceOp::kAvg && !non_temporal ? 0 : static_cast<uint32_t>(k);
          expect_same_bits({op, type, k, count, 0, Target::kOwn, {divisor, non_temporal}}, inputs);
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryIsa, NeedsNoAlignment) {
  const DataType type = GetParam();
  const std::vector<Bytes> inputs = mixed_sources(type, 3, 300);
  for (const ReduceOp op : all_ops()) {
    if (!op_supports(op, type)) continue;
    for (const size_t offset : {size_t{1}, size_t{3}, type_size(type), 5 * type_size(type)}) {
      for (const size_t k : {2u, 3u}) {
        for (const size_t count : {1u, 5u, 16u, 31u, 100u, 300u}) {
          for (const bool non_temporal : {false, true}) {
            expect_same_bits({op, type, k, count, offset, Target::kOwn, {3, non_temporal}}, inputs);
          }
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(EveryIsa, MayWriteOverASource) {
  const DataType type = GetParam();
  const std::vector<Bytes> inputs = mixed_sources(type, 3, 1000);
  for (const ReduceOp op : all_ops()) {
    if (!op_supports(op, type)) continue;
    for (const Target target : {Target::kFirstSource, Target::kLastSource}) {
      for (const size_t k : {1u, 2u, 3u}) {
        for (const size_t count : {1u, 3u, 7u, 15u, 16u, 17u, 33u, 65u, 127u, 129u, 1000u}) {
          for (const bool non_temporal : {false, true}) {
            expect_same_bits({op, type, k, count, 4, target, {2, non_temporal}}, inputs);
            expect_same_bits({op, type, k, count, 1, target, {2, non_temporal}}, inputs);
          }
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(EveryIsa, AveragesByAnyDivisor) {
  const DataType type = GetParam();
  const std::vector<Bytes> inputs = mixed_sources(type, 2, 1000);
  for (const uint32_t divisor : {1u, 2u, 3u, 7u, 64u, 1000u, 0x80000000u, 0xFFFFFFFFu}) {
    expect_same_bits({ReduceOp::kAvg, type, 2, 1000, 0, Target::kOwn, {divisor, false}}, inputs);
  }
}

TEST_P(EveryIsa, ScalesToTheReferencesBits) {
  const DataType type = GetParam();
  const size_t size = type_size(type);
  const Bytes scalars = mixed_elements(type, 20, 99);
  for (const std::string_view isa : kernel_isas()) {
    for (size_t s = 0; s < 20; ++s) {
      for (const size_t count : {0u, 1u, 5u, 16u, 33u, 1000u}) {
        const Bytes input = mixed_elements(type, count, s);
        Bytes expected(input.size());
        scale_kernel_scalar(type)(expected.data(), input.data(), &scalars[s * size], count);
        Placed in_place(input, 1);
        scale_kernel_for(isa, type)(in_place.data(), in_place.data(), &scalars[s * size], count);
        ASSERT_EQ(in_place.bytes(), expected) << isa << " scalar " << s << " count " << count;
      }
    }
  }
}

// What a kernel writes to two places, of which the second may be a source.
void expect_same_bits_twice(const Case& c, size_t copy_offset, const std::vector<Bytes>& inputs) {
  const size_t size = c.count * type_size(c.type);
  const Bytes expected =
      run(reduce_kernel_scalar(c.op, c.type),
          {c.op, c.type, c.k, c.count, 0, Target::kOwn, {c.options.divisor, false}}, inputs);
  for (const std::string_view isa : kernel_isas()) {
    std::vector<Placed> sources;
    std::vector<const void*> pointers;
    for (size_t s = 0; s < c.k; ++s) {
      sources.push_back(place_source(c, inputs[s], c.offset));
      pointers.push_back(sources.back().data());
    }
    Placed dst(Bytes(size, 0xA5), c.offset);
    Placed own_copy(Bytes(size, 0xA5), copy_offset);
    Placed& copy = c.target == Target::kOwn ? own_copy : sources.back();
    ReduceOptions options = c.options;
    options.copy = copy.data();
    reduce_kernel_for(isa, c.op, c.type)(dst.data(), pointers.data(), c.k, c.count, options);
    ASSERT_EQ(dst.bytes(), expected) << describe(isa, c);
    ASSERT_EQ(copy.bytes(), expected) << describe(isa, c) << ", the copy at " << copy_offset;
  }
}

TEST_P(EveryIsa, WritesTheSameToTwoPlaces) {
  const DataType type = GetParam();
  const std::vector<Bytes> inputs = mixed_sources(type, 3, 1000);
  for (const ReduceOp op : all_ops()) {
    if (!op_supports(op, type)) continue;
    for (const size_t k : {1u, 2u, 3u}) {
      for (const size_t count : {1u, 3u, 16u, 17u, 65u, 129u, 1000u}) {
        for (const bool non_temporal : {false, true}) {
          for (const bool copy_non_temporal : {false, true}) {
            const ReduceOptions options{.divisor = 2,
                                        .non_temporal = non_temporal,
                                        .copy = nullptr,
                                        .copy_non_temporal = copy_non_temporal};
            for (const size_t offset : {size_t{0}, size_t{1}, type_size(type)}) {
              expect_same_bits_twice({op, type, k, count, 0, Target::kOwn, options}, offset,
                                     inputs);
              expect_same_bits_twice({op, type, k, count, offset, Target::kOwn, options}, 0,
                                     inputs);
              expect_same_bits_twice({op, type, k, count, offset, Target::kLastSource, options}, 0,
                                     inputs);
            }
          }
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryIsa, testing::ValuesIn(all_types()),
                         [](const auto& info) { return test_name(info.param); });

// All pairs of codes of one byte, for the types where that is everything there is.
TEST(EveryIsaExhaustively, ReducesAllPairsOfBytes) {
  std::vector<Bytes> inputs(2);
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      inputs[0].push_back(static_cast<uint8_t>(a));
      inputs[1].push_back(static_cast<uint8_t>(b));
    }
  }
  for (const DataType type : all_types()) {
    for (const ReduceOp op : all_ops()) {
      if (type_size(type) != 1 || !op_supports(op, type)) continue;
      expect_same_bits({op, type, 2, 65536, 0, Target::kOwn, {2, false}}, inputs);
      if (HasFatalFailure()) return;
    }
  }
}

// Every half against a few others: each conversion into lanes, and many ways to round back.
TEST(EveryIsaExhaustively, ReducesEveryHalf) {
  std::vector<Bytes> inputs(2, Bytes(65536 * 2));
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    for (size_t i = 0; i < 65536; ++i) put_code(i, type, &inputs[0][2 * i]);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      inputs[1] = mixed_elements(type, 65536, seed);
      for (const ReduceOp op : all_ops()) {
        if (!op_supports(op, type)) continue;
        expect_same_bits({op, type, 1, 65536, 0, Target::kOwn, {3, false}}, inputs);
        expect_same_bits({op, type, 2, 65536, 0, Target::kOwn, {3, false}}, inputs);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Kernels, ExistForTheTypesThatAnOperationIsDefinedFor) {
  for (const DataType type : all_types()) {
    for (const ReduceOp op : all_ops()) {
      EXPECT_EQ(reduce_kernel(op, type) != nullptr, op_supports(op, type));
      EXPECT_EQ(reduce_kernel_scalar(op, type) != nullptr, op_supports(op, type));
    }
    EXPECT_EQ(reduce_kernel(ReduceOp::kUser, type), nullptr);
    EXPECT_NE(scale_kernel(type), nullptr);
  }
}

TEST(Kernels, AreThoseOfTheFirstInstructionSet) {
  ASSERT_FALSE(kernel_isas().empty());
  EXPECT_EQ(kernel_isa(), kernel_isas().front());
  EXPECT_EQ(reduce_kernel(ReduceOp::kSum, DataType::kFloat32),
            reduce_kernel_for(kernel_isa(), ReduceOp::kSum, DataType::kFloat32));
  EXPECT_EQ(reduce_kernel_for("PDP11", ReduceOp::kSum, DataType::kFloat32), nullptr);
}

}  // namespace
}  // namespace tutti
