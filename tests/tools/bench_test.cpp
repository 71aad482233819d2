// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/bench/collectives.hpp"
#include "tools/bench/pattern.hpp"
#include "tools/bench/session.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/pictures/curves.hpp"
#include "tools/pictures/svg.hpp"

namespace tutti::bench {
namespace {

constexpr size_t kCount = 3000;  // nearly three periods

std::vector<tutti_type> all_types() {
  std::vector<tutti_type> types;
  for (int i = 0; i < kDataTypes; ++i) types.push_back(static_cast<tutti_type>(i));
  return types;
}

struct Elements {
  tutti_type type;
  std::vector<std::byte> bytes;

  Elements(tutti_type element_type, const Pattern& pattern, size_t first = 0)
      : type(element_type), bytes(kCount * tutti_type_size(element_type)) {
    pattern.fill(bytes.data(), first, kCount);
  }
  std::byte* at(size_t i) { return &bytes[i * tutti_type_size(type)]; }
};

TEST(Load, OfABusyMachineIsNotedAndOfAQuietOneIsNot) {
  EXPECT_EQ(note_on_load(0.2), "");
  EXPECT_NE(note_on_load(12.3).find("the load is 12.3"), std::string::npos);
}

TEST(BenchPattern, SmallNumbersSurviveEveryType) {
  for (const tutti_type type : all_types()) {
    for (const double value : {0.0, 1.0, 2.0, 3.0, 4.0, 6.0}) {
      std::byte element[16];
      encode(type, value, element);
      EXPECT_EQ(decode(type, element), value) << tutti_type_name(type);
    }
  }
}

TEST(BenchPattern, HalfTypesHaveTheBitsOfTheirStandards) {
  const struct {
    tutti_type type;
    double value;
    unsigned bits;
  } kKnown[] = {{TUTTI_FLOAT16, 1.0, 0x3c00},     {TUTTI_FLOAT16, -2.5, 0xc100},
                {TUTTI_FLOAT16, 0x1p-24, 0x0001}, {TUTTI_BFLOAT16, 3.0, 0x4040},
                {TUTTI_FLOAT8_E4M3, 448, 0x7e},   {TUTTI_FLOAT8_E4M3, 0x1p-9, 0x01},
                {TUTTI_FLOAT8_E5M2, 1.5, 0x3e},   {TUTTI_FLOAT8_E5M2, -4.0, 0xc4}};
  for (const auto& known : kKnown) {
    std::byte element[2] = {};
    encode(known.type, known.value, element);
    EXPECT_EQ(static_cast<unsigned>(element[0]) + 256 * static_cast<unsigned>(element[1]),
              known.bits)
        << tutti_type_name(known.type) << " " << known.value;
    EXPECT_EQ(decode(known.type, element), known.value);
  }
}

TEST(BenchPattern, ResultIsTheSumOfAllInputs) {
  constexpr int kRanks = 5;
  const Pattern result = Pattern::reduction_result(TUTTI_INT32, ReduceOp::kSum, kRanks);
  std::vector<int32_t> sum(kCount);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<int32_t> input(kCount);
    Pattern::reduction_input(TUTTI_INT32, ReduceOp::kSum, rank, kRanks)
        .fill(input.data(), 17, kCount);
    std::ranges::transform(sum, input, sum.begin(), std::plus());
  }
  EXPECT_FALSE(result.find_mismatch(sum.data(), 17, kCount));
  EXPECT_TRUE(result.find_mismatch(sum.data(), 18, kCount));
}

TEST(BenchPattern, EveryRankMattersForEveryOperation) {
  constexpr int kRanks = 4;
  for (int i = 0; i < kBuiltinReduceOps; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    for (int rank = 0; rank < kRanks; ++rank) {
      const Elements input(TUTTI_INT8, Pattern::reduction_input(TUTTI_INT8, op, rank, kRanks));
      EXPECT_TRUE(Pattern::reduction_result(TUTTI_INT8, op, kRanks)
                      .find_mismatch(input.bytes.data(), 0, kCount))
          << op_name(op) << ": the data of rank " << rank << " alone passes as the result";
      for (int other = 0; other < rank; ++other) {
        EXPECT_TRUE(Pattern::reduction_input(TUTTI_INT8, op, other, kRanks)
                        .find_mismatch(input.bytes.data(), 0, kCount))
            << op_name(op) << ": ranks " << other << " and " << rank << " send the same";
      }
    }
  }
}

TEST(BenchPattern, OneWrongElementIsFoundAndNamed) {
  for (const tutti_type type : all_types()) {
    const Pattern pattern = Pattern::copied(type, 3);
    Elements elements(type, pattern, 5);
    EXPECT_FALSE(pattern.find_mismatch(elements.bytes.data(), 5, kCount));
    *elements.at(2047) ^= std::byte{1};
    const auto found = pattern.find_mismatch(elements.bytes.data(), 5, kCount);
    ASSERT_TRUE(found) << tutti_type_name(type);
    EXPECT_EQ(found->index, 2047U);
    EXPECT_NE(found->got, found->expected);
  }
}

TEST(BenchPattern, UnwrittenBufferIsNeverRight) {
  for (const tutti_type type : all_types()) {
    const Elements untouched(type, Pattern::poison(type));
    for (int i = 0; i < kBuiltinReduceOps; ++i) {
      EXPECT_TRUE(Pattern::reduction_result(type, static_cast<ReduceOp>(i), 3)
                      .find_mismatch(untouched.bytes.data(), 0, kCount));
    }
    EXPECT_TRUE(Pattern::copied(type, 0).find_mismatch(untouched.bytes.data(), 0, kCount));
  }
}

TEST(BenchPattern, AverageMayDifferInTheLastBitOnly) {
  const Pattern pattern = Pattern::reduction_result(TUTTI_FLOAT32, ReduceOp::kAvg, 3);
  Elements elements(TUTTI_FLOAT32, pattern);
  auto* values = reinterpret_cast<float*>(elements.bytes.data());
  values[0] = std::nextafter(values[0], 2.0F);
  EXPECT_FALSE(pattern.find_mismatch(values, 0, kCount));
  values[0] += 1e-5F;
  EXPECT_TRUE(pattern.find_mismatch(values, 0, kCount));
}

TEST(BenchPattern, BothPartsOfAComplexAverageAreLookedAt) {
  const Pattern pattern = Pattern::reduction_result(TUTTI_COMPLEX64, ReduceOp::kAvg, 3);
  Elements elements(TUTTI_COMPLEX64, pattern);
  auto* parts = reinterpret_cast<float*>(elements.bytes.data());
  parts[0] = std::nextafter(parts[0], 2.0F);
  EXPECT_FALSE(pattern.find_mismatch(parts, 0, kCount));
  parts[1] = 1e-9F;
  const auto found = pattern.find_mismatch(parts, 0, kCount);
  ASSERT_TRUE(found);
  EXPECT_NE(found->got.find(" + 1e-09 "), std::string::npos) << found->got;
}

TEST(BenchStatistics, SummarizeOrdersTheSamples) {
  std::vector<double> samples;
  for (int i = 200; i > 0; --i) samples.push_back(i);
  const Statistics s = summarize(samples);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.avg, 100.5);
  EXPECT_EQ(s.median, 100.5);
  EXPECT_EQ(s.p99, 198);
  EXPECT_EQ(s.max, 200);
}

