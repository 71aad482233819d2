// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels of devices against those of the host, bit for bit.
#include <algorithm>
#include <bit>
#include <cstring>

#include "devices/device_test.hpp"
#include "kernels/reduce_host.hpp"
#include "kernels/values.hpp"

namespace tutti::devices {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kRoom = 64 << 10;  // of each buffer
constexpr size_t kMostOffset = 256;

// Of one type.
class DeviceReduce : public OnDevice,
                     public testing::WithParamInterface<std::tuple<const DeviceApi*, DataType>> {
 protected:
  void SetUp() override {
    set_up(*std::get<0>(GetParam()));
    if (context_ == nullptr) return;
    if (part_type(type_) == DataType::kFloat64 && !context_->facts().fp64) {
      GTEST_SKIP() << context_->name() << " has no float64";
    }
    for (size_t s = 0; s <= kDeviceKernelSources; ++s) {
      buffers_.push_back(std::make_unique<DeviceMemory>(context_, MemoryKind::kDevice, kRoom));
    }
  }

  // Puts every source at its offset; source s is `shift` bytes further than source s - 1.
  void place(const std::vector<Bytes>& sources, size_t offset, size_t shift) {
    sources_.clear();
    for (size_t s = 0; s < sources.size(); ++s) {
      unsigned char* const to = buffers_[s]->data() + offset + s * shift;
      ASSERT_TRUE(engine_->copy(to, sources[s].data(), sources[s].size()).ok());
      sources_.push_back(to);
    }
    finish(*engine_);
  }

  // Any number of them, several to a buffer.
  void place_in_a_row(const std::vector<Bytes>& sources) {
    sources_.clear();
    for (size_t s = 0; s < sources.size(); ++s) {
      unsigned char* const to =
          buffers_[s % kDeviceKernelSources]->data() + s / kDeviceKernelSources * (kRoom / 4);
      ASSERT_TRUE(engine_->copy(to, sources[s].data(), sources[s].size()).ok());
      sources_.push_back(to);
    }
  }
  static std::span<std::byte> as_bytes(unsigned char* data, size_t bytes) {
    return {reinterpret_cast<std::byte*>(data), bytes};
  }

  // What dst holds afterwards, with 16 bytes on both sides of it.
  Bytes reduced(ReduceOp op, size_t count, uint32_t divisor, size_t offset) {
    const size_t bytes = count * type_size(type_);
    Bytes result(bytes + 32, 0xA5);
    unsigned char* const dst = buffers_[kDeviceKernelSources]->data() + 16 + offset;
    EXPECT_TRUE(engine_->copy(dst - 16, result.data(), result.size()).ok());
    const Status status = engine_->reduce({.op = op,
                                           .type = type_,
                                           .dst = dst,
                                           .sources = sources_,
                                           .count = count,
                                           .divisor = divisor});
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(engine_->copy(result.data(), dst - 16, result.size()).ok());
    finish(*engine_);
    return result;
  }

  void expect_bits_of_host(ReduceOp op, const std::vector<Bytes>& sources, size_t count,
                           size_t offset) {
    const size_t bytes = count * type_size(type_);
    const auto divisor = static_cast<uint32_t>(sources.size());
    Bytes expected(bytes + 32, 0xA5);
    std::vector<const void*> pointers;
    for (const Bytes& source : sources) pointers.push_back(source.data());
    reduce_kernel_scalar(op, type_)(expected.data() + 16, pointers.data(), pointers.size(), count,
                                    {.divisor = divisor});
    ASSERT_EQ(reduced(op, count, divisor, offset), expected)
        << op_name(op) << " of " << sources.size() << " x " << count << " " << type_name(type_)
        << " at offset " << offset;
  }

  const DataType type_ = std::get<1>(GetParam());
  std::vector<std::unique_ptr<DeviceMemory>> buffers_;
  std::vector<const void*> sources_;
};

std::vector<Bytes> mixed_sources(DataType type, size_t k, size_t count) {
  std::vector<Bytes> sources;
  for (size_t s = 0; s < k; ++s) sources.push_back(mixed_elements(type, count, 1 + s));
  return sources;
}

TEST_P(DeviceReduce, GivesTheBitsOfTheHostForAnyCountOfAnyNumberOfSources) {
  for (size_t k = 1; k <= kDeviceKernelSources; ++k) {
    for (const size_t count : {1u, 15u, 17u, 1003u}) {
      const std::vector<Bytes> sources = mixed_sources(type_, k, count);
      place(sources, 0, 0);
      for (const ReduceOp op : all_ops()) {
        if (device_kernel_name(op, type_) == nullptr) continue;
        expect_bits_of_host(op, sources, count, 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// More than a kernel takes, so that several pass on what they have; over one of the sources, too.
// Kernels that only this needs take long to compile: of each type every second or third operation.
TEST_P(DeviceReduce, InPartsGivesTheBitsOfTheHost) {
  constexpr size_t kCount = 501;
  constexpr size_t kAtATime = 256;  // aligned as what comes before it
  const auto of_type = static_cast<size_t>(type_);
  const size_t step = device_passes_floats(ReduceOp::kSum, type_) ? 2 : 3;
  for (const size_t k : {size_t{9}, size_t{15}, size_t{24}}) {
    const std::vector<Bytes> sources = mixed_sources(type_, k, kCount);
    const size_t bytes = kCount * type_size(type_);
    for (size_t o = of_type % step; o < all_ops().size(); o += step) {
      const ReduceOp op = all_ops()[o];
      if (device_kernel_name(op, type_) == nullptr) continue;
      place_in_a_row(sources);
      Bytes expected(bytes);
      std::vector<const void*> pointers;
      for (const Bytes& source : sources) pointers.push_back(source.data());
      const auto divisor = static_cast<uint32_t>(op == ReduceOp::kAvg ? k : 0);
      reduce_kernel_scalar(op, type_)(expected.data(), pointers.data(), k, kCount,
                                      {.divisor = divisor});
      void* const dst = const_cast<void*>(sources_[k - 2]);
      // So little that it takes several pieces.
      const size_t between = bytes_between_passes(op, type_, k, kAtATime);
      const Status status =
          engine_->reduce({.op = op,
                           .type = type_,
                           .dst = dst,
                           .sources = sources_,
                           .count = kCount,
                           .divisor = divisor,
                           .between = as_bytes(buffers_[kDeviceKernelSources]->data(), between)});
      ASSERT_TRUE(status.ok()) << status.message();
      Bytes result(bytes);
      ASSERT_TRUE(engine_->copy(result.data(), dst, bytes).ok());
      finish(*engine_);
      ASSERT_EQ(result, expected) << op_name(op) << " of " << k << " x " << type_name(type_);
    }
  }
}

// To compile kernels takes a driver on the CPU long: of each type every third operation, in turn.
TEST_P(DeviceReduce, NeedsNoAlignment) {
  const auto of_type = static_cast<size_t>(type_);
  for (const size_t offset : {size_t{1}, type_size(type_)}) {
    const std::vector<Bytes> sources = mixed_sources(type_, 3, 301);
    place(sources, offset, 3);
    for (size_t o = of_type % 3; o < all_ops().size(); o += 3) {
      const ReduceOp op = all_ops()[o];
      if (device_kernel_name(op, type_) == nullptr) continue;
      expect_bits_of_host(op, sources, 301, offset);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DeviceReduce, MayWriteOverItsSources) {
  for (const size_t which : {size_t{0}, size_t{2}}) {
    constexpr size_t kCount = 1003;
    const std::vector<Bytes> sources = mixed_sources(type_, 3, kCount);
    place(sources, 0, 0);
    Bytes expected(kCount * type_size(type_));
    Bytes result(expected.size());
    const void* const pointers[] = {sources[0].data(), sources[1].data(), sources[2].data()};
    reduce_kernel_scalar(ReduceOp::kSum, type_)(expected.data(), pointers, 3, kCount, {});
    void* const dst = const_cast<void*>(sources_[which]);
    const Reduction reduction{.type = type_, .dst = dst, .sources = sources_, .count = kCount};
    ASSERT_TRUE(engine_->reduce(reduction).ok());
    ASSERT_TRUE(engine_->copy(result.data(), dst, result.size()).ok());
    finish(*engine_);
    EXPECT_EQ(result, expected) << "over source " << which;
  }
}

class DeviceSmallFloats : public DeviceReduce {};

// Every pair of codes.
TEST_P(DeviceSmallFloats, RoundsEveryPairOfEightBitFloatsLikeTheHost) {
  constexpr size_t kCount = kRoom - kMostOffset;
  std::vector<Bytes> sources(2, Bytes(kCount));
  for (size_t i = 0; i < kCount; ++i) {
    sources[0][i] = static_cast<uint8_t>(i & 0xFF);
    sources[1][i] = static_cast<uint8_t>(i >> 8);
  }
  place(sources, 0, 0);
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMin, ReduceOp::kMax}) {
    expect_bits_of_host(op, sources, kCount, 0);
  }
}

class DeviceDivision : public DeviceReduce {};

// Divisions are the one operation that a device need not round correctly.
TEST_P(DeviceDivision, IsThatOfTheHost) {
  constexpr size_t kCount = 8192;
  Bytes values(kCount * 4);
  std::mt19937_64 random(7);
  for (size_t i = 0; i < kCount; ++i) {
    // A third each: any number, denormals and their neighbours, and whole numbers.
    uint32_t code = static_cast<uint32_t>(random());
    if (i % 3 == 1) code = (code & 0x80000000U) | (code & 0x03FFFFFFU);
    if (i % 3 == 2) code = std::bit_cast<uint32_t>(static_cast<float>(code & 0xFFFF));
    std::memcpy(values.data() + 4 * i, &code, 4);
  }
  place({values}, 0, 0);
  for (const uint32_t divisor : {2u, 3u, 5u, 6u, 7u, 8u, 11u, 48u, 100u, 511u, 65537u}) {
    Bytes expected(values.size());
    const void* const pointers[] = {values.data()};
    reduce_kernel_scalar(ReduceOp::kAvg, type_)(expected.data(), pointers, 1, kCount,
                                                {.divisor = divisor});
    Bytes result = reduced(ReduceOp::kAvg, kCount, divisor, 0);
    result = Bytes(result.begin() + 16, result.end() - 16);
    ASSERT_EQ(result, expected) << "by " << divisor;
  }
}

TEST_P(DeviceReduce, ScalesToTheBitsOfTheHost) {
  if (is_complex(type_)) return;  // refused, see below
  for (const size_t offset : {0u, 1u}) {
    constexpr size_t kCount = 1003;
    const size_t bytes = kCount * type_size(type_);
    const Bytes values = mixed_elements(type_, kCount, 3);
    const Bytes scalars = mixed_elements(type_, 20, 4);
    place({values}, offset, 0);
    for (size_t s = 0; s < 20; s += 5) {
      const uint8_t* const scalar = scalars.data() + s * type_size(type_);
      Bytes expected(bytes);
      scale_kernel_scalar(type_)(expected.data(), values.data(), scalar, kCount);
      Bytes result(bytes);
      unsigned char* const dst = buffers_[kDeviceKernelSources]->data() + offset;
      ASSERT_TRUE(engine_->scale(type_, dst, sources_[0], scalar, kCount).ok());
      ASSERT_TRUE(engine_->copy(result.data(), dst, bytes).ok());
      finish(*engine_);
      ASSERT_EQ(result, expected) << "at offset " << offset;
    }
  }
}

TEST_P(DeviceReduce, RefusesWhatNoKernelDoes) {
  place(mixed_sources(type_, 2, 10), 0, 0);
  Reduction reduction{.op = ReduceOp::kUser,
                      .type = type_,
                      .dst = buffers_[kDeviceKernelSources]->data(),
                      .sources = sources_,
                      .count = 10};
  EXPECT_EQ(engine_->reduce(reduction).code(), Code::kUnsupported);
  if (is_complex(type_)) {  // the host multiplies these
    const double scalar[2] = {};
    reduction.op = ReduceOp::kProd;
    EXPECT_EQ(engine_->reduce(reduction).code(), Code::kUnsupported);
    EXPECT_EQ(engine_->prepare(ReduceOp::kProd, type_).code(), Code::kUnsupported);
    EXPECT_EQ(engine_->prepare(ReduceOp::kPremulSum, type_).code(), Code::kUnsupported);
    EXPECT_EQ(engine_->scale(type_, reduction.dst, sources_[0], scalar, 10).code(),
              Code::kUnsupported);
  }
  reduction.op = ReduceOp::kSum;
  const std::vector<const void*> many(kDeviceKernelSources + 1, sources_.front());
  reduction.sources = many;
  EXPECT_EQ(engine_->reduce(reduction).code(), Code::kUnsupported);
}

auto of_types(const std::vector<DataType>& types) {
  return testing::Combine(testing::ValuesIn(device_apis().begin(), device_apis().end()),
                          testing::ValuesIn(types));
}
std::string name_of_test(const testing::TestParamInfo<DeviceReduce::ParamType>& info) {
  return name_of(*std::get<0>(info.param)) + "_" + test_name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceReduce, of_types(all_types()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Types, DeviceSmallFloats,
                         of_types({DataType::kFloat8E4M3, DataType::kFloat8E5M2}), name_of_test);
INSTANTIATE_TEST_SUITE_P(Types, DeviceDivision, of_types({DataType::kFloat32}), name_of_test);

}  // namespace
}  // namespace tutti::devices