TEST(BenchStatistics, SlowestRankCountsExceptForTheMinimum) {
  const Statistics ranks[] = {{1, 2, 9, 4, 5}, {2, 3, 4, 5, 6}};
  const Statistics all = over_ranks(ranks);
  EXPECT_EQ(all.min, 1);
  EXPECT_EQ(all.avg, 3);
  EXPECT_EQ(all.median, 9);
  EXPECT_EQ(all.p99, 5);
  EXPECT_EQ(all.max, 6);
}

TEST(BenchCollectives, OtherSpellingsAreKnown) {
  EXPECT_EQ(find_collective("bcast"), find_collective("broadcast"));
  EXPECT_EQ(find_collective("reduce-scatter"), find_collective("reduce_scatter"));
  EXPECT_EQ(find_collective("nonsense"), nullptr);
}

TEST(BenchCollectives, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(find_collective("allreduce")->bus_factor(4), 1.5);
  EXPECT_DOUBLE_EQ(find_collective("allgather")->bus_factor(4), 0.75);
  EXPECT_DOUBLE_EQ(find_collective("reduce_scatter")->bus_factor(4), 0.75);
  EXPECT_DOUBLE_EQ(find_collective("broadcast")->bus_factor(4), 1);
}

TEST(BenchPlot, EverySeriesHasACurveAndAName) {
  const std::string svg = draw_curves(
      {"title", "bytes", bytes_text},
      {{"first", {{4, 0.5}, {1024, 3}}}, {"empty", {}}, {"second", {{4, 0.6}, {1024, 3.1}}}});
  const auto occurrences = [&](const std::string& what) {
    int n = 0;
    for (size_t at = 0; (at = svg.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(occurrences("<polyline"), 2);
  EXPECT_EQ(occurrences(">first</text>"), 1);
  EXPECT_EQ(occurrences(">second</text>"), 1);
  EXPECT_EQ(occurrences("empty"), 0);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace tutti::bench
